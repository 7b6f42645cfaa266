"""TX104: `tape.gradient(loss, model.trainable_variables)` reads `tx.trainables(model)`."""

from __future__ import annotations

from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.analysis.variables import Leaves
from tfexplicit_codemod.edits import Replace
from tfexplicit_codemod.registry import Rule


def edits(source: Source, tx: str, tape_variables: Leaves | None) -> list[Replace]:
    """The tape's variables through `trainables`; explicit variables stay as they are written."""
    if tape_variables is None or not all(part.is_model for part in tape_variables.parts):
        return []
    node = tape_variables.origin
    first, last = source.start(node), source.end(node)
    if any(first[0] <= line < last[0] for line in source.comment_lines):
        return []
    return [Replace(first, last, f"{tx}.trainables({tape_variables.text})")]


rule = Rule(
    code="TX104",
    name="trainables",
    summary="`model.trainable_variables` that feed the tape become `tx.trainables(model)`.",
    why="TODO",
    before="",
    after="",
)
