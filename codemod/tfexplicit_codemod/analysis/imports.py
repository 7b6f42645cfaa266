"""The name under which a file reaches `tfexplicit`, and where its import line goes."""

from __future__ import annotations

import ast

from tfexplicit_codemod.analysis.naming import unused
from tfexplicit_codemod.analysis.source import Source

Import = ast.Import | ast.ImportFrom
TENSORFLOW_ROOTS = ("tensorflow", "keras", "tf_keras")


def existing_alias(source: Source) -> str | None:
    """The module-level name of `tfexplicit` where the file imports it at its top level.

    None also where anything else in the file binds that name.
    """
    for statement in source.tree.body:
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                name = alias.asname or alias.name
                if alias.name == "tfexplicit" and source.scopes_binding(name) == [source.root]:
                    return name
    return None


def free_alias(source: Source) -> str:
    """`tx`, or another short name where the file uses `tx` for something else."""
    for name in ("tx", "tfx", "tfexplicit"):
        if name not in source.identifiers:
            return name
    return unused("tx", source.identifiers)


def import_statement(alias: str) -> str:
    return "import tfexplicit" if alias == "tfexplicit" else f"import tfexplicit as {alias}"


def line_to_import_after(source: Source, first_use: int) -> int | None:
    """The line of the top-level statement after which the import goes; None for the very top.

    It follows the run of imports that brings in TensorFlow, since settings that must come before
    TensorFlow (environment variables) must come before `tfexplicit` too.
    """
    before = [s for s in source.tree.body if _last_line(s) < first_use]
    bringing = [i for i, s in enumerate(before) if _imports_tensorflow(s)]
    any_import = [i for i, s in enumerate(before) if isinstance(s, Import)]
    if not bringing and not any_import:
        return source.leader_line(before[0]) if before and _is_docstring(before[0]) else None
    index = bringing[0] if bringing else any_import[-1]
    while index + 1 < len(before) and isinstance(before[index + 1], Import):
        index += 1
    return source.leader_line(before[index])


def _last_line(statement: ast.stmt) -> int:
    assert statement.end_lineno is not None
    return statement.end_lineno


def _imports_tensorflow(statement: ast.stmt) -> bool:
    """True for an import of TensorFlow or Keras, also inside a `try` or `if` of the top level."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return False
    for node in ast.walk(statement):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""] if not node.level else []
        else:
            continue
        if any(name.split(".")[0] in TENSORFLOW_ROOTS for name in names):
            return True
    return False


def _is_docstring(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
