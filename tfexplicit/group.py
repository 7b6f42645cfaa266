"""Leaves that were set up together under one rule, and what the state keeps for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import tensorflow as tf

from tfexplicit.arrays import read
from tfexplicit.hyperparameters import as_float64, current_value, is_function, is_number
from tfexplicit.rule import Rule, Slots
from tfexplicit.saved_row import SavedRow
from tfexplicit.set_before import SetBefore
from tfexplicit.slot_row import SlotRow


@dataclass(frozen=True, eq=False)
class Group:
    """One row per leaf. Arrays are variables in a state from `setup`, tensors after `updated`.

    Hyperparameters, freezing and counts are vectors with one entry per leaf, so that a part can
    be changed while a function traced earlier goes on reading the same few variables.
    """

    rule: Rule
    paths: tuple[str, ...]
    # The leaf that each row was set up on: known again by identity if it is a variable.
    targets: tuple[Any, ...]
    slots: tuple[Slots, ...]
    # Name to float64 vector; NaN follows the rule's schedule, function or variable.
    hyper: dict[str, Any]
    frozen: Any
    # int64: updates that a leaf's own step count leaves out, and steps that it has made.
    rested: Any
    taken: Any
    # What the rule keeps once for all its leaves; empty in all groups of a rule but the first.
    shared: Slots

    def cells(self) -> list[Any]:
        """Every array of the group, in a fixed order."""
        arrays = [array for slots in self.slots for array in slots.values()]
        vectors = [*self.hyper.values(), self.frozen, self.rested, self.taken]
        return [*vectors, *self.shared.values(), *arrays]

    def with_cells(self, cells: Sequence[Any]) -> Group:
        """The same group with other arrays, in the order of `cells`."""
        supply = iter(cells)
        return replace(
            self,
            hyper={name: next(supply) for name in self.hyper},
            frozen=next(supply),
            rested=next(supply),
            taken=next(supply),
            shared={name: next(supply) for name in self.shared},
            slots=tuple({name: next(supply) for name in slots} for slots in self.slots),
        )

    def saved(self) -> list[tuple[str, Any]]:
        """What a checkpoint saves, under names that do not depend on the order of the leaves."""
        named = [(f"shared/{self.first}/{name}", cell) for name, cell in self.shared.items()]
        for row, (path, slots) in enumerate(zip(self.paths, self.slots, strict=True)):
            named.append((f"vectors/{path}", SavedRow(self.vectors, row)))
            named += [(f"slots/{path}/{name}", cell) for name, cell in slots.items()]
        return named

    @property
    def vectors(self) -> dict[str, Any]:
        """What has an entry per leaf, by name."""
        return {**self.hyper, "frozen": self.frozen, "rested": self.rested, "taken": self.taken}

    @property
    def first(self) -> str:
        """The path that names the group, in whatever order its leaves come."""
        return min(self.paths)

    def followed(self, step: Any) -> dict[str, Any]:
        """What schedules and functions of the step give at this step."""
        sources = self.rule.hyperparameters()
        return {
            name: current_value(source, step)
            for name, source in sources.items()
            if is_function(source)
        }

    def adjusted_values(self) -> list[dict[str, float]]:
        """For each row the hyperparameters that are not what the rule says."""
        sources = self.rule.hyperparameters()
        rows: list[dict[str, float]] = [{} for _ in self.paths]
        with tf.init_scope():
            for name, vector in self.hyper.items():
                start = initial_vector(sources[name], 1).numpy()[0]
                for row, value in enumerate(read(vector).numpy()):
                    if not np.array_equal(value, start, equal_nan=True):
                        rows[row][name] = float(value)
        return rows

    def is_adjusted(self) -> bool:
        return any(self.adjusted_values())

    def resolved_hyper(self, followed: dict[str, Any]) -> dict[str, Any]:
        """Each leaf's hyperparameters at this step, as float64 vectors."""
        sources = {**self.rule.hyperparameters(), **followed}
        return {name: _resolved(vector, sources[name]) for name, vector in self.hyper.items()}

    def hyper_by_row(self, followed: dict[str, Any]) -> list[dict[str, Any]]:
        """The same as scalars, for one leaf after the other."""
        return by_row(self.resolved_hyper(followed), len(self.paths))


def by_row(vectors: dict[str, Any], rows: int) -> list[dict[str, Any]]:
    columns = {name: tf.unstack(vector, num=rows) for name, vector in vectors.items()}
    return [{name: column[row] for name, column in columns.items()} for row in range(rows)]


def _resolved(vector: Any, source: Any) -> Any:
    vector = tf.convert_to_tensor(vector)
    if is_followed(source):
        vector = tf.where(tf.math.is_nan(vector), as_float64(source), vector)
    return vector


def is_followed(source: Any) -> bool:
    """True for what is read anew at every step; False for a plain number."""
    return not is_number(source)


def initial_vector(source: Any, rows: int) -> Any:
    return tf.fill([rows], tf.constant(float("nan") if is_followed(source) else source, tf.float64))


def new_group(
    rule: Rule,
    paths: Sequence[str],
    targets: Sequence[Any],
    slots: Sequence[Slots],
    shared: Slots,
    rested: Any,
    set_before: SetBefore,
    keep: Callable[[Any, str], Any],
) -> Group:
    """Fresh vectors for these leaves; `keep(value, name)` makes a cell of each."""
    rows = len(paths)
    return Group(
        rule,
        tuple(paths),
        tuple(targets),
        tuple(slots),
        {
            name: keep(set_before.applied(name, paths, initial_vector(source, rows)), name)
            for name, source in rule.hyperparameters().items()
        },
        keep(tf.zeros([rows], tf.bool), "frozen"),
        keep(tf.fill([rows], tf.cast(rested, tf.int64)), "rested"),
        keep(tf.zeros([rows], tf.int64), "taken"),
        {name: keep(value, name) for name, value in shared.items()},
    )


def in_saved_model(children: dict[str, Any], groups: Sequence[Group]) -> dict[str, Any]:
    """What a SavedModel tracks of a state: variables only, those that its functions read."""
    rows = SavedRow | SlotRow
    variables = {n: child for n, child in children.items() if not isinstance(child, rows)}
    for group in groups:
        variables |= {f"vectors/{group.first}/{n}": cell for n, cell in group.vectors.items()}
        for path, slots in zip(group.paths, group.slots, strict=True):
            # What leaves share, once.
            for name, cell in slots.items():
                if isinstance(cell, SlotRow) and cell.row == 0:
                    variables[f"stacks/{path}/{name}"] = cell.stack
                    variables[f"scratches/{path}/{name}"] = cell.scratch
    return variables
