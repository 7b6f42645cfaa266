"""TX205: the receiver cannot be proven to be a Keras optimizer."""

from __future__ import annotations

from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.registry import Rule


def leave(receiver: str) -> Leave:
    return Leave(
        rule.code,
        f"cannot prove that `{receiver}` is a Keras optimizer",
    )


rule = Rule(
    code="TX205",
    name="unproven-optimizer",
    summary="The receiver cannot be proven to be a Keras optimizer.",
    why="TODO",
    before="",
    after="",
)
