"""Runs a program in this process as `python SCRIPT ARGS` or `python -m MODULE ARGS` would."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType


def run_script(script: str, arguments: Sequence[str]) -> None:
    file = Path.cwd() / script
    sys.argv[:] = [script, *arguments]
    # In place of the folder that `python -m` has put there.
    sys.path[0] = str(file.resolve().parent)
    run_as_main(file)


def run_module(module: str, arguments: Sequence[str]) -> None:
    sys.argv[:] = [module, *arguments]
    sys.path[0] = str(Path.cwd())
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def run_as_main(script: Path) -> None:
    """As Python does, not as `runpy`: `__file__` is absolute, and the module stays `__main__`.

    So the program finds its files after a change of the working directory, and threads and exit
    handlers that outlive the script find its names.
    """
    file = str(script)
    loader = SourceFileLoader("__main__", file)
    module = ModuleType("__main__")
    module.__file__, module.__loader__ = file, loader
    sys.modules["__main__"] = module
    exec(loader.source_to_code(loader.get_data(file), file), vars(module))
