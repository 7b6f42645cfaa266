"""States that a step makes for itself: each serves for one update, so none ever learns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from tfexplicit.arrays import raw, read
from tfexplicit.state import OptState
from tfexplicit.unconverted import unconverted
from tfexplicit.warn.call_site import CallSite, quick_site
from tfexplicit.warn.funnel import warn_of_mistake

# So many states in a row that were used at most once are no accident of a loop over settings.
_TOO_MANY = 2


@dataclass(frozen=True)
class _Made:
    """The last state that a line has made, and how many before it were hardly used."""

    leaves: frozenset[int]
    step: Any
    step_then: int
    hardly_used: int = 0

    @property
    def updates(self) -> int:
        return int(read(self.step)) - self.step_then


_last_made: dict[CallSite, _Made] = {}


@unconverted
def note_setup(state: OptState) -> None:
    """A state of variables that `setup` has made: perhaps at every step."""
    # In a graph of TensorFlow 1 nothing is known yet of the step.
    if state.is_live and tf.executing_eagerly():
        _note_made("TX301", "setup", state)


@unconverted
def note_implicit_state(call: str, state: OptState) -> None:
    """A rule that has just made its implicit state: perhaps a rule made for this one call."""
    if tf.executing_eagerly():
        _note_made("TX302", call, state)


def _note_made(code: str, call: str, state: OptState) -> None:
    leaves = frozenset(id(raw(target)) for group in state.groups for target in group.targets)
    if not leaves:
        return
    site = quick_site()
    before = _last_made.get(site)
    again = before is not None and before.leaves == leaves and before.updates <= 1
    hardly_used = before.hardly_used + 1 if before is not None and again else 0
    _last_made[site] = _Made(leaves, state.step, int(read(state.step)), hardly_used)
    if hardly_used >= _TOO_MANY:
        warn_of_mistake(code, call)
