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


def has_spare_slots(group: Group) -> bool:
    """True where the state has slots for variables that no site steps."""
    lists = [each.leaves.parts for each in group.members] + [each.parts for each in group.handed]
    parts = [part for parts in lists for part in parts]
    return any(part.with_untrained or (part.chosen and not part.is_whole) for part in parts)


def whole(parts: tuple[Part, ...]) -> list[Part]:
    """The parts, with all from which a list is filtered in its place."""
    return [each for part in parts for each in part.chosen_from or (part,)]
