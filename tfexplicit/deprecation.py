"""The warning of the implicit style: what the line does, what to write, and what rewrites it."""

from __future__ import annotations

import warnings

from tfexplicit_codemod.registry import rule_for

from tfexplicit.call_site import CallSite, quick_site, true_site


class ImplicitUpdateWarning(DeprecationWarning):
    """An optimizer kept its state by itself; `tx.setup` and `tx.update` make it visible.

    Attributes:
        code: the code that `tfexplicit explain` describes.
        replacement: the lines to write.
        since: the version of tfexplicit that deprecated the call.
        guide: the page of the migration guide.
    """

    def __init__(self, code: str, does: str, replacement: str, site: CallSite) -> None:
        entry = rule_for(code)
        self.code = code
        self.replacement = replacement
        self.since = entry.since
        self.guide = entry.guide
        super().__init__(
            f"{does} Write {replacement}. `tfexplicit migrate {site.file}` rewrites this file; "
            f"{code}, see {self.guide}."
        )


_warned: set[CallSite] = set()


def warn_implicit_call(code: str, does: str, replacement: str) -> None:
    """Warn once per line of the user's program."""
    quick = quick_site()
    if quick in _warned:
        return
    site = true_site()
    if site not in _warned:
        warnings.warn_explicit(
            ImplicitUpdateWarning(code, does, replacement, site),
            category=ImplicitUpdateWarning,
            filename=site.file,
            lineno=site.line,
            module=site.module,
        )
    # Not before: a filter may have made an error of it, which has to come again.
    _warned.update((quick, site))
