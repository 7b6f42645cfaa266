"""TX201: the optimizer is a parameter of the function that updates."""

from __future__ import annotations

from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.registry import Rule


def leave(parameter: str, function: str) -> Leave:
    return Leave(
        rule.code,
        f"`{parameter}` is a parameter of `{function}`: make the state at the caller and pass it",
    )


rule = Rule(
    code="TX201",
    name="optimizer-parameter",
    summary="The optimizer is a parameter of the function that updates.",
    why="TODO",
    before="",
    after="",
)
