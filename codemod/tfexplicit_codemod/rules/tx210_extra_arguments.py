"""TX210: the update has arguments that `update` does not take."""

from __future__ import annotations

from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.registry import Rule


def leave(argument: str) -> Leave:
    return Leave(
        rule.code,
        f"`{argument}` has no counterpart in `tx.update`",
    )


rule = Rule(
    code="TX210",
    name="extra-arguments",
    summary="The update has arguments that `update` does not take.",
    why="TODO",
    before="",
    after="",
)
