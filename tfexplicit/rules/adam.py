"""Adam."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf

from tfexplicit.fused import Fused, Kernel, Scalars
from tfexplicit.hyperparameters import Fraction, NonNegative
from tfexplicit.keras_optimizers.form import KerasForm
from tfexplicit.moments import adam_moments, adam_slots, root
from tfexplicit.rule import Rule, Slots


def adam_step(
    slots: Slots, grad: Any, step: Any, learning_rate: Any, beta_1: Any, beta_2: Any, epsilon: Any
) -> tuple[Any, Slots]:
    """`(step to subtract, new slots)`, with epsilon and bias correction where Keras has them.

    Kingma and Ba 2014, https://arxiv.org/abs/1412.6980 ("epsilon hat" of section 2.1); with a slot
    `velocity_hat`, AMSGrad: Reddi et al. 2018, https://openreview.net/forum?id=ryQu7f-RZ.
    The hyperparameters are float64 scalars; complex leaves use |grad|^2.
    """
    dtype = grad.dtype
    count = tf.cast(step, dtype)
    beta_1_power = tf.pow(tf.cast(beta_1, dtype), count)
    beta_2_power = tf.pow(tf.cast(beta_2, dtype), count)
    alpha = tf.cast(learning_rate, dtype) * tf.sqrt(1 - beta_2_power) / (1 - beta_1_power)
    momentum, velocity, new = adam_moments(slots, grad, beta_1, beta_2)
    return momentum * alpha / (root(velocity) + tf.cast(epsilon, dtype)), new


def _run(leaf: Any, grad: Any, slots: Slots, scalars: Scalars) -> Any:
    return tf.raw_ops.ResourceApplyAdam(
        var=leaf, m=slots["momentum"], v=slots["velocity"], grad=grad, **scalars
    )


def _scalars(hyper: dict[str, Any], step: Any, dtype: Any) -> Scalars:
    named = {"beta1": "beta_1", "beta2": "beta_2", "epsilon": "epsilon"}
    scalars = {argument: tf.cast(hyper[name], dtype) for argument, name in named.items()}
    count = tf.cast(step, dtype)
    powers = {f"{beta}_power": tf.pow(scalars[beta], count) for beta in ("beta1", "beta2")}
    first, second = (_excess(hyper[name], step, dtype) for name in ("beta_1", "beta_2"))
    learning_rate = hyper["learning_rate"] * tf.sqrt(second) / first
    return {"lr": tf.cast(learning_rate, dtype), **scalars, **powers}


def _excess(beta: Any, step: Any, dtype: Any) -> Any:
    """The average that the op has of a constant, divided by the one that the formula has.

    The op takes `1 - beta` in the dtype of the leaf: in float32, for 0.999, it is off by 1.3e-5.
    """
    of_op = 1 - tf.pow(tf.cast(tf.cast(beta, dtype), tf.float64), tf.cast(step, tf.float64))
    taken = tf.cast(tf.cast(1 - beta, dtype), tf.float64)
    of_formula = 1 - tf.pow(1 - taken, tf.cast(step, tf.float64))
    return tf.math.divide_no_nan(of_op, of_formula)


SLOTS = ("momentum", "velocity")
ADAM = Kernel(
    _run,
    _scalars,
    at_rest={
        "lr": 0.0,
        "beta1": 1.0,
        "beta2": 1.0,
        "epsilon": 1.0,
        "beta1_power": 0.0,
        "beta2_power": 0.0,
    },
)


@dataclass(frozen=True, eq=False, repr=False)
class Adam(Rule):
    """Arguments, defaults and numerics of `keras.optimizers.Adam`.

    Kingma and Ba 2014, https://arxiv.org/abs/1412.6980 (epsilon is the "epsilon hat" of section
    2.1); `amsgrad`: Reddi et al. 2018, https://openreview.net/forum?id=ryQu7f-RZ. Complex leaves
    use |grad|^2.

    Slots `momentum`, `velocity`, with `amsgrad` also `velocity_hat`: shape and dtype (at least
    float32) of the leaf.
    """

    rowwise: ClassVar[bool] = True
    elementwise: ClassVar[bool] = True
    keeps_slots_with: ClassVar[Mapping[str, float]] = {"beta_1": 1.0, "beta_2": 1.0}

    keras: ClassVar[KerasForm] = KerasForm(
        "Adam",
        slots={
            "momentum": "_momentums",
            "velocity": "_velocities",
            "velocity_hat": "_velocity_hats",
        },
        with_weight_decay="AdamW",
        requires={"adaptive_epsilon": False},
    )

    learning_rate: NonNegative = 0.001
    beta_1: Fraction = 0.9
    beta_2: Fraction = 0.999
    epsilon: NonNegative = 1e-7
    amsgrad: bool = False

    def init(self, leaf: Any) -> Slots:
        return adam_slots(leaf, self.amsgrad)

    def apply(self, slots: Slots, leaf: Any, grad: Any, step: Any) -> tuple[Any, Slots]:
        return adam_step(
            slots, grad, step, self.learning_rate, self.beta_1, self.beta_2, self.epsilon
        )

    def fused(self, path: str, target: Any) -> Fused | None:
        # The op that knows `amsgrad` cannot be compiled by XLA.
        return None if self.amsgrad else Fused(self, SLOTS, ADAM)

    @classmethod
    def variants(cls) -> list[Rule]:
        return [cls(), cls(amsgrad=True)]
