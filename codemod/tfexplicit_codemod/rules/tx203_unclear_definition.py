"""TX203: the optimizer or model is bound in a way that leaves the place of `setup` open."""

from __future__ import annotations

from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.registry import Rule


def leave(what: str) -> Leave:
    return Leave(
        rule.code,
        what,
    )


rule = Rule(
    code="TX203",
    name="unclear-definition",
    summary="The optimizer or model is bound in a way that leaves the place of `setup` open.",
    why="TODO",
    before="",
    after="",
)
