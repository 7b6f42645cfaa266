"""Runs one program as `python SCRIPT ARGS` would, recording its updates.

Started by `process` as `child.main(request)`; TensorFlow is imported by the program, not here.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tfexplicit_codemod.main_program import run_as_main
from tfexplicit_codemod.notebook.script import as_script
from tfexplicit_codemod.verify.hooks import hooks_for
from tfexplicit_codemod.verify.imports import AfterImport
from tfexplicit_codemod.verify.recorder import Recorder
from tfexplicit_codemod.verify.request import Request
from tfexplicit_codemod.verify.seeds import seed_python_and_numpy

OURS = ("tfexplicit", "tfexplicit_codemod")


def main(request_json: str) -> None:
    request = Request.from_json(request_json)
    recorder = Recorder(Path(request.record))
    AfterImport(hooks_for(recorder)).install()
    # Before the program can change the working directory.
    script = Path.cwd() / request.script
    _set_up_interpreter(request)
    seed_python_and_numpy()
    try:
        run_as_main(_python_file(script))
    finally:
        recorder.end(_loaded_from_copy(script, request), _loaded_from_original(request))


def _python_file(script: Path) -> Path:
    """A notebook runs from top to bottom, without its magics, from a file of its own in the copy:
    AutoGraph reads the source of a function from disk."""
    if script.suffix != ".ipynb":
        return script
    program = script.with_name(f"{script.name}.py")
    program.write_text(as_script(script.read_bytes()), "utf-8")
    return program


def _set_up_interpreter(request: Request) -> None:
    sys.argv[:] = [request.script, *request.arguments]
    # A project that is installed in editable mode is on the path: its copy takes its place.
    path = [_in_copy(entry, request) for entry in sys.path]
    sys.path[:] = [str(Path(request.script).resolve().parent), *path]


def _in_copy(entry: str, request: Request) -> str:
    folder = Path(entry).resolve()
    if entry in request.own_folders or not _is_project_source(folder, request):
        return entry
    copied = Path(request.copy) / folder.relative_to(request.original)
    return str(copied) if copied.exists() else entry


def _is_project_source(path: Path, request: Request) -> bool:
    """False for what lives inside the project's folder but is not of it: a Python, the copy."""
    if path.is_relative_to(request.copy):
        return False
    if not path.is_relative_to(request.original) or "site-packages" in path.parts:
        return False
    pythons = (Path(prefix).resolve() for prefix in (sys.prefix, sys.base_prefix))
    return not any(path.is_relative_to(python) for python in pythons)


def _loaded_from_copy(script: Path, request: Request) -> list[str]:
    files = {script.resolve(), *_module_files().values()}
    copied = (file for file in files if file.is_relative_to(request.copy))
    return sorted(file.relative_to(request.copy).as_posix() for file in copied)


def _loaded_from_original(request: Request) -> list[str]:
    return sorted(
        str(file)
        for name, file in _module_files().items()
        if name.partition(".")[0] not in OURS and _is_project_source(file, request)
    )


def _module_files() -> dict[str, Path]:
    files = {name: getattr(module, "__file__", None) for name, module in list(sys.modules.items())}
    return {name: Path(file).resolve() for name, file in files.items() if isinstance(file, str)}
