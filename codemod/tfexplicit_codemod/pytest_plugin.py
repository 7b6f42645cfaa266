"""The pytest plugin: `--tfexplicit-warn=error`, and a file of lines that are still allowed.

It imports TensorFlow only where it is asked for.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tfexplicit_codemod.ratchet import Ratchet

_FROM_WORKER = "tfexplicit_lines"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tfexplicit", "implicit updates of weights")
    group.addoption(
        "--tfexplicit-warn",
        choices=("once", "all", "error", "off"),
        help="warn of each line that updates weights implicitly, or fail there: error",
    )
    group.addoption(
        "--tfexplicit-allow",
        metavar="FILE",
        type=Path,
        help="lines that may still do so under --tfexplicit-warn=error; made by the first run, "
        "then a line is only taken out, when it is gone from the source",
    )


def pytest_configure(config: pytest.Config) -> None:
    mode, allowed = config.option.tfexplicit_warn, config.option.tfexplicit_allow
    if allowed is not None and mode != "error":
        raise pytest.UsageError("--tfexplicit-allow needs --tfexplicit-warn=error")
    if mode is not None:
        ratchet = None if allowed is None else Ratchet(config.invocation_params.dir / allowed)
        config.pluginmanager.register(_Watch(mode, ratchet), "tfexplicit-watch")


class _Watch:
    def __init__(self, mode: str, ratchet: Ratchet | None) -> None:
        self._mode = mode
        self._ratchet = ratchet
        self._restoring = ExitStack()

    def pytest_sessionstart(self) -> None:
        from tfexplicit.warn.mode import warn_implicit
        from tfexplicit.warn.settings import settings

        self._restoring.enter_context(warn_implicit(self._mode))  # type: ignore[arg-type]
        if self._ratchet is not None:
            settings.is_allowed = self._ratchet.allows

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self._restoring.close()
        if self._ratchet is None:
            return
        worker_output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
        if worker_output is None:
            self._ratchet.write()
        else:
            worker_output[_FROM_WORKER] = sorted(self._ratchet.seen)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Of pytest-xdist: what a worker has seen."""
        if self._ratchet is not None:
            self._ratchet.seen.update(getattr(node, "workeroutput", {}).get(_FROM_WORKER, ()))
