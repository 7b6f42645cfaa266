"""The numbers by which the leaves of stacks are stepped, as vectors with an entry per leaf."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from tfexplicit.by_kernel import Ready
from tfexplicit.fused import Kernel, Scalars


class Numbers(NamedTuple):
    """Hyperparameters, by their names in the kernel's rule, and counts."""

    hyper: dict[str, Any]
    step: Any
    # True where a leaf stays as it is; None if none can.
    stays: Any
    # The factor of itself that a leaf loses to decay; None if none decays.
    lost: Any

    def split(self, sizes: Sequence[int]) -> list[Numbers]:
        """For stacks of so many leaves, those of each."""

        def pieces(vector: Any) -> list[Any]:
            return [None] * len(sizes) if vector is None else tf.split(vector, sizes)

        hyper = {name: pieces(vector) for name, vector in self.hyper.items()}
        others = zip(*map(pieces, (self.step, self.stays, self.lost)), strict=True)
        return [
            Numbers({name: piece[number] for name, piece in hyper.items()}, *other)
            for number, other in enumerate(others)
        ]

    def are_equal(self, sizes: Sequence[int]) -> list[Any]:
        """True for a stack of which all leaves move, and by the same numbers."""
        firsts = np.repeat(_firsts(sizes), sizes)
        same = [each == tf.gather(each, firsts) for each in (*self.hyper.values(), self.step)]
        moving = [] if self.stays is None else [~self.stays]
        as_the_first = tf.reduce_all([*same, *moving], axis=0)
        stack_of_leaf = np.repeat(np.arange(len(sizes)), sizes)
        least = tf.math.unsorted_segment_min(
            tf.cast(as_the_first, tf.int32), stack_of_leaf, len(sizes)
        )
        return tf.unstack(least > 0, num=len(sizes))  # type: ignore[no-any-return]

    def scalars(self, kernel: Kernel, sizes: Sequence[int], dtype: Any) -> list[Scalars]:
        """What the op gets for a stack if its numbers are equal."""
        firsts = _firsts(sizes)
        hyper = {name: tf.gather(vector, firsts) for name, vector in self.hyper.items()}
        vectors = kernel.scalars(hyper, tf.gather(self.step, firsts), dtype)
        columns = {name: tf.unstack(each, num=len(sizes)) for name, each in vectors.items()}
        return [
            {name: column[number] for name, column in columns.items()}
            for number in range(len(sizes))
        ]


def _firsts(sizes: Sequence[int]) -> Any:
    """Where the numbers of a stack start."""
    return np.cumsum([0, *sizes[:-1]])


def numbers_of(leaves: Sequence[Ready]) -> Numbers:
    """In the order of the leaves, which are of one group and kernel."""
    fused, leaf = leaves[0].fused, leaves[0].leaf
    entries = [one.leaf.move.place.row for one in leaves]
    hyper = {name: tf.gather(vector, entries) for name, vector in leaf.vectors.hyper.items()}
    if fused.before is None:
        step = tf.gather(leaf.vectors.step, entries)
        stays = None if leaf.frozen is None else tf.gather(leaf.vectors.frozen, entries)
    else:
        # The rules before the op may count otherwise, and let leaves rest.
        step = tf.stack([one.at.step for one in leaves])
        can_stay = any(one.stays is not None for one in leaves)
        stays = [one.stays is not None and one.stays for one in leaves]
        stays = tf.stack(stays) if can_stay else None
    lost = None if fused.decay is None else fused.decay(hyper)
    if lost is not None and stays is not None:
        lost = tf.where(stays, tf.zeros_like(lost), lost)
    return Numbers(fused.own(hyper), step, stays, lost)
