"""The norms and sums of gradients, dense, sparse or None."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf

from tfexplicit_codemod.verify.digest import Array, merged_rows, norm_and_sum


def inputs_of(gradients: Sequence[Any]) -> list[Any]:
    """The tensors to read, from which `norms_and_sums` computes."""
    tensors: list[Any] = []
    for gradient in gradients:
        if isinstance(gradient, tf.IndexedSlices):
            tensors += [gradient.values, gradient.indices]
        elif gradient is not None:
            tensors.append(tf.convert_to_tensor(gradient))
    return tensors


def norms_and_sums(
    arrays: Iterator[Array], gradients: Sequence[Any]
) -> list[tuple[float, float] | None]:
    digests: list[tuple[float, float] | None] = []
    for gradient in gradients:
        if gradient is None:
            digests.append(None)
        elif isinstance(gradient, tf.IndexedSlices):
            digests.append(norm_and_sum(merged_rows(next(arrays), next(arrays))))
        else:
            digests.append(norm_and_sum(next(arrays)))
    return digests
