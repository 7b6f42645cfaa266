"""TX215: a comment inside the call would be lost."""

from __future__ import annotations

from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.registry import Rule


def leave(line: int) -> Leave:
    return Leave(
        rule.code,
        f"the comment at line {line} is inside the call and would be lost: move it above",
    )


rule = Rule(
    code="TX215",
    name="comment-inside",
    summary="A comment inside the call would be lost.",
    why="TODO",
    before="",
    after="",
)
