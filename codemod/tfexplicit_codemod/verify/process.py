"""Runs one program in a fresh process and makes sure that nothing of it is left behind."""

from __future__ import annotations

import contextlib
import math
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from tfexplicit_codemod.errors import CannotVerify
from tfexplicit_codemod.verify.environment import environment_for
from tfexplicit_codemod.verify.leftovers import end_all
from tfexplicit_codemod.verify.limit import REACHED
from tfexplicit_codemod.verify.records import Trajectory, read_trajectory
from tfexplicit_codemod.verify.request import Request

LINES_OF_STDERR = 20
POLL_SECONDS = 0.5
SECONDS_TO_END = 15  # for exit handlers, and threads and processes that are waited for


@dataclass(frozen=True)
class Program:
    """One of the two programs, and how to start it."""

    name: str  # "before", "after" or "before, again"
    command: list[str]
    working_directory: Path


def run(program: Program, request: Request, timeout: float | None) -> Trajectory:
    """Runs it to its end. `CannotVerify` if it crashes, takes too long or never updates."""
    records = Path(request.records)
    errors = records / "stderr"
    started = time.monotonic()
    with errors.open("wb") as stderr:
        process = subprocess.Popen(
            program.command,
            cwd=program.working_directory,
            env=environment_for(request),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            start_new_session=True,
        )
        try:
            exit_code = _exit_code(process, records / REACHED, timeout)
        finally:
            end_all(process, mark=request.records)
    trajectory = read_trajectory(records, process.pid)
    trajectory.seconds = time.monotonic() - started
    if exit_code is None:
        raise CannotVerify(
            f"the program {program.name} did not end within {timeout:g} s (--timeout), after "
            f"{len(trajectory.updates)} updates. --steps N ends it after N updates."
        )
    _check(program, exit_code, trajectory, errors)
    return trajectory


def _exit_code(
    process: subprocess.Popen[bytes], reached: Path, timeout: float | None
) -> int | None:
    """None if it takes too long; 0 if it still waits for something after its last update."""
    deadline = time.monotonic() + (math.inf if timeout is None else timeout)
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(min(POLL_SECONDS, max(0.0, deadline - time.monotonic())))
        if reached.exists() and time.time() - reached.stat().st_mtime > SECONDS_TO_END:
            return 0
        if time.monotonic() >= deadline:
            return None


def _check(program: Program, exit_code: int, trajectory: Trajectory, errors: Path) -> None:
    if not trajectory.cut_short and (exit_code or not trajectory.ended):
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


def _crash(program: Program, exit_code: int, updates: int, errors: Path) -> str:
    how = f"exit code {exit_code}" if exit_code > 0 else f"signal {-exit_code}"
    if not exit_code:
        how = "it left without running Python's exit, as os._exit does"
    lines = errors.read_text("utf-8", "replace").splitlines()[-LINES_OF_STDERR:]
    hint = (
        "It ran in a copy of the project, which has no files that git ignores."
        if program.name != "after"
        else "The program before ran to its end, so the rewrite broke it."
    )
    return "\n".join(
        [f"the program {program.name} crashed ({how}) after {updates} updates. {hint}", *lines]
    )
