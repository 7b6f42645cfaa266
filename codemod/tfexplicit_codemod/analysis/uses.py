"""Every expression of a file that may read an optimizer."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from tfexplicit_codemod.analysis.references import Reference, References
from tfexplicit_codemod.analysis.source import Source


def possible_uses(source: Source, home: Reference, references: References) -> Iterator[ast.expr]:
    """The places that bind or read it: `x.opt` for an `x` that is not known, too.

    A use that may be of another version of the name counts.
    """
    name = home.path[-1]
    for node in source.nodes(ast.Name):
        if home.of_self or node.id != name or source.scope(node).lookup(name) is not home.owner:
            continue
        if home.may_be(replace(home, version=references.versions.number(node))):
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
