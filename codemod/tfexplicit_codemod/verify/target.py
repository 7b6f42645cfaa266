"""What `verify` runs: a script, a notebook, a module, or tests."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from tfexplicit_codemod.errors import UsageError
from tfexplicit_codemod.notebook.script import as_script

TESTS = "pytest"


@dataclass(frozen=True)
class Target:
    """A script, or a module; then what Python passes on to it."""

    script: Path | None
    module: str | None
    arguments: tuple[str, ...]

    @property
    def place(self) -> Path:
        """A file or folder of the project; a module is looked for from the working directory."""
        return self.script or Path.cwd()

    def command(self, project: Path, working_directory: Path, script: Path | None) -> list[str]:
        """How to start it in a copy of the project; `script` is its path in the project."""
        if self.module is not None:
            return [sys.executable, "-m", self.module, *self.arguments]
        assert script is not None
        assert self.script is not None
        file = _as_python(project / script)
        as_typed = file if self.script.is_absolute() else os.path.relpath(file, working_directory)
        return [sys.executable, str(as_typed), *self.arguments]


def target_of(name: str | None, module: str | None, arguments: list[str]) -> Target:
    """`name` is a script, or `pytest`. `UsageError` if there is no such thing."""
    if module is not None:
        # What stands before `--` is an argument too, where no script is.
        return Target(None, module, (*filter(None, [name]), *arguments))
    if name is None:
        raise UsageError("verify needs a SCRIPT, -m MODULE, or -- pytest ARGS")
    script = Path(name)
    if script.is_file():
        return Target(script, None, tuple(arguments))
    if name == TESTS:
        return Target(None, TESTS, tuple(arguments))
    raise UsageError(f"{script}: there is no such script")


def _as_python(script: Path) -> Path:
    """A notebook runs from top to bottom, without its magics, from a file of its own in the copy:
    AutoGraph reads the source of a function from disk."""
    if script.suffix != ".ipynb":
        return script
    program = script.with_name(f"{script.name}.py")
    program.write_text(as_script(script.read_bytes()), "utf-8")
    return program
