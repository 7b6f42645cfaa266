"""TX212: the (gradient, variable) pairs are not understood."""

from __future__ import annotations

from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.registry import Rule


def leave(pairs: str) -> Leave:
    return Leave(
        rule.code,
        f"cannot see the gradients and variables in `{pairs}`: zip them in the call",
    )


rule = Rule(
    code="TX212",
    name="pairs",
    summary="The (gradient, variable) pairs are not understood.",
    why="TODO",
    before="",
    after="",
)
