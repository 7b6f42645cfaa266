"""Lists of variables that are filtered: `[v for v in model.trainable_variables if ...]`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfexplicit_codemod.analysis.groups import Group
    from tfexplicit_codemod.analysis.variables import Part


def is_filter(node: ast.ListComp) -> bool:
    """True where the list holds some of the variables, in their order, and nothing else."""
    loop = node.generators[0]
    is_plain = len(node.generators) == 1 and not loop.is_async
    names = isinstance(node.elt, ast.Name) and isinstance(loop.target, ast.Name)
    return is_plain and names and ast.dump(node.elt) == ast.dump(_read(loop.target))


def _read(target: ast.expr) -> ast.expr:
    return ast.Name(getattr(target, "id", ""), ast.Load())


def names_its_leaves(group: Group) -> bool:
    """True where a site has a list of its own, which Keras builds the optimizer on, in its order:
    the models of the state may have more variables, or have them in another order."""
    return any(part.chosen for each in group.members for part in each.leaves.parts)


def whole(parts: tuple[Part, ...]) -> list[Part]:
    """The parts, with all from which a list is filtered in its place."""
    return [each for part in parts for each in part.chosen_from or (part,)]
