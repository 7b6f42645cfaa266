"""The record of a run: what every update did, as digests, so that it stays small.

One JSON list or object per line, written at once, so that a crash keeps what was there:

    {"kind": "group", "group": 0, "leaves": [["dense/kernel", [4, 3], "float32"], ...]}
    {"kind": "update", "index": 1, "group": 0, "gradient_norm": 0.5, "without_gradient": 0,
     "leaves": [[the numbers of a Leaf, from its crc on], ...]}
    {"kind": "note", "text": "..."}
    {"kind": "end", "loaded": ["train.py", ...], "outside": ["/home/me/project/model.py", ...]}

A group is a sequence of leaves that is updated together, numbered by first appearance.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Leaf:
    """One leaf after an update. The norms, sums and first value are float64.

    `step` is the norm of what the update added; it changed `changed` elements, whose norm is
    `moved`. Norms and sums are of the finite elements; `not_finite` counts the others.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    crc: int
    norm: float
    total: float
    first: float
    not_finite: int
    step: float
    step_total: float
    changed: int
    moved: float


@dataclass(frozen=True)
class Update:
    """One update: its gradients and what the leaves held after it. `index` counts from 1."""

    index: int
    group: int
    gradient_norm: float
    without_gradient: int
    leaves: tuple[Leaf, ...]

    @property
    def digest(self) -> tuple[int, ...]:
        return tuple(leaf.crc for leaf in self.leaves)


@dataclass
class Trajectory:
    """Everything that one program recorded, the updates in the order in which they ran."""

    updates: list[Update] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    ended: bool = False


def read_trajectory(record: Path) -> Trajectory:
    """Reads a record; an unfinished last line, left by a crash, does not count."""
    trajectory = Trajectory()
    groups: dict[int, list[Any]] = {}
    for line in _whole_lines(record):
        entry = json.loads(line)
        if entry["kind"] == "group":
            groups[entry["group"]] = entry["leaves"]
        elif entry["kind"] == "update":
            trajectory.updates.append(_update(entry, groups[entry["group"]]))
        elif entry["kind"] == "note":
            trajectory.notes.append(entry["text"])
        else:
            trajectory.loaded, trajectory.outside = entry["loaded"], entry["outside"]
            trajectory.ended = True
    trajectory.updates.sort(key=lambda update: update.index)
    return trajectory


def _whole_lines(record: Path) -> list[str]:
    return record.read_text("utf-8").split("\n")[:-1]


def _update(entry: dict[str, Any], described: list[Any]) -> Update:
    leaves = tuple(
        Leaf(name, tuple(shape), dtype, *digest)
        for (name, shape, dtype), digest in zip(described, entry["leaves"], strict=True)
    )
    return Update(
        entry["index"], entry["group"], entry["gradient_norm"], entry["without_gradient"], leaves
    )
