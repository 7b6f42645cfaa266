"""States without all leaves: the model makes its variables later, or steps are to name them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tfexplicit.arrays import raw
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
    is built once, and takes no leaf that comes later. Always where only steps bring leaves."""
    if state.plan.as_stepped:
        return True
    return state.plan.taken_over is not None and not len(state) and tree.is_unbuilt


def tree_to_join(state: OptState, model: Any, stepped: Tree) -> Tree:
    """What joins at a step: the whole model, or the leaves that it names, in its order."""
    whole = stepped if model is state.plan.model else parse(state.plan.model)
    if not state.plan.as_stepped:
        return whole
    known = {id(raw(leaf.value)): leaf for leaf in whole.leaves}
    named = (known.get(id(raw(leaf.value))) for leaf in stepped.leaves)
    return replace(whole, leaves=[leaf for leaf in named if leaf is not None])


def note_on_missing_leaves(state: OptState) -> str:
    """A sentence for messages about leaves that the state does not have yet; else empty."""
    if state.plan.as_stepped and not len(state):
        return 'The leaves come at the first update, by build="at_first_update" of setup.'
    if not (state._was_unbuilt and parse(state.plan.model).is_unbuilt):
        return ""
    return (
        "The model is not built yet: call it on a batch, or model.build(input_shape), and its "
        "leaves have state."
    )
