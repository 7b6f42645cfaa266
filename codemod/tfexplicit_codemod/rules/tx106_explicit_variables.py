"""TX106: explicit variables, `[W, b]` or `[(grad, image)]`: the state is set up on that list."""

from __future__ import annotations

from tfexplicit_codemod.registry import Rule

rule = Rule(
    code="TX106",
    name="explicit-variables",
    summary="A list of variables, `[W, b]`, is itself the model of the state.",
    why="TODO",
    before="",
    after="",
)
