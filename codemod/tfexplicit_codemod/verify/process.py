"""Runs one program in a fresh process and makes sure that nothing of it is left behind."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tfexplicit_codemod.errors import CannotVerify
from tfexplicit_codemod.verify.records import Trajectory, read_trajectory
from tfexplicit_codemod.verify.request import Request

LINES_OF_STDERR = 20

# `-c` puts the working directory first on the path; the program decides what comes first there.
BOOTSTRAP = """\
import json, sys
sys.path[:] = [entry for entry in sys.path if entry]
sys.path += [each for each in json.loads(sys.argv[1])["own_folders"] if each not in sys.path]
from tfexplicit_codemod.verify.child import main
main(sys.argv[1])
"""

SAME_FOR_BOTH = {
    "PYTHONHASHSEED": "0",
    "CUDA_VISIBLE_DEVICES": "-1",
    "TF_CPP_MIN_LOG_LEVEL": "2",
    "MPLBACKEND": "Agg",  # a plot must not wait for someone to close its window
}


@dataclass(frozen=True)
class Program:
    """One of the two programs: where its copy of the project is, and how to start it."""

    name: str  # "before", "after" or "before, again"
    copy: Path  # while it runs
    original: Path
    script: str
    arguments: tuple[str, ...]
    working_directory: Path


def run(program: Program, workspace: Path) -> Trajectory:
    """Runs the program to its end. `CannotVerify` if it crashes or never updates."""
    record = workspace / f"{program.name}.jsonl"
    record.touch()
    request = Request(
        str(record),
        program.script,
        list(program.arguments),
        str(program.copy),
        str(program.original),
        own_folders(),
    )
    errors = workspace / f"{program.name}.stderr"
    exit_code = _run_to_its_end(request, program.working_directory, errors)
    trajectory = read_trajectory(record)
    if exit_code or not trajectory.ended:
        raise CannotVerify(_crash(program, exit_code, len(trajectory.updates), errors))
    if trajectory.outside:
        raise CannotVerify(
            f"the program {program.name} imported {trajectory.outside[0]}, which is the original "
            "and not the copy that was run, so nothing is proven. Is the project installed in "
            "editable mode? Uninstall it for this run and set PYTHONPATH instead."
        )
    if not trajectory.updates:
        raise CannotVerify(
            f"the program {program.name} ended without one update of a Keras optimizer or of "
            "tfexplicit, so there is nothing to compare. Give it arguments with which it trains."
        )
    return trajectory


def own_folders() -> list[str]:
    """The folders from which `tfexplicit` and this package are imported."""
    folders = []
    for name in ("tfexplicit", "tfexplicit_codemod"):
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise CannotVerify(f"{name} cannot be imported, so the migrated program cannot run")
        folders.append(str(Path(spec.origin).parents[1]))
    return folders


def _run_to_its_end(request: Request, working_directory: Path, errors: Path) -> int:
    command = [sys.executable, "-c", BOOTSTRAP, request.to_json()]
    with errors.open("wb") as stderr:
        process = subprocess.Popen(
            command,
            cwd=working_directory,
            env=os.environ | SAME_FOR_BOTH,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            start_new_session=True,
        )
        try:
            return process.wait()
        finally:
            _kill_group(process)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Ends the program, if it still runs, and every process that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _crash(program: Program, exit_code: int, updates: int, errors: Path) -> str:
    how = f"exit code {exit_code}" if exit_code > 0 else f"signal {-exit_code}"
    if not exit_code:
        how = "it left without running Python's exit, as os._exit does"
    lines = errors.read_text("utf-8", "replace").splitlines()[-LINES_OF_STDERR:]
    hint = (
        "It ran in a copy of the project, which has no files that git ignores."
        if program.name != "after"
        else "The program before ran to its end, so the rewrite broke it: please report this."
    )
    return "\n".join(
        [f"the program {program.name} crashed ({how}) after {updates} updates. {hint}", *lines]
    )
