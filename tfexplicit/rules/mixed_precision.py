"""Small leaves, with a copy of each that rounds less."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import tensorflow as tf

from tfexplicit.arrays import raw
from tfexplicit.composite import Composite, joined, outside
from tfexplicit.fused import Fused, within
from tfexplicit.rule import LeafStep, Rule, Slots
from tfexplicit.wrapper import Wrapper


class MixedPrecision(Wrapper):
    """Lets `rule` work on a copy of each float16 or bfloat16 leaf, in `dtype`.

    Micikevicius et al. 2018, https://arxiv.org/abs/1710.03740. Steps too small for the leaf's dtype
    add up in the copy, and moments do not underflow; after each step the leaf is exactly the copy,
    rounded. Where the leaf is something else before a step (weights were loaded, a constraint was
    applied), the copy starts anew from it.

    The slot `master` has the leaf's shape and `dtype`, and the rule's slots have `dtype` too. A
    leaf that is of this precision already (float32, as in Keras' policy `"mixed_float16"`) needs no
    copy and has none. It wraps the whole rule: `MixedPrecision(Chain(ClipByNorm(1.0), Adam()))`.

    Args:
        rule: any rule but one that holds another `MixedPrecision`.
        dtype: of the copies: `"float32"` or `"float64"`, as a name or a `tf.DType`.

    Raises:
        TypeError: `rule` is not a rule.
        ValueError: another dtype.
    """

    elementwise = Composite.parts_are_elementwise
    wraps_whole_rule: ClassVar[bool] = True
    dtype: Any

    def __init__(self, rule: Rule, dtype: Any = "float32") -> None:
        super().__init__(rule)
        if tf.as_dtype(dtype) not in (tf.float32, tf.float64):
            raise ValueError(
                f'MixedPrecision: `dtype` must be "float32" or "float64", got {dtype!r}.'
            )
        object.__setattr__(self, "dtype", tf.as_dtype(dtype))

    def arguments(self) -> dict[str, Any]:
        return {**super().arguments(), "dtype": self.dtype}

    @property
    def structure(self) -> Any:
        return self.dtype

    def begin(self, path: str, leaf: Any, target: Any) -> Slots:
        if not self._has_master(target):
            return super().begin(path, leaf, target)
        master = tf.cast(leaf, self.dtype)
        return {"master": tf.zeros_like(master), **super().begin(path, master, target)}

    def step(self, at: LeafStep) -> tuple[LeafStep, Slots]:
        within = self.within(at)
        after, own = self.rule.step(within)
        slots = joined({self.name: own})
        if not self._has_master(at.target):
            return outside(at, after), slots
        master = after.moved
        if after.active is not None:
            master = tf.where(after.active, master, within.leaf)
        result = replace(outside(at, after), leaf=at.leaf)
        return result.moving_to(tf.cast(master, _dtype(at.target))), {"master": master, **slots}

    def fused(self, path: str, target: Any) -> Fused | None:
        own = None if self._has_master(target) else self.rule.fused(path, target)
        return None if own is None else within(self.name, own)

    def _has_master(self, target: Any) -> bool:
        dtype = _dtype(target)
        return bool(dtype.is_floating and dtype.size < self.dtype.size)

    def within(self, at: LeafStep) -> LeafStep:
        """The step as the rule sees it: on the copy."""
        within = super().within(at)
        if not self._has_master(at.target):
            return within
        master, own = at.slots["master"], _dtype(at.target)
        is_its_own = tf.equal(_bits(tf.cast(master, own)), _bits(tf.cast(at.leaf, own)))
        master = tf.where(is_its_own, master, tf.cast(at.leaf, self.dtype))
        return replace(within, leaf=master, grad=tf.cast(at.grad, self.dtype), becomes=None)

    def __repr__(self) -> str:
        shown = "" if self.dtype == tf.float32 else f", dtype={self.dtype.name!r}"
        return f"MixedPrecision({self.rule!r}{shown})"

    @classmethod
    def variants(cls) -> list[Rule]:
        from tfexplicit.rules.adam import Adam

        return [cls(Adam(0.1)), cls(Adam(0.1), dtype="float64")]


def _dtype(target: Any) -> Any:
    return tf.as_dtype(raw(target).dtype)


def _bits(array: Any) -> Any:
    """Compilers may skip the rounding of a number that is only compared, but not that of bits."""
    return tf.bitcast(array, {1: tf.uint8, 2: tf.uint16, 4: tf.uint32}[array.dtype.size])
