"""TX209: the optimizer is an element of a list or dict."""

from __future__ import annotations

from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.registry import Rule


def leave(receiver: str) -> Leave:
    return Leave(
        rule.code,
        f"`{receiver}` is an element of a container: make a container of states",
    )


rule = Rule(
    code="TX209",
    name="optimizer-in-container",
    summary="The optimizer is an element of a list or dict.",
    why="TODO",
    before="",
    after="",
)
