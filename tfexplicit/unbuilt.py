"""States of models that had not made all their variables at `setup`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfexplicit.tree import Tree, parse

if TYPE_CHECKING:
    from tfexplicit.state import OptState


def catch_up(state: OptState) -> None:
    """Make state for what the model has built since, which else waits for the next update."""
    if state._was_unbuilt:
        join_what_came(state)


def join_what_came(state: OptState) -> None:
    """Make state for what the model trains by now: built since, or no longer held."""
    tree = parse(state.plan.model)
    if state.is_live and not waits_for_the_rest(state, tree):
        state.join(tree)


def waits_for_the_rest(state: OptState, tree: Tree) -> bool:
    """True until the first update of a model that is partly built, under a Keras optimizer: that
    is built once, and takes no leaf that comes later."""
    return state.plan.taken_over is not None and not len(state) and tree.is_unbuilt


def note_on_unbuilt(state: OptState) -> str:
    """A sentence for messages about leaves that the state does not have; empty if it is built."""
    if not (state._was_unbuilt and parse(state.plan.model).is_unbuilt):
        return ""
    return (
        "The model is not built yet: call it on a batch, or model.build(input_shape), and its "
        "leaves have state."
    )
