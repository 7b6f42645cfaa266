"""What is kept of an array: enough to see that two differ, and by how much."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@np.errstate(all="ignore")  # whatever the program asked NumPy to do about NaN and overflow
def digest_of(array: Array, before: Array) -> tuple[int | float, ...]:
    """The numbers of a `records.Leaf`, of an array and what it held before the update."""
    flat = np.ascontiguousarray(array).reshape(-1)
    crc = zlib.crc32(flat.view(np.uint8).data)
    parts = _real_parts(flat)
    first = float(parts[0]) if parts.size else 0.0
    steps = parts - _real_parts(before.reshape(-1))
    # One NaN would make each of the sums a NaN, in which every other difference is lost.
    finite, finite_steps = parts[np.isfinite(parts)], steps[np.isfinite(steps)]
    moved = parts[np.isfinite(steps) & (steps != 0)]
    return (
        crc,
        _norm(finite),
        float(finite.sum()),
        first,
        parts.size - finite.size,
        _norm(finite_steps),
        float(finite_steps.sum()),
        float(finite_steps @ _signs(steps.size)[np.isfinite(steps)]),
        moved.size,
        _norm(moved),
    )


def norm_and_sum(array: Array) -> tuple[float, float]:
    parts = _real_parts(array.reshape(-1))
    return _norm(parts), float(parts.sum())


def merged_rows(values: Array, indices: Array) -> Array:
    """The rows of a sparse gradient, those with the same index added up."""
    unique, position = np.unique(indices, return_inverse=True)
    merged = np.zeros((len(unique), *values.shape[1:]), np.float64)
    np.add.at(merged, position.reshape(-1), values)
    return merged


def _signs(size: int) -> Array:
    """1 or -1 for each place, at random but always the same: what moves to another place shows."""
    return 1 - 2 * np.random.Generator(np.random.PCG64(0)).integers(0, 2, size, np.int8)


def _norm(parts: Array) -> float:
    return float(np.sqrt(np.dot(parts, parts)))


def _real_parts(flat: Array) -> Array:
    if np.iscomplexobj(flat):
        return flat.astype(np.complex128).view(np.float64)
    return flat.astype(np.float64)
