"""Calls a function right after a package was imported.

The program under test sets environment variables before it imports TensorFlow (which Keras to use,
how many threads), so nothing may import TensorFlow before the program does.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

Hook = Callable[[ModuleType], None]


class AfterImport(MetaPathFinder):
    """Finds the packages as the other finders do, and runs their hook after their code has run."""

    def __init__(self, hooks: Mapping[str, Hook]) -> None:
        self._hooks = hooks
        self._searching: set[str] = set()

    def install(self) -> None:
        sys.meta_path.insert(0, self)

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        if fullname not in self._hooks or fullname in self._searching:
            return None
        self._searching.add(fullname)
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._searching.remove(fullname)
        # A spec may also be asked for without loading it, so the loader runs the hook.
        if spec is not None and spec.loader is not None:
            _run_after_loading(spec.loader, self._hooks[fullname])
        return spec


def _run_after_loading(loader: Loader, hook: Hook) -> None:
    execute = loader.exec_module

    def execute_and_hook(module: ModuleType) -> None:
        execute(module)
        hook(module)

    loader.exec_module = execute_and_hook  # type: ignore[method-assign]
