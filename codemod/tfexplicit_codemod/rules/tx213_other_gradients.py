"""TX213: the gradients were taken by other variables than are updated."""

from __future__ import annotations

from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.registry import Rule


def leave(sources: str, variables: str) -> Leave:
    return Leave(
        rule.code,
        f"gradients are by `{sources}`, but the update is of `{variables}`",
    )


rule = Rule(
    code="TX213",
    name="other-gradients",
    summary="The gradients were taken by other variables than are updated.",
    why="TODO",
    before="",
    after="",
)
