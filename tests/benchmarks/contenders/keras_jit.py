"""Keras 3, compiled by XLA."""

from __future__ import annotations

from contenders.keras_function import KerasInFunction


class KerasCompiled(KerasInFunction):
    name = "Keras 3, jit_compile"
    kinds = ("dense", "training")
    jit_compile = True


contender = KerasCompiled
