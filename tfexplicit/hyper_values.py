"""Reading hyperparameters back from a state: what `opt_state.hyper` gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tfexplicit import paths
from tfexplicit.arrays import read
from tfexplicit.composite import means
from tfexplicit.hyperparameters import as_float64
from tfexplicit.unbuilt import catch_up, note_on_missing_leaves

if TYPE_CHECKING:
    from tfexplicit.state import OptState


@dataclass(frozen=True)
class HyperValues(Mapping[str, Any]):
    """Name to float64 scalar: the value at the next update, on which all leaves of a part agree.

    In a chain both `"adam/learning_rate"` and `"learning_rate"` will do, as in `adjust`.

    Raises:
        KeyError: no rule of this part has the hyperparameter.
        ValueError: leaves differ in it.
    """

    state: OptState
    path: str

    def __getitem__(self, name: str) -> Any:
        found = [(where, value) for where, full, value in self._values() if means(full, name)]
        if not found:
            raise KeyError(
                f"no rule here has a hyperparameter {name!r}. "
                f"{note_on_missing_leaves(self.state) or paths.suggestion(name, self)}"
            )
        return _agreed(name, found)

    def __contains__(self, name: object) -> bool:
        return any(means(full, str(name)) for full in self)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(full for _, full, _ in self._values()))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __repr__(self) -> str:
        return f"HyperValues({', '.join(self._shown())})"

    def _shown(self) -> list[str]:
        if not tf.executing_eagerly():
            return list(self)
        by_name: dict[str, set[float]] = {}
        for _, name, value in self._values():
            by_name.setdefault(name, set()).add(float(value))
        return [
            f"{name}=" + " or ".join(f"{value:g}" for value in sorted(values))
            for name, values in by_name.items()
        ]

    def _values(self) -> Iterator[tuple[str, str, Any]]:
        """`(leaf's path, full name, value)`, where it has an effect."""
        catch_up(self.state)
        step = read(self.state.step)
        owner = self.state.plan.taken_over
        for group in self.state.groups:
            rows = group.hyper_by_row(group.followed(step))
            for path, target, row in zip(group.paths, group.targets, rows, strict=True):
                if not paths.is_under(path, self.path):
                    continue
                if not row and owner is not None and owner.learning_rate is not None:
                    yield path, "learning_rate", as_float64(owner.learning_rate(step))
                for name in sorted(group.rule.governing(path, target)):
                    yield path, name, row[name]


def _agreed(name: str, found: list[tuple[str, Any]]) -> Any:
    values = [value for _, value in found]
    if not tf.executing_eagerly():
        same = [tf.debugging.assert_equal(value, values[0]) for value in values[1:]]
        with tf.control_dependencies(same):
            return tf.identity(values[0])
    where: dict[float, list[str]] = {}
    for path, value in found:
        where.setdefault(float(value), []).append(path)
    if len(where) > 1:
        listed = "; ".join(f"{value:g} at {_some(places)}" for value, places in where.items())
        raise ValueError(
            f"{name} differs: {listed}. Read it of one part, such as "
            f"opt_state[{found[0][0]!r}].hyper[{name!r}]."
        )
    return values[0]


def _some(places: list[str]) -> str:
    names = list(dict.fromkeys(places))
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
