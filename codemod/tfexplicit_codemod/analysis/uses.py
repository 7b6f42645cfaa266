"""Every expression of a file that may read an optimizer."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfexplicit_codemod.analysis.references import Reference, References
from tfexplicit_codemod.analysis.source import Source


def possible_uses(source: Source, home: Reference, references: References) -> Iterator[ast.expr]:
    """The places that bind or read it: `x.opt` for an `x` that is not known, too."""
    name = home.path[-1]
    for node in source.nodes(ast.Name):
        if not home.of_self and node.id == name and source.scope(node).lookup(name) is home.owner:
            yield node
    for attribute in source.nodes(ast.Attribute):
        if home.of_self and attribute.attr == name:
            held = references.resolve(attribute)
            of_another_class = (
                held is not None
                and held.of_self
                and held.path == (name,)
                and held.owner is not home.owner
            )
            if not of_another_class:
                yield attribute
