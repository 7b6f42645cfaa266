"""Makes one process of the program record its updates; the program runs as it always does.

`bootstrap/sitecustomize.py` calls `join` before the program's first line. TensorFlow and NumPy are
imported by the program, not here: it may be a process that needs neither.
"""

from __future__ import annotations

import atexit
import sys
from pathlib import Path

from tfexplicit_codemod.verify.hooks import hooks_for
from tfexplicit_codemod.verify.imports import AfterImport
from tfexplicit_codemod.verify.outside import Outside
from tfexplicit_codemod.verify.recorder import Recorder
from tfexplicit_codemod.verify.request import Request
from tfexplicit_codemod.verify.seeds import seed_python

OURS = ("tfexplicit", "tfexplicit_codemod", "sitecustomize")


def join(request_json: str) -> None:
    request = Request.from_json(request_json)
    # A project that is installed in editable mode is on the path: its copy takes its place.
    sys.path[:] = [_in_copy(entry, request) for entry in sys.path]
    seed_python()
    recorder = Recorder(
        Path(request.records),
        loaded=lambda: (_loaded_from_copy(request), _loaded_from_original(request)),
        steps=request.steps,
    )
    # The first to be registered runs last, when the program's own exit handlers are done.
    atexit.register(recorder.end)
    Outside(request, recorder.note).install()
    AfterImport(hooks_for(recorder)).install()


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


def _loaded_from_copy(request: Request) -> list[str]:
    copied = (file for file in _module_files().values() if file.is_relative_to(request.copy))
    return sorted({file.relative_to(request.copy).as_posix() for file in copied})


def _loaded_from_original(request: Request) -> list[str]:
    return sorted(
        str(file)
        for name, file in _module_files().items()
        if name.partition(".")[0] not in OURS and _is_project_source(file, request)
    )


def _module_files() -> dict[str, Path]:
    files = {name: getattr(module, "__file__", None) for name, module in list(sys.modules.items())}
    return {name: Path(file).resolve() for name, file in files.items() if isinstance(file, str)}
