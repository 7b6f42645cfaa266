"""Where the value of an update goes: `step = optimizer.apply_gradients(...)`, `return ...`.

Keras gives its count of steps, whose counterpart is `opt_state.step`: the same number, counted on
by later steps. What is read of it must read alike, wherever it goes.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from tfexplicit_codemod.analysis.calls import calls_of, decorators_keep_arguments
from tfexplicit_codemod.analysis.classes import Classes
from tfexplicit_codemod.analysis.method_calls import calls_of_method
from tfexplicit_codemod.analysis.read_alike import reads_alike
from tfexplicit_codemod.analysis.sites import Update
from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.surroundings import Surroundings

# Their optimizers may give an operation, or the operations of a wrapper.
_OF_ANOTHER_VALUE = ("legacy", "tensorflow_addons")


@dataclass(frozen=True)
class UpdateValues:
    """Follows the values of the updates of one file."""

    source: Source
    classes: Classes
    around: Surroundings

    def goes_alike(self, update: Update) -> bool:
        """True where nobody can tell the value from the state's count, or nobody reads it."""
        return self._goes_alike(update.call, self._is_count(update), set())

    def _is_count(self, update: Update) -> bool:
        """`apply` of Keras 3 gives None, and so does `minimize` of `tf_keras`."""
        is_of_keras = update.value.kind == "optimizer" and not update.value.is_custom
        is_other = any(word in self.source.text for word in _OF_ANOTHER_VALUE)
        return update.method == "apply_gradients" and is_of_keras and not is_other

    def _goes_alike(self, node: ast.expr, is_count: bool, functions: set[ast.AST]) -> bool:
        """True where nobody can tell the value at `node` from the state's count.

        `is_count` is false for a value that nothing may read; the functions have returned it.
        """
        parent = self.source.parent_of[node]
        if isinstance(parent, ast.Expr):
            return True
        if isinstance(parent, ast.Assign):
            return self._is_bound_alike(parent, is_count)
        if isinstance(parent, ast.Return):
            return self._is_returned_alike(parent, is_count, functions)
        return is_count and reads_alike(self.source, node, is_count=True)

    def _is_bound_alike(self, statement: ast.Assign, is_count: bool) -> bool:
        """True for a plain name that the file alone can read."""
        target = statement.targets[0]
        if len(statement.targets) > 1 or not isinstance(target, ast.Name):
            return False
        scope = self.source.scope(target).lookup(target.id)
        if scope is None or isinstance(scope.node, ast.ClassDef):
            return False
        if scope is self.source.root and self.around.is_used_elsewhere(target.id):
            return False
        others = [
            name
            for name in self.source.nodes(ast.Name)
            if name.id == target.id
            and name is not target
            and self.source.scope(name).lookup(name.id) is scope
        ]
        if all(self._only_binds(name) for name in others):
            return True
        # Of several values, a loop in a graph makes one tensor.
        is_one = len(scope.bindings[target.id]) == 1
        return (
            is_one
            and is_count
            and all(reads_alike(self.source, name, is_count=True) for name in others)
        )

    def _only_binds(self, name: ast.Name) -> bool:
        is_read_too = isinstance(self.source.parent_of[name], ast.AugAssign)
        return isinstance(name.ctx, ast.Store) and not is_read_too

    def _is_returned_alike(
        self, statement: ast.Return, is_count: bool, functions: set[ast.AST]
    ) -> bool:
        """True where every call of the function is in sight, and its value goes alike."""
        function = self.source.scope(statement).node
        if not isinstance(function, ast.FunctionDef) or function in functions:
            return False
        # Each once: of functions that return each other there are many ways to go.
        functions.add(function)
        calls = self._calls(function) or []
        return bool(calls) and all(self._goes_alike(call, is_count, functions) for call in calls)

    def _calls(self, function: ast.FunctionDef) -> list[ast.Call] | None:
        if isinstance(self.source.parent_of[function], ast.ClassDef):
            return calls_of_method(self.source, self.classes, self.around, function)
        if not decorators_keep_arguments(self.source, function):
            return None
        is_of_module = self.source.scope(function) is self.source.root
        if is_of_module and self.around.is_used_elsewhere(function.name):
            return None
        return calls_of(self.source, function)
