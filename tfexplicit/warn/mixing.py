"""Both styles on one model: each keeps its own slots and count, and knows nothing of the other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from weakref import WeakSet

from tfexplicit.arrays import raw
from tfexplicit.state import OptState
from tfexplicit.warn.funnel import warn_of_mistake

_explicit: WeakSet[OptState] = WeakSet()


def note_explicit(state: OptState) -> None:
    _explicit.add(state)


def explicit_states() -> Iterable[OptState]:
    """Those that `setup` has made and that are still in use."""
    return list(_explicit)


def warn_if_mixed(call: str, variables: Iterable[Any]) -> None:
    """At a line that steps variables of an explicit state in the implicit style."""
    stepped = {id(raw(variable)) for variable in variables}
    for state in _explicit:
        if any(id(raw(leaf)) in stepped for group in state.groups for leaf in group.targets):
            warn_of_mistake("TX304", call)
            return
