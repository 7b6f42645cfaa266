"""Where this package and the runtime are imported from: the program needs both."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from tfexplicit_codemod.errors import CannotVerify


def own_folders() -> list[str]:
    folders = []
    for name in ("tfexplicit", "tfexplicit_codemod"):
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise CannotVerify(f"{name} cannot be imported, so the migrated program cannot run")
        folders.append(str(Path(spec.origin).parents[1]))
    return folders
