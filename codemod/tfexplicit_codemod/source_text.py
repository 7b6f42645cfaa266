"""The rewrite as a function, for other tools: text in, text and sites out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tfexplicit_codemod.outcome import Site


@dataclass(frozen=True)
class Transformed:
    """`code` is the new text, or the very text that was given; `sites` are all its update sites,
    with the reason of each that is left."""

    code: str
    sites: tuple[Site, ...]


class CannotTransform(ValueError):
    """The text cannot be rewritten as a whole; the message says where and why."""


def transform(code: str, *, todo: bool = True) -> Transformed:
    """Rewrites implicit updates of optimizer state in one module to explicit ones.

    `code` is the text of a Python module; nothing is read from disk and nothing is written. A site
    that cannot be proven is left as it is, with a `# TODO(tfexplicit ...)` comment above it unless
    `todo` is false. A second call on the result changes nothing.

    The rest of the project is out of sight here. So what depends on it is left, and every optimizer
    stays the Keras object that it is: `tx.setup` takes it. `tfexplicit migrate` does more.

    Raises `CannotTransform` where a text with an update does not parse.
    """
    # The analysis is imported by the first call: importing the package stays cheap.
    from tfexplicit_codemod.engine import Text, may_have_site, migrate_program
    from tfexplicit_codemod.selection import EVERYTHING
    from tfexplicit_codemod.surroundings import OUT_OF_SIGHT

    text = Text(code)
    if not may_have_site(text.before):
        return Transformed(code, ())
    result = migrate_program(
        text, Path("<text>"), todo=todo, around=OUT_OF_SIGHT, selection=EVERYTHING
    )
    if not result.outcome.is_done:
        raise CannotTransform(result.reason)
    return Transformed(code if result.after is None else result.after.decode(), result.sites)
