"""The variables of a run, by keys that are the same in both programs. They are not kept alive."""

from __future__ import annotations

import weakref
from collections import Counter
from typing import Any

# A name, and which of the variables of that name it is: plain variables all go by `Variable`.
Key = tuple[str, int]


class Variables:
    """Numbered by name in the order in which they were first seen."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[weakref.ref[Any], Key]] = {}
        self._of_layers: list[weakref.ref[Any]] = []
        self._counts: Counter[str] = Counter()

    def add_weight(self, variable: Any) -> None:
        """A layer has made this variable."""
        self.key_of(variable)
        if not variable.trainable:
            self._of_layers.append(weakref.ref(variable))

    def key_of(self, variable: Any) -> Key:
        known = self._known.get(id(variable))
        # The id alone may be that of a variable that is gone.
        if known is None or known[0]() is not variable:
            name = getattr(variable, "path", None) or variable.name
            self._counts[name] += 1
            known = (weakref.ref(variable), (name, self._counts[name]))
            self._known[id(variable)] = known
        return known[1]

    def layer_state(self) -> list[Any]:
        """What layers keep and no gradient changes, such as the statistics of BatchNorm."""
        living = ((each, each()) for each in self._of_layers)
        alive = [(each, variable) for each, variable in living if variable is not None]
        self._of_layers = [each for each, _ in alive]
        return [variable for _, variable in alive]

    def alive(self) -> list[Any]:
        variables = (reference() for reference, _ in self._known.values())
        return [variable for variable in variables if variable is not None]
