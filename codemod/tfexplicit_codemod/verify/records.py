"""The record of a run: what every update did, as digests, so that it stays small.

Each process that updates writes a file. One JSON object per line, written at once, so that a crash
keeps what was there:

    {"kind": "process", "name": "Process-1", "started": 1700000000.5}
    {"kind": "group", "group": 0, "leaves": [["dense/kernel", 1, [4, 3], "float32"], ...],
     "state": [["batch_normalization/moving_mean", 1, [3], "float32"], ...], "owner": [1, "SGD"]}
    {"kind": "update", "index": 1, "group": 0, "loss": 0.25, "gradients": [[0.5, 0.1], null],
     "leaves": [[the numbers of a Leaf, from its crc on]], "state": ...}
    {"kind": "note", "text": "..."}
    {"kind": "values", "variables": [["dense/kernel", 1, [4, 3], "float32"], ...], "digests": ...}
    {"kind": "usage", "loaded": ["train.py", ...], "outside": ["/home/me/project/model.py", ...],
     "peak_memory": 1000000, "ended": true, "cut_short": false}

A group is a sequence of leaves that one optimizer updates together, with the state of the layers
that was alive then. `values` are those at the end. `usage` is written at the first update too,
since at the end Python has forgotten the file of the script.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple


@dataclass(frozen=True)
class Leaf:
    """One leaf after an update. The norms, sums and first value are float64.

    `step` is the norm of what the update added, `step_signed` its sum with fixed random signs; it
    changed `changed` elements, whose norm is `moved`. Norms and sums are of the finite elements;
    `not_finite` counts the others.
    """

    name: str
    number: int  # of the variables of this name
    shape: tuple[int, ...]
    dtype: str
    crc: int
    norm: float
    total: float
    first: float
    not_finite: int
    step: float
    step_total: float
    step_signed: float
    changed: int
    moved: float

    @property
    def key(self) -> tuple[str, int, tuple[int, ...], str]:
        return self.name, self.number, self.shape, self.dtype

    @property
    def title(self) -> str:
        return self.name if self.number == 1 else f"{self.name} (number {self.number})"


class Gradient(NamedTuple):
    norm: float
    total: float


@dataclass(frozen=True)
class Update:
    """One update: its gradients and what the leaves, and the state of layers, held after it.

    `index` counts the updates of a process from 1; `gradients` has one for each leaf;
    `process` is "" for the program itself; `owner` is the number and the class of the optimizer,
    or of the state that took its place.
    """

    index: int
    gradients: tuple[Gradient | None, ...]
    leaves: tuple[Leaf, ...]
    state: tuple[Leaf, ...] = ()
    loss: float | None = None
    process: str = ""
    owner: tuple[int, str] = (1, "")

    @property
    def gradient_norm(self) -> float:
        """Of all gradients together."""
        return math.sqrt(sum(each.norm**2 for each in self.gradients if each is not None))

    @property
    def digest(self) -> tuple[int, ...]:
        return tuple(leaf.crc for leaf in self.leaves)

    @property
    def keys(self) -> tuple[Any, ...]:
        """What it updates, in any order."""
        return self.process, *sorted(leaf.key for leaf in self.leaves)

    @property
    def place(self) -> str:
        return f"update {self.index}" + (f" of {self.process}" if self.process else "")


@dataclass
class Trajectory:
    """Everything that one program recorded, the updates in the order in which they ran.

    Those of the program itself come first, then those of each process that it started.
    """

    updates: list[Update] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    values: list[Leaf] = field(default_factory=list)
    ended: bool = False
    cut_short: bool = False  # by --steps
    peak_memory: int = 0
    seconds: float = 0.0


def read_trajectory(records: Path, program: int) -> Trajectory:
    """Reads all records of a run, whose own process is `program`.

    An unfinished last line, left by a crash, does not count.
    """
    whole = read_record(records / f"{program}.jsonl", "")
    for name, file in _other_processes(records, program):
        part = read_record(file, name)
        whole.updates += part.updates
        whole.cut_short |= part.cut_short
        _add(whole.notes, part.notes)
        _add(whole.loaded, part.loaded)
        _add(whole.outside, part.outside)
    return whole


def _add(known: list[str], more: list[str]) -> None:
    known += [each for each in more if each not in known]


def _other_processes(records: Path, program: int) -> list[tuple[str, Path]]:
    """By their names, in the order in which those that have the same were started."""
    found = []
    for file in records.glob("*.jsonl"):
        lines = _whole_lines(file)
        if lines and file.stem != str(program):
            entry = json.loads(lines[0])
            found.append((_natural(entry["name"]), entry["started"], entry["name"], file))
    named: list[tuple[str, Path]] = []
    seen: dict[str, int] = {}
    for *_, name, file in sorted(found):
        seen[name] = seen.get(name, 0) + 1
        named.append((name if seen[name] == 1 else f"{name}, run {seen[name]}", file))
    return named


def _natural(name: str) -> list[tuple[bool, int, str]]:
    """Process-2 comes before Process-10."""
    parts = re.split(r"(\d+)", name)
    return [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts]


def read_record(record: Path, process: str) -> Trajectory:
    trajectory = Trajectory()
    groups: dict[int, dict[str, Any]] = {}
    for line in _whole_lines(record):
        entry = json.loads(line)
        kind = entry["kind"]
        if kind == "group":
            groups[entry["group"]] = entry
        elif kind == "update":
            trajectory.updates.append(_update(entry, groups[entry["group"]], process))
        elif kind == "note":
            trajectory.notes.append(entry["text"])
        elif kind == "values":
            trajectory.values = list(_leaves(entry["variables"], entry["digests"]))
        elif kind == "usage":
            _add(trajectory.loaded, entry["loaded"])
            _add(trajectory.outside, entry["outside"])
            trajectory.peak_memory = entry["peak_memory"]
            trajectory.ended, trajectory.cut_short = entry["ended"], entry["cut_short"]
    trajectory.updates.sort(key=lambda update: update.index)
    return trajectory


def _whole_lines(record: Path) -> list[str]:
    return record.read_text("utf-8").split("\n")[:-1] if record.exists() else []


def _update(entry: dict[str, Any], group: dict[str, Any], process: str) -> Update:
    number, name = group["owner"]
    return Update(
        entry["index"],
        tuple(None if each is None else Gradient(*each) for each in entry["gradients"]),
        _leaves(group["leaves"], entry["leaves"]),
        _leaves(group["state"], entry["state"]),
        entry["loss"],
        process,
        (number, name),
    )


def _leaves(described: list[Any], digests: list[Any]) -> tuple[Leaf, ...]:
    return tuple(
        Leaf(name, number, tuple(shape), dtype, *digest)
        for (name, number, shape, dtype), digest in zip(described, digests, strict=True)
    )
