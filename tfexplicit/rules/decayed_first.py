"""Weight decay for a rule that looks at the leaf."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import tensorflow as tf

from tfexplicit.composite import Composite, joined, outside
from tfexplicit.fused import Fused, within
from tfexplicit.hyperparameters import Bounds, NonNegative, check, declared
from tfexplicit.rule import LeafStep, Rule, Slots
from tfexplicit.selection import Where, concerns, expect_where
from tfexplicit.wrapper import Wrapper


class DecayedFirst(Wrapper):
    """Multiplies the leaf by `1 - weight_decay * learning_rate`, then lets `rule` step the result.

    So Keras decays with `weight_decay=`. It makes a difference for rules that look at the leaf,
    such as `Lamb` and `Adafactor`; for others it is the same as
    `Chain(rule, DecoupledWeightDecay(weight_decay))`. The learning rate is that of `rule`.

    Args:
        rule: the rule, which has a `learning_rate` itself.
        weight_decay: the factor.
        where: the leaves that decay: a path glob or a function `(path, leaf) -> bool`; all by
            default.

    Raises:
        TypeError: `rule` is not a rule, or has no learning rate.
    """

    elementwise = Composite.parts_are_elementwise

    weight_decay: NonNegative
    where: Where

    def __init__(self, rule: Rule, weight_decay: Any = 0.004, where: Where = None) -> None:
        super().__init__(rule)
        if "learning_rate" not in rule.hyperparameters():
            raise TypeError(f"DecayedFirst: {rule!r} has no learning rate to multiply with.")
        check("DecayedFirst", "weight_decay", weight_decay, declared(DecayedFirst)["weight_decay"])
        expect_where("DecayedFirst", where)
        object.__setattr__(self, "weight_decay", weight_decay)
        object.__setattr__(self, "where", where)

    @property
    def structure(self) -> Any:
        return self.where

    def arguments(self) -> dict[str, Any]:
        own = {"weight_decay": self.weight_decay, "where": self.where}
        return {**super().arguments(), **own}

    def hyperparameters(self) -> dict[str, Any]:
        return {"weight_decay": self.weight_decay, **super().hyperparameters()}

    def bounds(self) -> dict[str, Bounds]:
        return {**declared(DecayedFirst), **super().bounds()}

    def governing(self, path: str, target: Any) -> set[str]:
        own = {"weight_decay"} if concerns(self.where, path, target) else set()
        return own | super().governing(path, target)

    def step(self, at: LeafStep) -> tuple[LeafStep, Slots]:
        after, slots = self.rule.step(self.within(at))
        result = replace(outside(at, after), leaf=at.leaf)
        return result.moving_to(after.moved), joined({self.name: slots})

    def within(self, at: LeafStep) -> LeafStep:
        within = super().within(at)
        if not concerns(self.where, at.path, at.target):
            return within
        dtype = at.leaf.dtype
        decay = at.leaf * tf.cast(at.hyper["weight_decay"], dtype)
        decay = decay * tf.cast(within.hyper["learning_rate"], dtype)
        return replace(within, leaf=at.leaf - decay, becomes=None)

    def fused(self, path: str, target: Any) -> Fused | None:
        own = self.rule.fused(path, target)
        # A rule that looks at the leaf is to see it decayed, in whatever way it looks at it.
        if own is None or own.decay is not None or own.before is not None:
            return None
        whole = within(self.name, own)
        return replace(whole, decay=self._lost) if concerns(self.where, path, target) else whole

    def _lost(self, hyper: dict[str, Any]) -> Any:
        return hyper["weight_decay"] * hyper[f"{self.name}/learning_rate"]

    def __repr__(self) -> str:
        where = "" if self.where is None else ", where=..."
        return f"DecayedFirst({self.rule!r}, weight_decay={self.weight_decay!r}{where})"

    @classmethod
    def variants(cls) -> list[Rule]:
        from tfexplicit.rules.lamb import Lamb

        return [cls(Lamb(0.1), 0.1), cls(Lamb(0.1), 0.1, where="**/kernel")]
