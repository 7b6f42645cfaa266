"""The state of an optimiser: what `setup` returns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tfexplicit import paths
from tfexplicit.arrays import is_variable, raw, read
from tfexplicit.creation import (
    in_variables,
    is_symbolic,
)
from tfexplicit.group import Group, in_saved_model
from tfexplicit.hyper_values import HyperValues
from tfexplicit.joining import join
from tfexplicit.keras_habits import no_attribute, not_to_set
from tfexplicit.plan import Place, Plan
from tfexplicit.rule import Slots
from tfexplicit.show import describe
from tfexplicit.state_value import Frame, are_equal, copy_of, put_together, taken_apart
from tfexplicit.subtree import Subtree
from tfexplicit.tree import Leaf, Tree, parse
from tfexplicit.unbuilt import waits_for_the_rest


class OptState(tf.__internal__.tracking.Trackable):  # type: ignore[misc]
    """The slots, step count and hyperparameters of every leaf; mirrors the model.

    `tx.setup` makes it. `opt_state["encoder"]` is the part below that path, and
    `opt_state["encoder/kernel"].slots` the arrays of one leaf by name, with the dtypes and shapes
    that the rule's docstring says: variables, or what reads and is assigned like one. Iterating
    gives the paths, `print` a table. A `tf.train.Checkpoint` saves it; `copy.deepcopy` copies it;
    states compare with `==`.

    Raises:
        KeyError: the state has nothing at the path.
        AttributeError: setting an attribute. `tx.adjust` sets hyperparameters.
    """

    def __init__(self, plan: Plan, step: Any, groups: Sequence[Group] = ()) -> None:
        self._plan = plan
        self._step = step
        self._groups = tuple(groups)
        self._was_unbuilt = True
        self._by_target: dict[int, Place] = {}
        self._by_path: dict[str, Place] = {}
        for number, group in enumerate(groups):
            self._index(number, group)
        if self.is_live:
            self._track_trackable(step, "step")
            self._track(groups)

    def _track(self, groups: Sequence[Group]) -> None:
        """For checkpoints. Outside of a trace: one that was restored before may fill these now."""
        with tf.init_scope():
            for group in groups:
                for name, cell in group.saved():
                    self._track_trackable(cell, name, overwrite=True)

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        children: dict[str, Any] = super()._trackable_children(save_type, **kwargs)
        return in_saved_model(children, self.groups) if save_type == "savedmodel" else children

    def _index(self, number: int, group: Group) -> None:
        for row, (path, target) in enumerate(zip(group.paths, group.targets, strict=True)):
            self._by_path[path] = Place(number, row)
            if is_variable(target):
                self._by_target[id(raw(target))] = Place(number, row)

    # What a user sees.

    @property
    def step(self) -> Any:
        """The number of updates made, int64."""
        return self._step

    @property
    def paths(self) -> list[str]:
        """The leaves, by path."""
        return list(self._by_path)

    @property
    def hyper(self) -> HyperValues:
        """The hyperparameters on which all leaves agree, by name: float64 scalars."""
        return HyperValues(self, "")

    def __getitem__(self, key: str | int) -> Subtree:
        return Subtree(self, "")[key]

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(no_attribute(name))

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_"):
            raise AttributeError(not_to_set(name))
        super().__setattr__(name, value)

    def __iter__(self) -> Iterator[str]:
        return iter(self.paths)

    def __len__(self) -> int:
        return len(self._by_path)

    def __repr__(self) -> str:
        return describe(self, "")

    # As a value.

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OptState) and (self is other or are_equal(self, other))

    # TensorFlow and Keras know objects by identity.
    __hash__ = object.__hash__

    def __deepcopy__(self, memo: dict[int, Any]) -> OptState:
        return copy_of(self, memo)

    def __copy__(self) -> OptState:
        return copy_of(self, {})

    def __reduce__(self) -> Any:
        raise TypeError(
            "a state holds variables and cannot be pickled. Pickle its numbers, "
            "tx.state_dict(opt_state), and put them back with tx.load_state_dict(opt_state, "
            "numbers); or save it with tf.train.Checkpoint(model=model, opt_state=opt_state)."
        )

    def __tf_flatten__(self) -> tuple[Frame, tuple[Any, ...]]:
        return taken_apart(self)

    @classmethod
    def __tf_unflatten__(cls, frame: Frame, cells: tuple[Any, ...]) -> OptState:
        return put_together(frame, cells)

    # What the verbs use.

    @property
    def plan(self) -> Plan:
        return self._plan

    @property
    def groups(self) -> tuple[Group, ...]:
        return self._groups

    def slots_at(self, place: Place) -> Slots:
        return self._groups[place.group].slots[place.row]

    @property
    def is_live(self) -> bool:
        """True if the arrays are variables; False for a state that `updated` returned."""
        return is_variable(self._step)

    @property
    def own_stepper(self) -> Any:
        """The Keras optimizer that is stepped by its own update, if this state is of one."""
        owner = self.plan.taken_over
        return owner.optimizer if owner is not None and owner.counts_itself else None

    def cells(self) -> list[Any]:
        return [self._step, *(cell for group in self.groups for cell in group.cells())]

    def with_cells(self, cells: Sequence[Any]) -> OptState:
        """The same state with other arrays, in the order of `cells`."""
        step, *rest = cells
        groups = []
        for group in self.groups:
            count = len(group.cells())
            groups.append(group.with_cells(rest[:count]))
            rest = rest[count:]
        return OptState(self.plan, step, groups)

    def as_tensors(self) -> OptState:
        """A copy that no later step changes."""
        return self.with_cells([read(cell) for cell in self.cells()])

    def with_groups(self, step: Any, groups: Sequence[Group]) -> OptState:
        return OptState(self.plan, step, groups)

    def become(self, plan: Plan, groups: Sequence[Group]) -> None:
        """Go on under other rules, with the same leaves in the same places."""
        self._plan, self._groups = plan, tuple(groups)
        self._track(groups)

    def places_of(self, tree: Tree, prefix: str) -> list[Place | None]:
        """Where each leaf of a model lives, or of the part of it at `prefix`."""
        # A single array is its part of the state itself, not a leaf below it.
        alone = isinstance(tree.root, Leaf) and prefix in self.paths
        return [self.place_of(leaf, prefix, alone) for leaf in tree.leaves]

    def place_of(self, leaf: Leaf, prefix: str, alone: bool = False) -> Place | None:
        """By identity for a variable that the state was set up on, else by path."""
        if leaf.is_variable and id(raw(leaf.value)) in self._by_target:
            return self._by_target[id(raw(leaf.value))]
        place = self._by_path.get(prefix if alone else paths.join(prefix, leaf.path))
        if place is None or (leaf.is_variable and self._is_set_on_variable(place)):
            return None
        return place

    def _is_set_on_variable(self, place: Place) -> bool:
        return is_variable(self.groups[place.group].targets[place.row])

    def join(self, tree: Tree) -> None:
        """Make state for the leaves that have none yet."""
        join(self, tree)

    def add(self, group: Group) -> None:
        self._index(len(self.groups), group)
        self._groups = (*self._groups, group)
        if self.is_live:
            self._track([group])


AnyState = OptState | Subtree


def located(opt_state: AnyState) -> tuple[OptState, str]:
    """The whole state, and the path of the part that was given."""
    if isinstance(opt_state, Subtree):
        return opt_state.state, opt_state.path
    return opt_state, ""


def new_state(plan: Plan) -> OptState:
    """A state with the leaves that the model has so far."""
    tree = parse(plan.model)
    if plan.taken_over is not None:
        step = raw(plan.taken_over.step)
    elif is_symbolic(tree):
        step = tf.zeros([], tf.int64)
    else:
        step = in_variables(np.int64(0), "step", tree.leaves)
    state = OptState(plan, step)
    if not waits_for_the_rest(state, tree):
        state.join(tree)
    return state
