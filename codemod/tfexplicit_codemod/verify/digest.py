"""What is kept of an array: enough to see that two differ, and by how much."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def digest_of(array: Array) -> tuple[int, float, float, float]:
    """The crc32 of its bytes, and its L2 norm, sum and first value in float64."""
    flat = np.ascontiguousarray(array).reshape(-1)
    crc = zlib.crc32(flat.view(np.uint8).data)
    parts = _real_parts(flat)
    first = float(parts[0]) if parts.size else 0.0
    return crc, float(np.sqrt(np.dot(parts, parts))), float(parts.sum()), first


def squared_norm(array: Array) -> float:
    parts = _real_parts(array.reshape(-1))
    return float(np.dot(parts, parts))


def merged_rows(values: Array, indices: Array) -> Array:
    """The rows of a sparse gradient, those with the same index added up."""
    unique, position = np.unique(indices, return_inverse=True)
    merged = np.zeros((len(unique), *values.shape[1:]), np.float64)
    np.add.at(merged, position.reshape(-1), values)
    return merged


def _real_parts(flat: Array) -> Array:
    if np.iscomplexobj(flat):
        return flat.astype(np.complex128).view(np.float64)
    return flat.astype(np.float64)
