"""Optax on JAX: one compiled step that is given its buffers back (`donate_argnums`)."""

from __future__ import annotations

from typing import Any

from contender import Contender
from workloads import LEARNING_RATE, RULES, Workload


class Optax(Contender):
    name = "Optax, jax.jit"
    needs = ("jax", "optax")
    rules = RULES

    def prepare(self, rule: str, workload: Workload) -> None:
        import jax

        optimizer = _optimizer(rule)
        self.values = [jax.numpy.array(value) for value in workload.values()]
        self.gradients = [jax.numpy.array(gradient) for gradient in workload.gradients()]
        self.state = optimizer.init(self.values)

        def step(values: Any, state: Any, gradients: Any) -> tuple[Any, Any]:
            import optax

            updates, state = optimizer.update(gradients, state, values)
            return optax.apply_updates(values, updates), state

        self._step = jax.jit(step, donate_argnums=(0, 1))

    def step(self) -> None:
        import jax

        self.values, self.state = self._step(self.values, self.state, self.gradients)
        jax.block_until_ready((self.values, self.state))


def _optimizer(rule: str) -> Any:
    import optax

    if rule == "AdamW, global norm":
        adamw = optax.adamw(LEARNING_RATE, weight_decay=0.01)
        return optax.chain(optax.clip_by_global_norm(1.0), adamw)
    if rule == "SGD momentum":
        return optax.sgd(LEARNING_RATE, momentum=0.9)
    return getattr(optax, rule.lower())(LEARNING_RATE)


contender = Optax
