"""The result of a step that is dropped where it is the only thing that the step makes."""

from __future__ import annotations

from tfexplicit.unconverted import unconverted
from tfexplicit.warn.call_site import CallSite, quick_site, true_site
from tfexplicit.warn.funnel import warn_of_mistake
from tfexplicit.warn.wording import is_statement

_looked_at: set[CallSite] = set()


@unconverted
def warn_if_dropped(verb: str) -> None:
    """The source tells: a call that is a statement by itself. Without source, nothing is said."""
    quick = quick_site()
    if quick in _looked_at:
        return
    site = true_site(quick)
    if is_statement(site.file, site.line, verb):
        warn_of_mistake("TX303", verb)
    _looked_at.add(quick)
