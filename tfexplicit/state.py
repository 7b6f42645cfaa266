"""The state of an optimiser: what `setup` returns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tfexplicit import paths
from tfexplicit.arrays import is_variable, raw, read
from tfexplicit.creation import Creation, in_variables, is_symbolic, made_for, value_at_start
from tfexplicit.group import Group, new_group
from tfexplicit.hyper_values import HyperValues
from tfexplicit.module_names import numbered_where_repeated
from tfexplicit.plan import Place, Plan
from tfexplicit.rule import Rule, Slots
from tfexplicit.show import describe
from tfexplicit.state_value import Frame, are_equal, copy_of, put_together, taken_apart
from tfexplicit.subtree import Subtree
from tfexplicit.tree import Leaf, Tree, parse


class OptState(tf.__internal__.tracking.Trackable):  # type: ignore[misc]
    """The slots, step count and hyperparameters of every leaf; mirrors the model.

    `opt_state["encoder"]` is the part below that path and `opt_state["encoder/kernel"].slots` the
    arrays of one leaf. `opt_state.step` counts updates. A `tf.train.Checkpoint` saves it.
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
                for name, cell in group.named_cells():
                    self._track_trackable(cell, name, overwrite=True)

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

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_"):
            raise AttributeError(
                f"a state has no attribute {name!r} to set. Write tx.adjust(opt_state, {name}=...)."
            )
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
        """Make state for the leaves that have none yet, one group per rule."""
        new = [leaf for leaf in tree.leaves if self.place_of(leaf, "") is None]
        paths_of = self._free_paths(new)
        by_rule: dict[int, tuple[Rule, list[Leaf]]] = {}
        for leaf in new:
            rule = self.plan.choose(leaf)
            if self.plan.lazy and not rule.rowwise:
                raise _needs_all_rows(rule)
            by_rule.setdefault(id(rule), (rule, []))[1].append(leaf)
        rested = self._rested_before(tree)
        for rule, leaves in by_rule.values():
            self._add_group(rule, leaves, [paths_of[leaf.index] for leaf in leaves], rested)

    def _free_paths(self, new: Sequence[Leaf]) -> dict[int, str]:
        """By the leaf's index. Variables are known by identity, so a taken path gets a number."""
        wanted = [*self._by_path, *(leaf.path for leaf in new)]
        given = numbered_where_repeated(wanted)[len(self._by_path) :]
        for leaf, path in zip(new, given, strict=True):
            if path != leaf.path and not leaf.is_variable:
                raise ValueError(
                    f"setup: two arrays of the model have the path {leaf.path!r}, by which the "
                    "state knows them. Rename the key of one."
                )
        return {leaf.index: path for leaf, path in zip(new, given, strict=True)}

    def _rested_before(self, tree: Tree) -> Any:
        """What a new leaf's count leaves out.

        A leaf that joins a model that was complete starts to count now. Not so in a model whose
        parts are still being built, nor in the implicit style or with a Keras optimizer: there
        all leaves share one count.
        """
        was_unbuilt, self._was_unbuilt = self._was_unbuilt, tree.is_unbuilt
        if was_unbuilt or self.plan.shares_count:
            return 0
        with tf.init_scope():
            return read(self._step)

    def _add_group(
        self, rule: Rule, leaves: Sequence[Leaf], own_paths: Sequence[str], rested: Any
    ) -> None:
        with made_for(leaves, self.is_live) as creation:
            group = new_group(
                rule,
                own_paths,
                [leaf.value for leaf in leaves],
                self._new_slots(rule, leaves, creation),
                self._new_shared(rule),
                rested,
                self.plan.set_before,
                creation.keep,
            )
        self._index(len(self.groups), group)
        self._groups = (*self._groups, group)
        if self.is_live:
            self._track([group])

    def _new_shared(self, rule: Rule) -> Slots:
        known = any(group.rule is rule for group in self.groups)
        return {} if known else rule.shared()

    def _new_slots(self, rule: Rule, leaves: Sequence[Leaf], creation: Creation) -> list[Slots]:
        taken_over = self.plan.taken_over
        given = taken_over.slots_for(leaves) if taken_over is not None else [None] * len(leaves)
        return [
            {
                name: creation.keep_beside(leaf, value, name)
                for name, value in rule.begin(
                    leaf.path, value_at_start(leaf.value), leaf.value
                ).items()
            }
            if slots is None
            else slots
            for leaf, slots in zip(leaves, given, strict=True)
        ]


def _needs_all_rows(rule: Rule) -> ValueError:
    return ValueError(
        f'setup: {rule!r} cannot be used with sparse="lazy", since it looks at more of a leaf than '
        "the rows of a sparse gradient. Use another rule for this leaf, or a state of its own; a "
        "rule of yours that steps each row by itself says so with `rowwise = True`."
    )


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
    state.join(tree)
    return state
