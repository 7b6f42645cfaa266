"""TX102: `self.optimizer`; the state is set up where the later of optimizer and model is set."""

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
    """The attribute: `opt_state` for `self.optimizer`."""
    return naming.state_name(optimizer.path[-1], taken)


def setup_code(
    source: Source,
    tx: str,
    state: str,
    optimizer: Reference,
    parts: Sequence[Part],
    after: ast.stmt,
) -> str:
    """`self.opt_state = tx.setup(self.optimizer, self.model)`."""
    self = source.self_name(after)
    model = model_code(source, parts, after)
    return f"{self}.{state} = {tx}.setup({self}.{optimizer.path[-1]}, {model})"


def state_at(source: Source, state: str, site: ast.stmt) -> str:
    """How a site reads the state: through `self`, whatever it called the optimizer."""
    return f"{source.self_name(site)}.{state}"


rule = Rule(
    code="TX102",
    name="self-attribute",
    summary="`self.optimizer.apply_gradients(...)` becomes `update` with `self.opt_state`.",
    why="TODO",
    before="",
    after="",
)
