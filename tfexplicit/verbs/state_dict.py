"""`state_dict` and `load_state_dict`: a state as plain numbers, by path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from tfexplicit import paths
from tfexplicit.arguments import expect_state, is_state
from tfexplicit.arrays import raw, read
from tfexplicit.group import Group
from tfexplicit.state import AnyState, located
from tfexplicit.unconverted import unconverted


class NotLoaded(NamedTuple):
    """What `load_state_dict(..., strict=False)` passed over, as `path/...` names."""

    missing: list[str]
    unexpected: list[str]


@unconverted
def state_dict(opt_state: AnyState) -> dict[str, Any]:
    """The numbers of a state, or of a part of it, as ndarrays in nested dicts.

    `{"step": ..., "leaves": {path: {"slots": {name: array}, "hyper": {name: number}, "frozen": ...,
    "rested": ..., "taken": ...}}, "shared": {path: {name: scalar}}}`. A hyperparameter is NaN where
    a schedule or function is followed. `rested` counts updates that the leaf's own step count
    leaves out, `taken` the steps that it has made; `shared` is what a rule keeps for all leaves
    together, under the first of them by name.
    """
    expect_state("state_dict", opt_state, "tx.state_dict(opt_state)")
    nested: dict[str, Any] = {"step": np.int64(read(opt_state.step)), "leaves": {}, "shared": {}}
    for cell in _cells(opt_state):
        at = nested
        for key in cell.keys[:-1]:
            at = at.setdefault(key, {})
        value = read(cell.variable).numpy()
        at[cell.keys[-1]] = value if cell.row is None else value[cell.row]
    for path in opt_state.paths:
        nested["leaves"][path].setdefault("slots", {})
    return nested


@unconverted
def load_state_dict(
    opt_state: AnyState, numbers: Mapping[str, Any], strict: bool = True
) -> NotLoaded:
    """Put back what `state_dict` gave; of a part, the part alone, and not the step count.

    Frozen leaves and the numbers that `adjust` has set are put back too: where `hyper` holds a
    number, a schedule of the rule is followed no more.

    Args:
        opt_state: a state, or a part, whose leaves have the same paths, and whose rule keeps the
            same slots.
        numbers: nested as `state_dict` gives them; ndarrays, numbers or tensors.
        strict: False loads what fits, and returns the names of what is missing or unexpected.

    Raises:
        TypeError: not a state, one that holds tensors, or numbers that are no dict.
        ValueError: something is missing or left over (unless `strict=False`: then it is returned),
            or has another shape or dtype. Nothing is changed then.
    """
    line = "tx.load_state_dict(opt_state, numbers)"
    if is_state(numbers):
        raise TypeError(f"load_state_dict: the arguments are swapped. Write {line}.")
    expect_state("load_state_dict", opt_state, line)
    if not isinstance(numbers, Mapping):
        raise TypeError(
            "load_state_dict: expected the nested dict that tx.state_dict returned, got "
            f"{type(numbers).__name__}. Write {line}."
        )
    state, prefix = located(opt_state)
    if not state.is_live:
        raise TypeError("load_state_dict: this state holds tensors, which cannot be changed.")
    given = dict(_flat(numbers))
    step = given.pop(("step",), None)
    known = {cell.keys: cell for cell in _cells(opt_state)}
    missing = [keys for keys in known if keys not in given]
    if step is None and not prefix:
        missing.insert(0, ("step",))
    unexpected = [keys for keys in given if keys not in known]
    _check(known, given, missing, unexpected, strict)
    _write(known, given)
    if step is not None and not prefix:
        raw(state.step).assign(step)
    return NotLoaded([_shown(keys) for keys in missing], [_shown(keys) for keys in unexpected])


Keys = tuple[str, ...]


@dataclass(frozen=True)
class _Cell:
    """A number or array of the dict, and the variable (and its row) that holds it."""

    keys: Keys
    variable: Any
    row: int | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return () if self.row is not None else tuple(raw(self.variable).shape)


def _cells(opt_state: AnyState) -> Iterator[_Cell]:
    state, prefix = located(opt_state)
    for group in state.groups:
        for row, path in enumerate(group.paths):
            if paths.is_under(path, prefix):
                yield from _cells_of_leaf(group, row, path)
        if paths.is_under(group.first, prefix):
            for name, scalar in group.shared.items():
                yield _Cell(("shared", group.first, name), scalar)


def _cells_of_leaf(group: Group, row: int, path: str) -> Iterator[_Cell]:
    for name, slot in group.slots[row].items():
        yield _Cell(("leaves", path, "slots", name), slot)
    for name, vector in group.hyper.items():
        yield _Cell(("leaves", path, "hyper", name), vector, row)
    counts = {"frozen": group.frozen, "rested": group.rested, "taken": group.taken}
    for name, vector in counts.items():
        yield _Cell(("leaves", path, name), vector, row)


def _flat(numbers: Mapping[str, Any], above: Keys = ()) -> Iterator[tuple[Keys, Any]]:
    for key, value in numbers.items():
        if isinstance(value, Mapping):
            yield from _flat(value, (*above, str(key)))
        else:
            yield (*above, str(key)), value


def _check(
    known: Mapping[Keys, _Cell],
    given: Mapping[Keys, Any],
    missing: Sequence[Keys],
    unexpected: Sequence[Keys],
    strict: bool,
) -> None:
    wrong = [
        problem
        for keys, cell in known.items()
        if keys in given
        for problem in _misfits(cell, given[keys])
    ]
    if strict:
        # Only what nothing was given for can have been meant by another name.
        names = [_shown(keys) for keys in missing]
        wrong += [
            f"unexpected: {_shown(keys)}" + _meant(_shown(keys), names) for keys in unexpected
        ]
        wrong += [f"missing: {_shown(keys)}" for keys in missing]
    if wrong:
        more = f"\n  and {len(wrong) - 20} more" if len(wrong) > 20 else ""
        raise ValueError(
            "load_state_dict: the numbers are not those of this state; nothing was changed.\n  "
            + "\n  ".join(wrong[:20])
            + more
        )


def _meant(name: str, missing: Sequence[str]) -> str:
    return f". {paths.suggestion(name, missing)}" if missing else ""


def _misfits(cell: _Cell, value: Any) -> list[str]:
    value = np.asarray(value)
    if value.shape != cell.shape:
        return [f"{_shown(cell.keys)}: shape {value.shape}, expected {cell.shape}"]
    expected = tf.as_dtype(raw(cell.variable).dtype)
    if cell.row is None and tf.as_dtype(value.dtype) != expected:
        return [f"{_shown(cell.keys)}: dtype {value.dtype.name}, expected {expected.name}"]
    return []


def _write(known: Mapping[Keys, _Cell], given: Mapping[Keys, Any]) -> None:
    rows: dict[int, tuple[Any, Any]] = {}
    for keys, cell in known.items():
        if keys not in given:
            continue
        if cell.row is None:
            raw(cell.variable).assign(given[keys])
        else:
            _, vector = rows.setdefault(
                id(cell.variable), (cell.variable, read(cell.variable).numpy().copy())
            )
            vector[cell.row] = given[keys]
    for variable, vector in rows.values():
        raw(variable).assign(vector)


def _shown(keys: Keys) -> str:
    return "/".join(keys[1:] if keys[0] == "leaves" else keys)
