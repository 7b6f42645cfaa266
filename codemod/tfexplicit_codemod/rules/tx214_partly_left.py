"""TX214: another update of the same optimizer is left."""

from __future__ import annotations

from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.registry import Rule


def leave(receiver: str, line: int) -> Leave:
    return Leave(
        rule.code,
        f"`{receiver}` is also stepped at line {line}, which is left: keep both the same",
    )


rule = Rule(
    code="TX214",
    name="partly-left",
    summary="Another update of the same optimizer is left.",
    why="TODO",
    before="",
    after="",
)
