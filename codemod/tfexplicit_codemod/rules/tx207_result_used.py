"""TX207: the update is part of another expression."""

from __future__ import annotations

from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.registry import Rule


def leave(call: str) -> Leave:
    return Leave(
        rule.code,
        f"the value of `{call}` is used, or the call is not a statement",
    )


rule = Rule(
    code="TX207",
    name="result-used",
    summary="The update is part of another expression.",
    why="TODO",
    before="",
    after="",
)
