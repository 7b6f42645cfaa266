"""TX206: the list of variables is not understood."""

from __future__ import annotations

from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.registry import Rule


def leave(variables: str, why: str) -> Leave:
    return Leave(
        rule.code,
        f"variable list `{variables}` is not understood: {why}",
    )


rule = Rule(
    code="TX206",
    name="variable-list",
    summary="The list of variables is not understood.",
    why="TODO",
    before="",
    after="",
)
