"""TX204: the optimizer is the one given to `compile`."""

from __future__ import annotations

from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.registry import Rule


def leave(receiver: str) -> Leave:
    return Leave(
        rule.code,
        f"`{receiver}` is the optimizer given to `compile`: make the state there",
    )


rule = Rule(
    code="TX204",
    name="compiled-optimizer",
    summary="The optimizer is the one given to `compile`.",
    why="TODO",
    before="",
    after="",
)
