"""A loop over the fused ops of TensorFlow, by hand: what any route through them can reach."""

from __future__ import annotations

from typing import Any

from tensorflow_step import TensorFlowContender, Update
from workloads import LEARNING_RATE


class RawOps(TensorFlowContender):
    name = "loop of fused ops, tf.function"
    needs = ("tensorflow", "keras")
    rules = ("Adam", "SGD momentum", "RMSprop")

    def update_of(self, rule: str, variables: list[Any]) -> Update:
        import tensorflow as tf

        one, two = ([tf.Variable(tf.zeros_like(v)) for v in variables] for _ in range(2))
        count = tf.Variable(0.0)
        rate = tf.constant(LEARNING_RATE)

        def adam(v: Any, m: Any, s: Any, g: Any) -> None:
            tf.raw_ops.ResourceApplyAdam(
                var=v.handle,
                m=m.handle,
                v=s.handle,
                beta1_power=0.9**count,
                beta2_power=0.999**count,
                lr=rate,
                beta1=0.9,
                beta2=0.999,
                epsilon=1e-7,
                grad=g,
            )

        def momentum(v: Any, m: Any, s: Any, g: Any) -> None:
            tf.raw_ops.ResourceApplyKerasMomentum(
                var=v.handle, accum=m.handle, lr=rate, grad=g, momentum=0.9
            )

        def rmsprop(v: Any, m: Any, s: Any, g: Any) -> None:
            tf.raw_ops.ResourceApplyRMSProp(
                var=v.handle,
                ms=m.handle,
                mom=s.handle,
                lr=rate,
                rho=0.9,
                momentum=0.0,
                epsilon=1e-7,
                grad=g,
            )

        apply = {"Adam": adam, "SGD momentum": momentum, "RMSprop": rmsprop}[rule]

        def update(gradients: list[Any]) -> None:
            count.assign_add(1.0)
            for variable, m, s, gradient in zip(variables, one, two, gradients, strict=True):
                apply(variable, m, s, gradient)

        return update


contender = RawOps
