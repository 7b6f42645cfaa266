"""`tx.update` in a `tf.function`."""

from __future__ import annotations

from typing import Any

from tensorflow_step import TensorFlowContender, Update
from workloads import LEARNING_RATE, RULES


class Ours(TensorFlowContender):
    name = "tfexplicit, tf.function"
    needs = ("tensorflow", "keras")
    rules = RULES
    kinds = ("dense", "sparse", "training")
    keras_variables = True
    sparse = "dense"

    def update_of(self, rule: str, variables: list[Any]) -> Update:
        import tfexplicit as tx

        opt_state = tx.setup(_rule(rule), variables, sparse=self.sparse)
        return lambda gradients: tx.update(opt_state, variables, gradients)


def _rule(rule: str) -> Any:
    import tfexplicit as tx

    if rule == "AdamW, global norm":
        adamw = tx.AdamW(LEARNING_RATE, weight_decay=0.01)
        return tx.Chain(tx.ClipByGlobalNorm(1.0), adamw)
    if rule == "SGD momentum":
        return tx.SGD(LEARNING_RATE, momentum=0.9)
    return getattr(tx, rule)(LEARNING_RATE)


contender = Ours
