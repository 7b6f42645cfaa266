"""The name under which a file reaches `tfexplicit`, and where its import line goes."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tfexplicit_codemod.analysis.naming import unused
from tfexplicit_codemod.analysis.source import Source

Import = ast.Import | ast.ImportFrom
# Tells whether a dotted name is a module of the project.
IsOwn = Callable[[str], bool]
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


def is_imported_above(source: Source, line: int) -> bool:
    """True where an import of `tfexplicit` at the top level stands above the line."""
    imports = [each for each in source.tree.body if isinstance(each, ast.Import)]
    names = {alias.name for each in imports if each.lineno < line for alias in each.names}
    return "tfexplicit" in names


def free_alias(source: Source) -> str:
    """`tx`, or another short name where the file uses `tx` for something else."""
    for name in ("tx", "tfx", "tfexplicit"):
        if name not in source.identifiers:
            return name
    return unused("tx", source.identifiers)


def import_statement(alias: str) -> str:
    return "import tfexplicit" if alias == "tfexplicit" else f"import tfexplicit as {alias}"


def line_to_import_after(
    source: Source, is_own: IsOwn, first_use: int, last_use: int
) -> int | None:
    """The line of the statement after which the import goes; None for the very top.

    It follows the run of imports that brings in TensorFlow, since settings that must come before
    TensorFlow (environment variables) must come before `tfexplicit` too. Where that is in a
    function or block, and every use with it, the import goes there. Imports of the project's own
    modules stay below it.
    """
    before = [s for s in source.tree.body if _last_line(s) < first_use]
    bringing = [i for i, s in enumerate(before) if _imports_tensorflow(s)]
    any_import = [i for i, s in enumerate(before) if isinstance(s, Import) or _sets_environment(s)]
    if not bringing:
        inner = _import_in_block(source, is_own, first_use, last_use)
        if inner is not None:
            return source.leader_line(inner)
    if not bringing and not any_import:
        return source.leader_line(before[0]) if before and _is_docstring(before[0]) else None
    if not bringing:
        return source.leader_line(before[any_import[-1]])
    run = before[bringing[0] : _end_of_run(before, bringing[0]) + 1]
    return source.leader_line(_last_of_others(source, is_own, run))


def _sets_environment(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return False
    names = {getattr(node, "attr", getattr(node, "id", "")) for node in ast.walk(statement)}
    return "environ" in names


def _last_of_others(source: Source, is_own: IsOwn, run: list[ast.stmt]) -> ast.stmt:
    """The last statement of a run of imports that brings in another project's module.

    One that tools are told to pass over, by a comment, is no place if there is another.
    """
    others = [run[0], *(each for each in run[1:] if not _is_of_the_project(each, is_own))]
    plain = [each for each in others if not _is_passed_over(source, each)]
    return (plain or others)[-1]


def _is_of_the_project(statement: ast.stmt, is_own: IsOwn) -> bool:
    if isinstance(statement, ast.ImportFrom):
        return statement.level > 0 or is_own(statement.module or "")
    return isinstance(statement, ast.Import) and any(is_own(a.name) for a in statement.names)


def _is_passed_over(source: Source, statement: ast.stmt) -> bool:
    """True for `# isort:skip`, and between the marks of what a page of documentation hides."""
    last = _last_line(statement)
    above = "\n".join(source.lines[:last])
    line = source.lines[last - 1].replace(" ", "")
    return "#isort:skip" in line or above.count("# hide: begin") > above.count("# hide: end")


def _import_in_block(
    source: Source, is_own: IsOwn, first_use: int, last_use: int
) -> ast.stmt | None:
    """The end of a run of imports within the block that holds every use."""
    imports = (*source.nodes(ast.Import), *source.nodes(ast.ImportFrom))
    for statement in sorted(imports, key=source.start):
        if not _imports_tensorflow(statement):
            continue
        block = source.block(statement)
        if source.follows_colon(statement) or _last_line(statement) >= first_use:
            continue
        if last_use <= _last_line(block[-1]):
            start = block.index(statement)
            run = block[start : _end_of_run(block, start) + 1]
            run = [each for each in run if _last_line(each) < first_use]
            return _last_of_others(source, is_own, run)
    return None


def _end_of_run(block: list[ast.stmt], index: int) -> int:
    while index + 1 < len(block) and isinstance(block[index + 1], Import):
        index += 1
    return index


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
