"""Which optimizer, or state of a rule, makes an update: numbered by first update."""

from __future__ import annotations

import weakref
from typing import Any


class Owners:
    """A Keras optimizer before, the state that took its place after. They are not kept alive."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._count = 0

    def number_of(self, owner: Any) -> tuple[int, str]:
        """Its number, and the name of its class."""
        known = self._known.get(id(owner))
        # The id alone may be that of an owner that is gone.
        if known is None or known[0]() is not owner:
            self._count += 1
            known = self._known[id(owner)] = (weakref.ref(owner), self._count)
        return known[1], type(owner).__name__
