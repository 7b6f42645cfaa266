"""All that a name, or an attribute of `self`, is assigned."""

from __future__ import annotations

import ast

from tfexplicit_codemod.analysis.classes import Classes
from tfexplicit_codemod.analysis.versions import VersionTable


def held_values(classes: Classes, versions: VersionTable, node: ast.expr) -> list[ast.expr | None]:
    """None for what no plain assignment gives; an empty list for other expressions."""
    if isinstance(node, ast.Name):
        return [binding.whole for binding in versions.bindings(node)]
    if not isinstance(node, ast.Attribute):
        return []
    own = classes.self_of(node.value)
    return [store.whole for store in classes.assignments(own[0], node.attr)] if own else []
