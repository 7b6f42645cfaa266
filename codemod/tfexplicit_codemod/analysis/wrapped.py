"""Optimizers that are wrapped, perhaps, before anything uses them.

optimizer = Adam()
if amp:
    optimizer = LossScaleOptimizer(optimizer)
"""

from __future__ import annotations

import ast

from tfexplicit_codemod.analysis.definite import Definition
from tfexplicit_codemod.analysis.scopes import Scope
from tfexplicit_codemod.analysis.source import Source


def is_wrapped(source: Source, made: Definition, function: Scope, sites: list[ast.stmt]) -> bool:
    """True where the steps are in the function that makes the optimizer, and every earlier value
    goes into a later one, and nowhere else."""
    bound = [source.statement(b.node) for b in function.bindings.get(made.name, [])]
    if not made.earlier or set(bound) != set(made.binders):
        return False
    if any(source.scope(site) is not function for site in sites):
        return False
    end = made.statement.end_lineno or made.line
    return all(
        source.statement(name) in made.binders
        for name in source.nodes(ast.Name)
        if name.id == made.name
        and name.lineno <= end
        and source.scope(name).lookup(name.id) is function
    )
