"""Leaves that join a state: at `setup`, when a model is built, when one becomes trainable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tfexplicit.arrays import is_overwritten, read
from tfexplicit.creation import Creation, made_for, outside_of_traces, value_at_start
from tfexplicit.group import Group, new_group
from tfexplicit.module_names import numbered_where_repeated
from tfexplicit.rule import Rule, Slots
from tfexplicit.stacking import Begun, slot_cells
from tfexplicit.tree import Leaf, Tree

if TYPE_CHECKING:
    from tfexplicit.state import OptState


def join(state: OptState, tree: Tree) -> None:
    """Make state for the leaves that have none yet, one group per rule."""
    new = [leaf for leaf in tree.leaves if state.place_of(leaf, "") is None]
    paths_of = _free_paths(state, new)
    by_rule: dict[int, tuple[Rule, list[Leaf]]] = {}
    for leaf in new:
        rule = state.plan.choose(leaf)
        if state.plan.lazy and not rule.rowwise:
            raise _needs_all_rows(rule)
        if state.plan.taken_over is None and is_overwritten(leaf.value):
            raise _needs_keras(rule, leaf)
        by_rule.setdefault(id(rule), (rule, []))[1].append(leaf)
    rested = _rested_before(state, tree)
    for rule, leaves in by_rule.values():
        _add_group(state, rule, leaves, [paths_of[leaf.index] for leaf in leaves], rested)


def _free_paths(state: OptState, new: Sequence[Leaf]) -> dict[int, str]:
    """By the leaf's index. Variables are known by identity, so a taken path gets a number."""
    wanted = [*state.paths, *(leaf.path for leaf in new)]
    given = numbered_where_repeated(wanted)[len(state) :]
    for leaf, path in zip(new, given, strict=True):
        if path != leaf.path and not leaf.is_variable:
            raise ValueError(
                f"setup: two arrays of the model have the path {leaf.path!r}, by which the "
                "state knows them. Rename the key of one."
            )
    return {leaf.index: path for leaf, path in zip(new, given, strict=True)}


def _rested_before(state: OptState, tree: Tree) -> Any:
    """What a new leaf's count leaves out.

    A leaf that joins a model that was complete starts to count now. Not so in a model whose parts
    are still being built, nor in the implicit style or with a Keras optimizer: there all leaves
    share one count.
    """
    was_unbuilt, state._was_unbuilt = state._was_unbuilt, tree.is_unbuilt
    if was_unbuilt or state.plan.shares_count:
        return 0
    with tf.init_scope():
        return read(state.step)


def _add_group(
    state: OptState, rule: Rule, leaves: Sequence[Leaf], own_paths: Sequence[str], rested: Any
) -> None:
    def make() -> Group:
        with made_for(leaves, state.is_live) as creation:
            return new_group(
                rule,
                own_paths,
                [leaf.value for leaf in leaves],
                _new_slots(state, rule, leaves, creation),
                _new_shared(state, rule),
                rested,
                state.plan.set_before,
                creation.keep,
            )

    state.add(outside_of_traces(make) if state.is_live else make())


def _new_shared(state: OptState, rule: Rule) -> Slots:
    known = any(group.rule is rule for group in state.groups)
    return {} if known else rule.shared()


def _new_slots(
    state: OptState, rule: Rule, leaves: Sequence[Leaf], creation: Creation
) -> list[Slots]:
    taken_over = state.plan.taken_over
    given = taken_over.slots_for(leaves) if taken_over is not None else [None] * len(leaves)
    begun = [
        Begun(rule, leaf, rule.begin(leaf.path, value_at_start(leaf.value), leaf.value))
        for leaf, slots in zip(leaves, given, strict=True)
        if slots is None
    ]
    own = iter(slot_cells(begun, creation, may_share=_may_share(state)))
    return [next(own) if slots is None else slots for slots in given]


def _may_share(state: OptState) -> bool:
    """Rows of a leaf are not stepped alone there, and no Keras optimizer knows its slots."""
    return state.is_live and not state.plan.lazy and state.plan.taken_over is None


def _needs_keras(rule: Rule, leaf: Leaf) -> ValueError:
    return ValueError(
        f"setup: Keras overwrites {leaf.path!r} with its gradient instead of stepping it, as in "
        f"float8 training, and {rule!r} would step it. Hand over a Keras optimizer: "
        "opt_state = tx.setup(keras.optimizers.Adam(), model)."
    )


def _needs_all_rows(rule: Rule) -> ValueError:
    return ValueError(
        f'setup: {rule!r} cannot be used with sparse="lazy", since it looks at more of a leaf than '
        "the rows of a sparse gradient. Use another rule for this leaf, or a state of its own; a "
        "rule of yours that steps each row by itself says so with `rowwise = True`."
    )
