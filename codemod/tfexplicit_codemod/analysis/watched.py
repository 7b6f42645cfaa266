"""The variables that a tape has watched: `tape.watched_variables()`.

The tape lists what its block has read, in the order of use. Those are variables of the models that
the block calls or reads, where it calls nothing else that may have some, and the file makes none
itself.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from tfexplicit_codemod.analysis.frameworks import normalised
from tfexplicit_codemod.analysis.held_values import held_values
from tfexplicit_codemod.analysis.keras_models import KerasModels
from tfexplicit_codemod.analysis.names import is_builtin, qualified
from tfexplicit_codemod.analysis.scopes import Scope
from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.rules import tx206_variable_list

# Functions that have no variables, and the losses and metrics of Keras, which train none.
_PLAIN = re.compile(
    r"(numpy|math)\."
    r"|tensorflow\.(math|nn|linalg|random|image|debugging|summary)\."
    r"|tensorflow\.[a-z]\w*$"
    r"|keras\.(losses|ops|random)\."
)
_ROOTS = ("tensorflow", "keras", "numpy", "math")
_LOSS = re.compile(r"keras\.(losses|metrics)\.\w+$")
# What a program does with a tape after its block; another block of the same tape would add to it.
_READS = ("gradient", "jacobian", "watched_variables")
_BUILTINS = frozenset({"abs", "enumerate", "float", "int", "len", "list", "print", "range", "sum"})
_MAKES_VARIABLES = frozenset({"Variable", "get_variable", "add_weight", "saved_model"})


def is_watched(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "watched_variables"


class Watched:
    """Finds the models whose variables such a list holds; raises `Leave` where it may hold more."""

    def __init__(self, models: KerasModels, freezes: Callable[[], bool]) -> None:
        self.models = models
        self.source = models.source
        self.freezes = freezes

    def models_behind(self, watched: ast.expr) -> list[ast.expr]:
        block = self._block(watched)
        if block is None:
            raise self._leave(watched, "is of a tape whose reads are not all in sight")
        found: dict[str, ast.expr] = {}
        for node in (node for statement in block.body for node in ast.walk(statement)):
            called = node.func if isinstance(node, ast.Call) else None
            used = called or self._owner(node)
            if used is not None and self.models.is_model(used):
                found[ast.unparse(used)] = used
            elif (called is not None and not self._is_plain(called)) or self._is_elsewhere(node):
                text = ast.unparse(called or node)
                raise self._leave(watched, f"may hold variables of `{text}`")
        if not found or _MAKES_VARIABLES & self.source.identifiers:
            raise self._leave(watched, "may hold variables that no model has")
        # Keras 3 freezes by a mark of its own, which the tape does not know. It is asked last,
        # since it may look at many files.
        if self.freezes():
            raise self._leave(watched, "may hold what is frozen")
        return [m for text, m in found.items() if not any(text.startswith(f"{o}.") for o in found)]

    def _owner(self, node: ast.AST) -> ast.expr | None:
        """The object whose attribute is read, such as a variable of a layer that is not called.

        What is read of `self` is looked at by itself.
        """
        if not isinstance(node, ast.Attribute) or self.models.classes.self_of(node.value):
            return None
        return node.value

    def _leave(self, watched: ast.expr, why: str) -> Leave:
        return tx206_variable_list.leave(self.source.one_line(watched), why)

    def _block(self, watched: ast.expr) -> ast.With | None:
        """The block of the one `with tf.GradientTape() as tape:` that has ended before."""
        assert isinstance(watched, ast.Call)
        assert isinstance(watched.func, ast.Attribute)
        tape = watched.func.value
        scope = self.source.scope(tape).lookup(tape.id) if isinstance(tape, ast.Name) else None
        if not isinstance(tape, ast.Name) or scope is None or len(scope.bindings[tape.id]) != 1:
            return None
        block = scope.bindings[tape.id][0].node
        if not isinstance(block, ast.With) or len(block.items) != 1:
            return None
        if block in self.source.around(watched) or not self._is_only_read(tape, scope):
            return None
        made = block.items[0].context_expr
        is_tape = isinstance(made, ast.Call) and self._path(made.func) == "tensorflow.GradientTape"
        return block if is_tape else None

    def _is_only_read(self, tape: ast.Name, scope: Scope) -> bool:
        uses = (n for n in self.source.nodes(ast.Name) if n.id == tape.id)
        return all(
            getattr(self.source.parent_of[use], "attr", "") in _READS
            for use in uses
            if isinstance(use.ctx, ast.Load) and self.source.scope(use).lookup(use.id) is scope
        )

    def _path(self, node: ast.expr) -> str:
        return normalised(qualified(self.source, node) or "")

    def _is_elsewhere(self, node: ast.AST) -> bool:
        """True for a function of the project, which the block may give to TensorFlow to call, and
        for what another file has made."""
        if isinstance(node, ast.Attribute):
            own = self.models.classes.self_of(node.value)
            family = list(self.models.classes.bases_here(own[0])) if own else []
            return any(getattr(f, "name", "") == node.attr for cls in family for f in cls.body)
        if not isinstance(node, ast.Name):
            return False
        kinds = {binding.kind for binding in self.models.versions.bindings(node)}
        is_known = self._path(node).split(".")[0] in _ROOTS
        return "definition" in kinds or ("import" in kinds and not is_known)

    def _is_plain(self, callee: ast.expr) -> bool:
        """True for a function that has no variables, and for a loss or metric."""
        if is_builtin(self.source, callee, _BUILTINS):
            return True
        if self._path(callee):
            return _PLAIN.match(self._path(callee)) is not None
        values = held_values(self.models.classes, self.models.versions, callee)
        return bool(values) and all(map(self._is_loss, values))

    def _is_loss(self, value: ast.expr | None) -> bool:
        return isinstance(value, ast.Call) and _LOSS.match(self._path(value.func)) is not None
