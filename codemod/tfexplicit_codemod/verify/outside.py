"""Notes the files that the program opens for writing outside of its copy: the user's own files.

What TensorFlow's C++ writes (a checkpoint under an absolute path) is out of sight.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from tfexplicit_codemod.verify.request import Request

WRITING = os.O_WRONLY | os.O_RDWR
MOST_NOTED = 5
SYSTEM = ("/dev/", "/proc/", "/sys/")


class Outside:
    """Notes each path once, and only the first few."""

    def __init__(self, request: Request, note: Callable[[str], None]) -> None:
        self._note = note
        ours = (request.copy, request.temporary, request.records)
        self._inside = (*(f"{os.path.realpath(folder)}/" for folder in ours), *SYSTEM)
        self._noted: set[str] = set()

    def install(self) -> None:
        sys.addaudithook(self.audit)

    def audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event != "open":
            return
        path, _, flags = arguments
        if not flags & WRITING or not isinstance(path, str | bytes):
            return
        name = os.path.realpath(os.fsdecode(path))
        known = name in self._noted or len(self._noted) == MOST_NOTED
        # With the slash: a nameless temporary file is opened as its folder.
        if known or f"{name}/".startswith(self._inside):
            return
        self._noted.add(name)
        self._note(f"the program writes outside of its copy: {name}")
