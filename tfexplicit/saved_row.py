"""What a checkpoint holds of one leaf besides its slots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from tfexplicit.arrays import raw, read


class SavedRow(tf.__internal__.tracking.Trackable):  # type: ignore[misc]
    """A leaf's entries in the vectors of its group: hyperparameters, freezing, counts.

    It is saved under the leaf's path, and so finds the leaf again wherever that stands among the
    others.
    """

    def __init__(self, vectors: Mapping[str, Any], row: int) -> None:
        # A slash in the name of a tensor is not found again.
        self._vectors = {name.replace("/", ":"): vector for name, vector in vectors.items()}
        self._row = row

    def _serialize_to_tensors(self) -> dict[str, Any]:
        return {name: read(vector)[self._row] for name, vector in self._vectors.items()}

    def _restore_from_tensors(self, restored: Mapping[str, Any]) -> None:
        for name, vector in self._vectors.items():
            value = tf.reshape(restored[name], [1])
            filled = tf.tensor_scatter_nd_update(read(vector), [[self._row]], value)
            raw(vector).assign(filled)

    def _copy_trackable_to_cpu(self, object_map: dict[Any, Any]) -> None:
        """For a checkpoint that is written while training goes on."""
        variables = {name: raw(vector) for name, vector in self._vectors.items()}
        for variable in variables.values():
            variable._copy_trackable_to_cpu(object_map)
        copies = {name: object_map[variable] for name, variable in variables.items()}
        object_map.setdefault(self, SavedRow(copies, self._row))
