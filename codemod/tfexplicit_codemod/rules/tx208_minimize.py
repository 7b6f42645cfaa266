"""TX208: `minimize` computes the gradients itself."""

from __future__ import annotations

from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.registry import Rule


def leave(call: str) -> Leave:
    return Leave(
        rule.code,
        f"`{call}` makes its own tape: write `tx.minimize(loss_fn, opt_state, model)`",
    )


rule = Rule(
    code="TX208",
    name="minimize",
    summary="`minimize` computes the gradients itself.",
    why="TODO",
    before="",
    after="",
)
