"""Imported optimizer classes that nothing uses any more, once the calls of them are rules.

    from tensorflow.keras.optimizers import Adam

    optimizer = tx.Adam(0.1)

A name stays where anything else may look for it: another file, a string, `globals()`; and where a
comment would go with it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.edits import DropName
from tfexplicit_codemod.surroundings import Surroundings

_BY_NAME = frozenset({"eval", "exec", "globals", "locals", "vars"})


def dropped_names(
    source: Source, renamed: list[ast.expr], around: Surroundings
) -> Iterator[DropName]:
    """`renamed` are the callees of the constructors that became rules."""
    # Cells run in any order, and outside a project nobody knows who imports the name.
    if around.path is None or around.path.suffix != ".py" or around.path.name == "__init__.py":
        return
    unused = {
        callee.id
        for callee in renamed
        if isinstance(callee, ast.Name)
        and _is_unused(source, callee.id, renamed)
        and not around.is_used_elsewhere(callee.id)
    }
    for statement in source.tree.body if unused else ():
        if isinstance(statement, ast.ImportFrom) and _has_lines_of_its_own(source, statement):
            for alias in statement.names:
                # `import Adam as Adam` says that others may import it from here.
                if (alias.asname or alias.name) in unused and alias.asname != alias.name:
                    yield DropName(statement.lineno, alias.asname or alias.name)


def _has_lines_of_its_own(source: Source, statement: ast.ImportFrom) -> bool:
    assert statement.end_lineno is not None
    lines = range(statement.lineno, statement.end_lineno + 1)
    return (
        source.leader_line(statement) == statement.lineno
        and source.ends_its_line(statement)
        and source.comment_lines.isdisjoint(lines)
    )


def _is_unused(source: Source, name: str, renamed: list[ast.expr]) -> bool:
    if len(source.root.bindings[name]) != 1 or _BY_NAME & source.identifiers:
        return False
    word = re.compile(rf"\b{re.escape(name)}\b")
    texts = (node.value for node in source.nodes(ast.Constant) if isinstance(node.value, str))
    return not any(map(word.search, texts)) and all(
        node in renamed for node in source.nodes(ast.Name) if node.id == name
    )
