"""Files that run on whichever backend Keras has: TensorFlow must not become needed there."""

from __future__ import annotations

import ast

from tfexplicit_codemod.analysis.frameworks import normalised
from tfexplicit_codemod.analysis.names import imported_roots, qualified
from tfexplicit_codemod.analysis.source import Source

_OF_TENSORFLOW = ("tensorflow", "tf_keras")
_OF_ALL = ("keras.ops", "keras.src.ops", "keras.src.backend")
_ASKS_FOR_THE_BACKEND = ("keras.backend.backend", "keras.config.backend")


def runs_on_several_backends(source: Source) -> bool:
    """True for a file that does without TensorFlow, and asks for the backend or has no tape."""
    if any(map(_needs_tensorflow, source.tree.body)):
        return False
    if any(map(_is_written_for_all, source.nodes(ast.ImportFrom))):
        return "GradientTape" not in source.identifiers or _asks_for_the_backend(source)
    return "keras" in imported_roots(source) and _asks_for_the_backend(source)


def _needs_tensorflow(statement: ast.stmt) -> bool:
    """True for a plain import, and for `os.environ["KERAS_BACKEND"] = "tensorflow"`."""
    if isinstance(statement, ast.Import):
        return any(alias.name.split(".")[0] in _OF_TENSORFLOW for alias in statement.names)
    if isinstance(statement, ast.ImportFrom):
        return (statement.module or "").split(".")[0] in _OF_TENSORFLOW and not statement.level
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Subscript):
        return False
    constants = {node.value for node in ast.walk(statement) if isinstance(node, ast.Constant)}
    return constants == {"KERAS_BACKEND", "tensorflow"}


def _is_written_for_all(imported: ast.ImportFrom) -> bool:
    """True for an import of the operations that each backend has."""
    return any(f"{imported.module}.{alias.name}" in _OF_ALL for alias in imported.names)


def _asks_for_the_backend(source: Source) -> bool:
    return any(
        isinstance(call, ast.Call)
        and normalised(qualified(source, call.func) or "") in _ASKS_FOR_THE_BACKEND
        for compare in source.nodes(ast.Compare)
        for call in (compare.left, *compare.comparators)
    )
