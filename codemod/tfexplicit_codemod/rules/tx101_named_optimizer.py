"""TX101: an optimizer held by a name of a module or function, captured by functions or not."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from tfexplicit_codemod.analysis import naming
from tfexplicit_codemod.analysis.references import Reference
from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.analysis.variables import Part
from tfexplicit_codemod.registry import Rule
from tfexplicit_codemod.rules.tx105_several_models import model_code


def state_name(optimizer: Reference, taken: Collection[str]) -> str:
    """`opt_state` for `optimizer`; a free name, so that no function in between hides it."""
    return naming.state_name(optimizer.path[-1], taken)


def setup_code(
    source: Source,
    tx: str,
    state: str,
    optimizer: Reference,
    parts: Sequence[Part],
    after: ast.stmt,
) -> str:
    """`opt_state = tx.setup(optimizer, model)`."""
    return f"{state} = {tx}.setup({optimizer.path[-1]}, {model_code(source, parts, after)})"


def state_at(source: Source, state: str, site: ast.stmt) -> str:
    """How a site reads the state: by its name, as it read the optimizer."""
    return state


rule = Rule(
    code="TX101",
    name="named-optimizer",
    summary="`optimizer.apply_gradients(zip(grads, model.trainable_variables))` becomes `update`.",
    why="TODO",
    before="",
    after="",
)
