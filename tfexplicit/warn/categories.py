"""The two categories of warnings."""

from __future__ import annotations

from typing import ClassVar

from tfexplicit_codemod.registry import Rule


class ImplicitUpdateWarning(DeprecationWarning):
    """An optimizer kept its state by itself; `tx.setup` and `tx.update` make it visible.

    Attributes:
        code: the code that `tfexplicit explain` describes.
        replacement: the lines to write.
        since: the version of tfexplicit that deprecated the call.
        guide: the page of the migration guide.
    """

    # AutoGraph makes an exception anew, from its class and a text, if its class is built like this.
    __init__ = Exception.__init__

    code: ClassVar[str] = ""
    replacement: ClassVar[str] = ""
    since: ClassVar[str] = ""
    guide: ClassVar[str] = ""


class StateMisuseWarning(UserWarning):
    """A state is used in a way that hardly trains what was meant.

    Attributes: as those of `ImplicitUpdateWarning`.
    """

    __init__ = Exception.__init__

    code: ClassVar[str] = ""
    replacement: ClassVar[str] = ""
    since: ClassVar[str] = ""
    guide: ClassVar[str] = ""


Category = type[ImplicitUpdateWarning] | type[StateMisuseWarning]


def category_saying(category: Category, rule: Rule, replacement: str) -> Category:
    """The category for one warning: what the warning carries is on its class, see `__init__`."""
    carried = {
        "code": rule.code,
        "replacement": replacement,
        "since": rule.since,
        "guide": rule.guide,
        "__module__": category.__module__,
        "__qualname__": category.__qualname__,
    }
    return type(category.__name__, (category,), carried)
