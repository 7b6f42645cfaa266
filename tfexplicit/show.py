"""A state printed as a table of its leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tfexplicit import paths
from tfexplicit.arrays import dtype_name, is_variable, raw, read, shape_of, size_in_bytes
from tfexplicit.opened import Move
from tfexplicit.plan import Place
from tfexplicit.unbuilt import note_on_missing_leaves
from tfexplicit.ways import ways_of
from tfexplicit.writing import Writer

if TYPE_CHECKING:
    from tfexplicit.group import Group
    from tfexplicit.state import OptState


def describe(state: OptState, prefix: str) -> str:
    """One line per leaf: path, shape, dtype, slots, and what sets it apart."""
    shown = [
        (group, row)
        for group in state.groups
        for row, path in enumerate(group.paths)
        if paths.is_under(path, prefix)
    ]
    rules = list(dict.fromkeys(repr(group.rule) for group, _ in shown))
    slots = (slot for group, row in shown for slot in group.slots[row].values())
    # Where TensorFlow reports structures that differ, it has put something else for the arrays.
    total = sum(size_in_bytes(slot) for slot in slots if hasattr(slot, "shape"))
    head = f"OptState(step={_shown(state.step)}, {len(shown)} leaves, slots {_readable(total)})"
    marks = {id(group): _marks(state, group) for group, _ in shown}
    lines = [_leaf_line(group, row, marks[id(group)][row], len(rules) > 1) for group, row in shown]
    notes = [note_on_missing_leaves(state), rules[0] if len(rules) == 1 else ""]
    return "\n".join([head, *(f"  {note}" for note in notes if note), *_aligned(lines)])


def _leaf_line(group: Group, row: int, mark: str, with_rule: bool) -> tuple[str, ...]:
    target = group.targets[row]
    line = (
        group.paths[row],
        str(shape_of(target)),
        dtype_name(target),
        " ".join([*group.slots[row], mark]).strip(),
    )
    return (*line, repr(group.rule)) if with_rule else line


def _marks(state: OptState, group: Group) -> list[str]:
    """What sets a leaf apart: its way to step, and what `adjust` and `freeze` have made of it."""
    return [
        " ".join(filter(None, marks))
        for marks in zip(_ways(state, group), _changes(group), strict=True)
    ]


def _ways(state: OptState, group: Group) -> list[str]:
    """How a dense gradient of all leaves of the rule would step those of this group."""
    moves = [
        Move(Place(number, row), target, grad=None)
        for number, each in enumerate(state.groups)
        if each.rule is group.rule
        for row, target in enumerate(each.targets)
    ]
    ways = ways_of(state, moves, Writer(in_place=True))
    own = [move for move in ways if state.groups[move.place.group] is group]
    return [_way(move) for move in own]


def _way(move: Move) -> str:
    if move.fused is None:
        return "compiled" if move.by_xla else ""
    ways = {"fused": move.fused.kernel is not None, "shared": move.in_stack}
    return ", ".join(name for name, is_taken in ways.items() if is_taken)


def _changes(group: Group) -> list[str]:
    """What `adjust` and `freeze` have done, where the values are known."""
    frozen = raw(group.frozen)
    if not tf.executing_eagerly() or not (is_variable(frozen) or hasattr(frozen, "numpy")):
        return [""] * len(group.paths)
    return [
        " ".join(
            [*(f"{name}={value:g}" for name, value in set_here.items())] + ["(frozen)"] * bool(flag)
        )
        for set_here, flag in zip(group.adjusted_values(), read(frozen).numpy(), strict=True)
    ]


def _shown(step: Any) -> str:
    step = raw(step)
    return str(int(step.numpy())) if tf.executing_eagerly() and hasattr(step, "numpy") else "?"


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  "
        + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _readable(count: int) -> str:
    size = float(count)
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1024 or unit == "GB":
            break
        size /= 1024
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
