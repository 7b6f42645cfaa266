"""How deeply a program is nested, which decides how long LibCST takes to read it."""

from __future__ import annotations

import ast

# LibCST's parser takes two seconds for a chain of 750 calls, which is this deep, ten for 1,500, and
# does not end for 5,000.
DEEPEST = 1500


def is_too_deep(tree: ast.AST) -> bool:
    level, depth = [tree], 0
    while level and depth <= DEEPEST:
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        depth += 1
    return depth > DEEPEST
