"""Ends a program with every process that it started, also those that left its process group."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

PROCESSES = Path("/proc")  # on Linux; elsewhere only the process group is ended


def end_all(process: subprocess.Popen[bytes], mark: str) -> None:
    """`mark` is in the environment of the program, and so of whatever it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    # Until none is left: one may have started another in the meantime.
    while left := list(_marked(mark.encode())):
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _marked(mark: bytes) -> Iterator[int]:
    for folder in PROCESSES.glob("[0-9]*"):
        # Those of other users, and those that have ended since (whose environment is empty).
        with contextlib.suppress(OSError):
            if mark in (folder / "environ").read_bytes():
                yield int(folder.name)
