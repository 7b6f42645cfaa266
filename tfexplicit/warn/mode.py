"""`warn_implicit`: how much is said of the implicit style, and of whose."""

from __future__ import annotations

import contextlib
import os
import warnings
from typing import Literal, get_args

from tfexplicit.warn import keras_patch
from tfexplicit.warn.categories import ImplicitUpdateWarning
from tfexplicit.warn.run_log import log_from_environment
from tfexplicit.warn.settings import settings

Mode = Literal["once", "all", "error", "off"]
MODES: tuple[str, ...] = get_args(Mode)
VARIABLE = "TFEXPLICIT_WARN"

_SHOWN = ("always", None, ImplicitUpdateWarning, None, 0)


def warn_implicit(mode: Mode = "once") -> contextlib.ExitStack:
    """Have Keras optimizers warn too, where a line of the program steps them implicitly.

    Call it before training, or use it as a context manager, which restores the mode before it:
    `with tx.warn_implicit("error"): ...`. It covers optimizers of Keras 3, `tf_keras` and its
    `legacy`, subclasses included. A function that is traced already warns no more.

    Args:
        mode: `"once"` for each line; `"all"`, at each call, or each trace of a `tf.function`;
            `"error"` raises the warning at the line; `"off"` says nothing, of rules neither.

    Raises:
        ValueError: another mode.
    """
    before = settings.mode
    _choose(checked(mode, "warn_implicit"))
    restoring = contextlib.ExitStack()
    restoring.callback(_choose, before)
    return restoring


def choose_from_environment() -> None:
    """What `TFEXPLICIT_WARN` asks for, or a log: that needs warnings too.

    Raises:
        ValueError: it is set to something else than a mode, or the log to a file that is none.
    """
    wants_log = log_from_environment()
    mode = os.environ.get(VARIABLE) or ("once" if wants_log else None)
    if mode:
        _choose(checked(mode, VARIABLE))


def checked(mode: str, where: str) -> str:
    if mode not in MODES:
        raise ValueError(f"{where}: the mode must be one of {', '.join(MODES)}, got {mode!r}.")
    return mode


def _choose(mode: str | None) -> None:
    settings.mode = mode
    # Python hides deprecation warnings outside `__main__`; who asks for them gets all of them.
    while _SHOWN in warnings.filters:
        warnings.filters.remove(_SHOWN)  # type: ignore[attr-defined]
    if mode in ("once", "all"):
        warnings.simplefilter("always", ImplicitUpdateWarning)
    if mode in (None, "off"):
        keras_patch.remove()
    else:
        keras_patch.install()
