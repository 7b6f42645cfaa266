"""TX216: the optimizer scales the loss."""

from __future__ import annotations

from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.registry import Rule


def leave(receiver: str) -> Leave:
    return Leave(
        rule.code,
        f"`{receiver}` scales the loss: scaling, unscaling and update must move together",
    )


rule = Rule(
    code="TX216",
    name="loss-scale",
    summary="The optimizer scales the loss.",
    why="TODO",
    before="",
    after="",
)
