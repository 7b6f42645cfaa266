"""The loss of an update: what the latest tape differentiated with respect to its leaves."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any


class Losses:
    """Remembers, for each source of a gradient, what was differentiated, until its update."""

    def __init__(self) -> None:
        self._thread = threading.local()

    def saw_gradient(self, target: Any, sources: Any) -> None:
        import tensorflow as tf

        if tf.is_tensor(target) and target.dtype.is_floating:
            self._targets().update({id(source): target for source in tf.nest.flatten(sources)})

    def taken_for(self, leaves: Sequence[Any]) -> list[Any]:
        """One float64 scalar; none where the tape is not known, or ran in another graph."""
        import tensorflow as tf

        targets = [self._targets().pop(id(leaf), None) for leaf in leaves]
        target = next((each for each in targets if each is not None), None)
        if target is None or not _can_be_read_here(target):
            return []
        return [tf.reduce_sum(tf.cast(target, tf.float64))]

    def _targets(self) -> dict[int, Any]:
        targets: dict[int, Any] = self._thread.__dict__.setdefault("targets", {})
        return targets


def _can_be_read_here(tensor: Any) -> bool:
    """Inside a graph: if it is of that graph, or of one around it."""
    import tensorflow as tf

    if tf.executing_eagerly():
        return hasattr(tensor, "numpy")
    graph = tf.compat.v1.get_default_graph()
    while graph is not None:
        if getattr(tensor, "graph", None) is graph:
            return True
        graph = getattr(graph, "outer_graph", None)
    return False
