"""Keras 3 without a `tf.function`."""

from __future__ import annotations

from contenders.keras_function import KerasInFunction


class KerasEager(KerasInFunction):
    name = "Keras 3, eager"
    kinds = ("dense", "sparse")
    traced = False


contender = KerasEager
