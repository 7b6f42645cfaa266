"""`TFEXPLICIT_WARN_LOG=sites.json`: each line that updated weights implicitly, for `--from-log`."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tfexplicit_codemod.outcome import Site
from tfexplicit_codemod.run_log import RunLog

from tfexplicit.warn.call_site import CallSite
from tfexplicit.warn.settings import settings
from tfexplicit.warn.wording import place_of_call

VARIABLE = "TFEXPLICIT_WARN_LOG"


def log_from_environment() -> bool:
    """True where a log is asked for; it is written from then on.

    Raises:
        ValueError: there is a file of that name, and it is no log.
    """
    name = os.environ.get(VARIABLE)
    if name:
        settings.log = Path(name).absolute()
        RunLog.read(settings.log)
    return bool(name)


def note_in_log(site: CallSite, code: str, call: str, optimizer: Any) -> None:
    """Written at once: a worker process may end without a word.

    A line of a notebook's cell is in no file, and is not noted.
    """
    file = Path(site.file)
    if settings.log is None or not file.is_file():
        return
    line, column, text = place_of_call(site.file, site.line, call)
    kind = type(optimizer)
    with _alone(settings.log.parent):
        log = RunLog.read(settings.log)
        log.add(
            file.absolute(),
            Site(line, column, code, text),
            f"{kind.__module__}.{kind.__qualname__}",
        )
        log.write()


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """While no other process of the program is in here; Windows has no such lock on a folder."""
    if os.name != "posix":
        yield
        return
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
