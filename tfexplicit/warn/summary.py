"""One line at exit about the warnings that Python did not show."""

from __future__ import annotations

import atexit
import re
import shlex
import sys
import warnings
from pathlib import Path

from tfexplicit.warn.call_site import CallSite
from tfexplicit.warn.categories import ImplicitUpdateWarning
from tfexplicit.warn.settings import settings

_FILES_NAMED = 3


def note_if_hidden(text: str, site: CallSite) -> None:
    """Not what a filter for this very category hides: that was meant."""
    if not _is_hidden(text, site):
        return
    if not settings.hidden:
        atexit.register(_print_summary, _program())
    settings.hidden.add(site)


def _is_hidden(text: str, site: CallSite) -> bool:
    for action, message, category, module, line in warnings.filters:
        if (
            issubclass(ImplicitUpdateWarning, category)
            and (message is None or message.match(text))
            and _is_for(module, site.filtered_as)
            and line in (0, site.line)
        ):
            return action == "ignore" and category is not ImplicitUpdateWarning
    return False


def _is_for(module: re.Pattern[str] | str | None, name: str) -> bool:
    # Python's own filters have a text there.
    if module is None or isinstance(module, str):
        return module in (None, name)
    return module.match(name) is not None


def _program() -> str:
    # Not at exit: Python has forgotten it by then.
    script = getattr(sys.modules.get("__main__"), "__file__", None)
    return shlex.quote(Path(script).name) if script else "SCRIPT"


def _print_summary(program: str) -> None:
    print(_summary_of(settings.hidden, program), file=sys.stderr)


def _summary_of(hidden: set[CallSite], program: str) -> str:
    files = sorted({site.file for site in hidden})
    named = " ".join(shlex.quote(file) for file in files[:_FILES_NAMED])
    more = " ..." if len(files) > _FILES_NAMED else ""
    return (
        f"tfexplicit: {_plural(len(hidden), 'line')} in {_plural(len(files), 'file')} "
        f"{'updates' if len(hidden) == 1 else 'update'} weights implicitly, and Python hid the "
        f"warning. To see each: python -m tfexplicit.warn {program}. To rewrite: tfexplicit "
        f"migrate {named}{more}"
    )


def _plural(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
