"""TX211: the call is inside an optimizer class."""

from __future__ import annotations

from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.registry import Rule


def leave(receiver: str) -> Leave:
    return Leave(
        rule.code,
        f"`{receiver}` is stepped inside an optimizer class: `setup` takes that class as it is",
    )


rule = Rule(
    code="TX211",
    name="inside-optimizer",
    summary="The call is inside an optimizer class.",
    why="TODO",
    before="",
    after="",
)
