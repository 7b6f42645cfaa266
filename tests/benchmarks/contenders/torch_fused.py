"""PyTorch, one kernel of its own for each leaf (`fused=True`)."""

from __future__ import annotations

from contenders.torch_foreach import TorchForeach


class TorchFused(TorchForeach):
    name = "PyTorch, fused"
    rules = ("Adam", "SGD momentum", "AdamW, global norm")
    how = "fused"


contender = TorchFused
