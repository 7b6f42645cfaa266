"""The file of one process, in the format of `records`."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any


class RecordFile:
    """Made by the first line that is written. A process that was forked writes its own file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._pid = 0
        self._file = -1
        self._groups: list[bytes] = []

    def write(self, **entry: Any) -> None:
        line = json.dumps(entry).encode() + b"\n"
        if self._pid != os.getpid():
            self._open()
        if entry["kind"] == "group":
            self._groups.append(line)
        # A file descriptor: every line reaches the file at once, even if the process dies next.
        os.write(self._file, line)

    def _open(self) -> None:
        pid = os.getpid()
        self._file = os.open(
            self._folder / f"{pid}.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600
        )
        entry = {"kind": "process", "name": _process_name(), "started": time.time()}
        # The process that this one was forked from may have traced functions of these groups.
        os.write(self._file, json.dumps(entry).encode() + b"\n" + b"".join(self._groups))
        # Last: from here on another thread writes without opening it.
        self._pid = pid


def _process_name() -> str:
    """The name that `multiprocessing` gave it, which is the same in every run, or its command."""
    multiprocessing = sys.modules.get("multiprocessing")
    if multiprocessing is not None:
        name: str = multiprocessing.current_process().name
        if name != "MainProcess":
            return name
    command = getattr(sys, "argv", [""])
    return " ".join([Path(command[0]).name, *command[1:]])
