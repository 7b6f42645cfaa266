"""Whether a file may save a Keras model whole, load it or copy it.

Keras then makes the model anew and compiles it as it was compiled, but not by a `compile` of the
model's own class.
"""

from __future__ import annotations

import ast

from tfexplicit_codemod.analysis.names import qualified
from tfexplicit_codemod.analysis.source import Source

_WORDS = frozenset(
    (
        "load_model",
        "save_model",
        "from_config",
        "custom_objects",
        "register_keras_serializable",
        "clone_model",
        "deepcopy",
        "pickle",
    )
)


def sign_of_saving(source: Source) -> str | None:
    """The first word in the file, or its first call, by which a model may be saved whole."""
    imported = [a.name for node in source.nodes(ast.ImportFrom) for a in node.names]
    words = _WORDS & {*source.identifiers, *imported}
    if words:
        return min(words)
    calls = [call for call in source.nodes(ast.Call) if _may_save(source, call)]
    return source.one_line(calls[0].func) if calls else None


def _may_save(source: Source, call: ast.Call) -> bool:
    path = qualified(source, call.func) or ast.unparse(call.func)
    name = path.rpartition(".")[2]
    if name == "ModelCheckpoint":
        return not _saves_weights_only(call)
    return name == "save" and path != "numpy.save"


def _saves_weights_only(call: ast.Call) -> bool:
    given = [each.value for each in call.keywords if each.arg == "save_weights_only"]
    return any(isinstance(value, ast.Constant) and value.value is True for value in given)
