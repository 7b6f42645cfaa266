"""Moving averages of gradients and of their squares, for the rules that adapt to them."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from tfexplicit.rule import Slots


def moving_average(average: Any, value: Any, beta: Any) -> Any:
    return average + (value - average) * tf.cast(1 - beta, average.dtype)


def blended(average: Any, value: Any, beta: Any) -> Any:
    """The same, rounded as Keras rounds it in `Lion`, in `Adafactor` and in averages of leaves."""
    beta = tf.cast(beta, value.dtype)
    return beta * average + (1 - beta) * value


def bias_correction(beta: Any, step: Any) -> Any:
    """`1 - beta ** step`, what a moving average that started at 0 has of its value by now.

    A float64 scalar: rounded to float32, `beta` would be felt in the result. Kingma and Ba 2014,
    section 3, https://arxiv.org/abs/1412.6980
    """
    return 1 - tf.pow(beta, tf.cast(step, tf.float64))


def adam_slots(leaf: Any, amsgrad: bool) -> Slots:
    names = ("momentum", "velocity", "velocity_hat") if amsgrad else ("momentum", "velocity")
    return {name: tf.zeros_like(leaf) for name in names}


def adam_moments(slots: Slots, grad: Any, beta_1: Any, beta_2: Any) -> tuple[Any, Any, Slots]:
    """`(first moment, second moment, new slots)`, of which none is corrected for its bias.

    With a slot `velocity_hat` the second is the largest so far, AMSGrad: Reddi et al. 2018,
    https://openreview.net/forum?id=ryQu7f-RZ. Of complex leaves it is that of |grad|^2.
    """
    momentum = moving_average(slots["momentum"], grad, beta_1)
    velocity = moving_average(slots["velocity"], squared(grad), beta_2)
    new = {"momentum": momentum, "velocity": velocity}
    if "velocity_hat" in slots:
        new["velocity_hat"] = velocity = larger(slots["velocity_hat"], velocity)
    return momentum, velocity, new


def squared(value: Any) -> Any:
    """|value|^2, in the dtype of `value`."""
    return value * tf.math.conj(value) if value.dtype.is_complex else tf.square(value)


def larger(a: Any, b: Any) -> Any:
    """The second moments of complex leaves are real numbers in a complex array."""
    if a.dtype.is_complex:
        return tf.where(tf.math.real(a) > tf.math.real(b), a, b)
    return tf.maximum(a, b)


def root(value: Any) -> Any:
    """The square root of a second moment; at 0 its gradient is 0, where that of `sqrt` is NaN."""
    return tf.cast(_root(tf.math.real(value)), value.dtype)


@tf.custom_gradient  # type: ignore[untyped-decorator]
def _root(value: Any) -> Any:
    """A single op going forward, for the steps that nobody differentiates."""
    result = tf.sqrt(value)

    def gradient(upstream: Any) -> Any:
        at_zero = tf.equal(value, 0)
        # Through `root` again, so that derivatives of derivatives are finite too.
        slope = 0.5 / tf.where(at_zero, tf.ones_like(value), _root(value))
        return tf.where(at_zero, tf.zeros_like(upstream), upstream * slope)

    return result, gradient
