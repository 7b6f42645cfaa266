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


def target_of(script: str | None, module: str | None, passed_on: list[str]) -> Target:
    """The tests, where nothing is named and `pytest` comes first in what is passed on."""
    if script and module:
        raise UsageError(f"{script}: -m {module} is what runs. Write the arguments after --")
    if module:
        return Target(None, module, tuple(passed_on))
    if script:
        if not Path(script).is_file():
            raise UsageError(f"{script}: there is no such script")
        return Target(Path(script), None, tuple(passed_on))
    if passed_on[:1] == [TESTS]:
        return Target(None, TESTS, tuple(passed_on[1:]))
    raise UsageError("verify needs a SCRIPT, -m MODULE, or -- pytest ARGS")


def _as_python(script: Path) -> Path:
    """A notebook runs from top to bottom, without its magics, from a file of its own in the copy:
    AutoGraph reads the source of a function from disk."""
    if script.suffix != ".ipynb":
        return script
    program = script.with_name(f"{script.name}.py")
    program.write_text(as_script(script.read_bytes()), "utf-8")
    return program
