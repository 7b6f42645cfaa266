"""Every warning goes through here: once per line, at its true place, with what to write."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tfexplicit_codemod.registry import rule_for

from tfexplicit.unconverted import unconverted
from tfexplicit.warn import summary
from tfexplicit.warn.call_site import CallSite, is_called_in_fit, quick_site, true_site
from tfexplicit.warn.categories import (
    Category,
    ImplicitUpdateWarning,
    StateMisuseWarning,
    category_saying,
)
from tfexplicit.warn.notebook import cell_of
from tfexplicit.warn.run_log import note_in_log
from tfexplicit.warn.settings import settings
from tfexplicit.warn.wording import words_at

Words = Mapping[str, str]


@unconverted
def warn_of_old_path(call: str, optimizer: Any, code: str | None = None) -> bool:
    """At the line that called the method `call` of an optimizer; True the first time.

    `code` is found from that line, if it is not given.
    """
    return _say(call, code, ImplicitUpdateWarning, {}, optimizer)


@unconverted
def warn_of_mistake(code: str, call: str, **words: str) -> None:
    """At the line of the program that called us."""
    _say(call, code, StateMisuseWarning, words)


def _say(
    call: str, code: str | None, category: Category, known: Words, optimizer: Any = None
) -> bool:
    if settings.mode == "off":
        return False
    quick = quick_site()
    subject = code or call
    if (subject, quick) in settings.said and settings.mode != "all":
        return False
    site = true_site(quick)
    if (subject, site) not in settings.said or settings.mode == "all":
        words = {**words_at(site.file, site.line, call), **known}
        found = code or _code_for(call, words)
        if category is ImplicitUpdateWarning and (subject, site) not in settings.said:
            note_in_log(site, found, call, optimizer)
        _warn(found, category, site, words)
    # Not before: what is raised as an error has to come again.
    settings.said.update(((subject, quick), (subject, site)))
    return True


def _code_for(call: str, words: Words) -> str:
    """The code under which `migrate` rewrites such a line."""
    if call == "minimize":
        return "TX107"
    if not words["optimizer"].startswith("self."):
        return "TX101"
    return "TX108" if is_called_in_fit() else "TX102"


def _warn(code: str, category: Category, site: CallSite, words: Words) -> None:
    rule = rule_for(code)
    assert rule.at_run_time is not None, f"{code} has no warning"
    replacement = rule.at_run_time.write.format_map(words)
    saying = category_saying(category, rule, replacement)
    text = (
        f"{cell_of(site)}{rule.at_run_time.does.format_map(words)} Write {replacement}. "
        f"{_command(site) if category is ImplicitUpdateWarning else ''}{code}, see {rule.guide}."
    )
    settings.sites.setdefault(site, code)
    if settings.mode == "error" and not settings.is_allowed(site):
        raise saying(f"{site.file}:{site.line}: {text}")
    if category is ImplicitUpdateWarning:
        summary.note_if_hidden(text, site)
    warnings.warn_explicit(
        saying(text),
        category=saying,
        filename=site.file,
        lineno=site.line,
        module=site.filtered_as,
    )


def _command(site: CallSite) -> str:
    if cell_of(site):
        return "`tfexplicit migrate NOTEBOOK.ipynb` rewrites the notebook; "
    if not Path(site.file).exists():
        return ""
    return f"`tfexplicit migrate {shlex.quote(site.file)}` rewrites this file; "
