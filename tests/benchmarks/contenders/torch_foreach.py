"""PyTorch, one operation for all leaves (`foreach=True`)."""

from __future__ import annotations

from typing import Any

from contender import Contender
from machine import CORES
from workloads import LEARNING_RATE, Workload


class TorchForeach(Contender):
    name = "PyTorch, foreach"
    needs = ("torch",)
    rules = ("Adam", "SGD momentum", "AdamW, global norm", "RMSprop", "Adafactor")
    how = "foreach"

    def prepare(self, rule: str, workload: Workload) -> None:
        import torch

        torch.set_num_threads(CORES)
        self.values = [torch.nn.Parameter(torch.tensor(value)) for value in workload.values()]
        for value, gradient in zip(self.values, workload.gradients(), strict=True):
            value.grad = torch.tensor(gradient)
        self.clips = rule == "AdamW, global norm"
        self.optimizer = self._optimizer(rule)

    def _optimizer(self, rule: str) -> Any:
        import torch

        given: dict[str, Any] = {"lr": LEARNING_RATE, self.how: True}
        if rule == "SGD momentum":
            return torch.optim.SGD(self.values, momentum=0.9, **given)
        name = {"AdamW, global norm": "AdamW"}.get(rule, rule)
        return getattr(torch.optim, name)(self.values, **given)

    def step(self) -> None:
        import torch

        if self.clips:
            torch.nn.utils.clip_grad_norm_(self.values, 1.0, foreach=True)
        self.optimizer.step()


contender = TorchForeach
