"""TX202: the model or variable comes from where the optimizer is not."""

from __future__ import annotations

from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.registry import Rule


def leave(model: str, how: str) -> Leave:
    return Leave(
        rule.code,
        f"`{model}` {how}, so there is no place to set the state up",
    )


rule = Rule(
    code="TX202",
    name="model-out-of-sight",
    summary="The model or variable comes from where the optimizer is not.",
    why="TODO",
    before="",
    after="",
)
