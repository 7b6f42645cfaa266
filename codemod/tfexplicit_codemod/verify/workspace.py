"""The temporary folder in which both programs run, one after the other."""

from __future__ import annotations

import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from tfexplicit_codemod.outcome import FileResult
from tfexplicit_codemod.verify import process
from tfexplicit_codemod.verify.changes import changed_since, migrated
from tfexplicit_codemod.verify.options import Options
from tfexplicit_codemod.verify.own_folders import own_folders
from tfexplicit_codemod.verify.process import Program
from tfexplicit_codemod.verify.project import Project
from tfexplicit_codemod.verify.records import Trajectory
from tfexplicit_codemod.verify.request import Request

BEFORE, AGAIN, AFTER = "before", "before, again", "after"


@dataclass(frozen=True)
class Workspace:
    """A copy of the project for each program, in a folder of its name.

    All of them run in a folder of one name: the order of a set of paths depends on the paths.
    """

    folder: Path
    project: Project
    options: Options

    def prepare(self, name: str) -> None:
        copy = self.folder / name
        if name != AFTER and self.options.baseline:
            self.project.copy_revision_to(copy, self.options.baseline)
        else:
            self.project.copy_to(copy)

    def changes(self) -> list[FileResult]:
        """Prepares both programs; the files that differ between them."""
        for name in (BEFORE, AFTER):
            self.prepare(name)
        before, after = self.folder / BEFORE, self.folder / AFTER
        if self.options.baseline:
            return changed_since(before, after, self.project, self.options.baseline)
        return migrated(after, self.project.script)

    def run(self, name: str) -> Trajectory:
        stored, copy = self.folder / name, self.folder / "project"
        temporary, records = self.folder / "temporary", self.folder / f"{name}.records"
        stored.rename(copy)
        for folder in (temporary, records):
            folder.mkdir()
        request = Request(
            records=str(records),
            copy=str(copy),
            original=str(self.project.root),
            own_folders=own_folders(),
            temporary=str(temporary),
            steps=self.options.steps,
        )
        try:
            return process.run(self._program(name, copy), request, self.options.timeout)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
            copy.rename(stored)

    def _program(self, name: str, copy: Path) -> Program:
        """Script and working directory are placed in the copy as they are placed now."""
        here, root, script = Path.cwd(), self.project.root, self.project.script
        if here.is_relative_to(root):
            working_directory = copy / here.relative_to(root)
        else:
            assert script is not None  # a module is looked for from here, so this is the project
            working_directory = copy / script.parent
        working_directory.mkdir(parents=True, exist_ok=True)
        command = self.options.target.command(copy, working_directory, script)
        return Program(name, command, working_directory)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Gone afterwards, also after Ctrl-C, SIGTERM and SIGHUP."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    # Not where it is ignored: under nohup, verify outlives the terminal.
    previous = {
        number: signal.signal(number, stop)
        for number in (signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) != signal.SIG_IGN
    }
    try:
        with tempfile.TemporaryDirectory(prefix="tfexplicit-verify-") as folder:
            yield Path(folder).resolve()
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
