"""`setup`: the state of an optimiser for a model."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Literal

import tensorflow as tf

from tfexplicit.arguments import expect_model
from tfexplicit.arrays import raw
from tfexplicit.paths import matches, suggestion
from tfexplicit.plan import Plan
from tfexplicit.rule_choice import choice_of, is_config
from tfexplicit.state import OptState, new_state
from tfexplicit.tied import Tied
from tfexplicit.tree import Node, Tree, parse
from tfexplicit.unconverted import unconverted
from tfexplicit.warn.mixing import note_explicit
from tfexplicit.warn.repeated import note_setup

Build = Literal["now", "at_first_update"]


@unconverted
def setup(
    rule: Any,
    model: Any,
    steps: Literal["global", "leaf"] = "global",
    sparse: Literal["dense", "lazy"] = "dense",
    tied: Tied = "total",
    build: Build = "now",
) -> OptState:
    """Make the state once; `update` uses it at every step.

    Args:
        rule: a rule such as `tx.Adam(1e-3)`; a Keras optimizer (Keras 3, `tf_keras`, legacy), whose
            variables and step count become the state; its name or config; a mapping
            `{path glob: rule}`, the first match counts; or a function `(path, leaf) -> rule`. Any
            other object with an `apply_gradients`, such as a `tf.compat.v1.train.Optimizer`, goes
            on stepping by that and keeps its arrays to itself.
        model: Keras models, `tf.Module`s, variables, tensors or ndarrays, alone or in dicts, lists,
            tuples, dataclasses, attrs classes and types of your own. A Keras model need not be
            built.
        steps: `"leaf"` counts for each leaf the steps it had a gradient for, and bias correction
            follows that; `"global"` counts updates, as Keras does.
        sparse: what a gradient of some rows (`IndexedSlices`) does: `"dense"` the same as the dense
            gradient, in which the other rows are zero; `"lazy"` steps the rows that it has, with
            their slots, and leaves the others as they are, at a cost that does not grow with the
            table (as `LazyAdam` of TensorFlow Addons). A leaf with a `constraint` is stepped whole.
        tied: what gradients are that `update` finds at several places of one leaf: each the
            `"total"`, as a tape gives it, or parts whose `"sum"` is the gradient.
        build: when a Keras optimizer makes its variables, unless it has: `"now"`, for all leaves in
            the order of `trainables(model)`; or `"at_first_update"`, as `apply_gradients` does: for
            those that the first update names, in its order, by which checkpoints of the optimizer
            know them. The state has no leaves until then. Rules make their slots now.

    Raises:
        TypeError: arguments swapped, a class instead of a rule, or another kind of object.
        ValueError: no rule for some leaf, a rule for a leaf that Keras overwrites with its gradient
            (float8 training), a Keras optimizer that is built on other variables, or a call at
            every trace of a `tf.function`.
    """
    try:
        state = make_state(rule, model, steps, sparse, tied, build)
    except ValueError as error:
        if not tf.inside_function() or "tf.function only supports singleton" not in str(error):
            raise
        raise ValueError(
            "setup runs inside a tf.function, and made another state when that was traced again. "
            "Write opt_state = tx.setup(rule, model) once, outside of the function."
        ) from error
    note_setup(state)
    note_explicit(state)
    return state


def make_state(
    rule: Any,
    model: Any,
    steps: Literal["global", "leaf"] = "global",
    sparse: Literal["dense", "lazy"] = "dense",
    tied: Tied = "total",
    build: Build = "now",
) -> OptState:
    """As `setup`, without a word about where it is called."""
    expect_model("setup", rule, model, "opt_state = tx.setup(tx.Adam(), model)")
    _expect("steps", steps, "global", "leaf")
    _expect("tied", tied, "total", "sum")
    _expect("sparse", sparse, "dense", "lazy")
    _expect("build", build, "now", "at_first_update")
    choose, taken_over = choice_of(rule)
    if taken_over is not None and sparse == "lazy":
        raise ValueError(
            f"setup: {taken_over.rule!r} steps sparse gradients by its "
            'own update. Use a rule: tx.setup(tx.Adam(), model, sparse="lazy").'
        )
    plan = Plan(
        model,
        choose,
        per_leaf=steps == "leaf",
        lazy=sparse == "lazy",
        tied=tied,
        taken_over=taken_over,
        as_stepped=build == "at_first_update" and taken_over is not None,
        shares_count=taken_over is not None,
    )
    state, tree = new_state(plan), parse(model)
    if not tree.leaves and not tree.is_unbuilt:
        warnings.warn(
            f"setup found no trainable leaves in this {type(model).__name__}, so there is nothing "
            "to step. Leaves are trainable variables and arrays of float or complex dtype. A "
            "module that makes its variables when it is first called has them after that call.",
            UserWarning,
            stacklevel=4,
        )
    for message in [*_without_effect(state), *_unmatched(rule, state, tree), *_listed_twice(tree)]:
        warnings.warn(message, UserWarning, stacklevel=4)
    return state


def _expect(name: str, given: str, one: str, other: str) -> None:
    if given not in (one, other):
        raise ValueError(f'setup: {name} must be "{one}" or "{other}", got {given!r}.')


def _unmatched(rule: Any, state: OptState, tree: Tree) -> list[str]:
    """About a glob of a mapping `{glob: rule}` that matches no leaf, which others then step."""
    if not isinstance(rule, Mapping) or is_config(rule) or not state.paths or tree.is_unbuilt:
        return []
    return [
        f"setup: no leaf matches {glob!r}. {suggestion(glob, state.paths)}"
        for glob in rule
        if not any(matches(path, glob) for path in state.paths)
    ]


def _listed_twice(tree: Tree) -> list[str]:
    """About a list of variables, which Keras steps once for each time that it finds them there."""
    root = tree.root
    if not isinstance(root, Node) or not root.lists_leaves:
        return []
    places: dict[int, list[int]] = {}
    for place, variable in enumerate(root.value):
        places.setdefault(id(raw(variable)), []).append(place)
    return [
        f"setup: the list holds one variable at {' and '.join(map(str, several))}. Keras steps it "
        "each time, by the whole gradient; here it is one leaf, stepped once. List it once."
        for several in places.values()
        if len(several) > 1
    ]


def _without_effect(state: OptState) -> list[str]:
    """About a glob or a `where` that matches no leaf: most often a slip of the pen."""
    messages = []
    for group in state.groups:
        leaves = zip(group.paths, group.targets, strict=True)
        effective = set[str]().union(*(group.rule.governing(*leaf) for leaf in leaves))
        idle = [name for name in group.hyper if name not in effective]
        if idle:
            messages.append(
                f"setup: {', '.join(idle)} of {group.rule!r} concerns no leaf. The leaves are "
                f"{', '.join(group.paths[:8])}{', ...' if len(group.paths) > 8 else ''}."
            )
    return messages
