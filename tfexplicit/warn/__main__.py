"""`python -m tfexplicit.warn SCRIPT ARGS` or `-m MODULE ARGS`: run a program that warns."""

from __future__ import annotations

import argparse
import os

from tfexplicit_codemod.main_program import run_module, run_script

from tfexplicit.warn.mode import MODES, VARIABLE, checked, warn_implicit


def main(command_line: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tfexplicit.warn",
        description="Runs a program as Python does, and names each line that updates weights "
        "through implicit optimizer state.",
    )
    parser.add_argument("--mode", choices=MODES, default="once", help="see tx.warn_implicit")
    parser.add_argument(
        "-m",
        dest="module",
        nargs=argparse.REMAINDER,
        metavar="MODULE",
        help="a module, and its arguments",
    )
    parser.add_argument(
        "script", nargs=argparse.REMAINDER, metavar="SCRIPT", help="a script, and its arguments"
    )
    given = parser.parse_args(command_line)
    program = given.module or given.script
    if not program:
        parser.error("give a script, or -m and a module")
    # Also for the processes that the program starts.
    os.environ[VARIABLE] = checked(given.mode, "--mode")
    warn_implicit(given.mode)
    run = run_module if given.module else run_script
    run(program[0], program[1:])


if __name__ == "__main__":
    main()
