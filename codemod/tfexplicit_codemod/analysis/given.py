"""Optimizers that callers out of sight give, and that an object or a function keeps.

    def __init__(self, model, optimizer):
        self.model = model
        self.optimizer = optimizer

Who calls does not matter: `setup` takes over whatever steps by `apply_gradients`, and everyone
else goes on with the object itself. Only None, which stands for no optimizer, has no state.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tfexplicit_codemod.analysis import frameworks
from tfexplicit_codemod.analysis.compiled import UNSAFE_WORDS
from tfexplicit_codemod.analysis.definite import definition, holds_at
from tfexplicit_codemod.analysis.groups import Group
from tfexplicit_codemod.analysis.module import Module
from tfexplicit_codemod.analysis.names import qualified
from tfexplicit_codemod.analysis.parameters import Parameter
from tfexplicit_codemod.analysis.references import Reference, References
from tfexplicit_codemod.analysis.sites import Update


@dataclass(frozen=True)
class Entry:
    """The state is made in the function that is given the optimizer, before a statement of it."""

    parameter: Parameter
    before: ast.stmt


class Given:
    """Tells which optimizers of one file are such, and where a function can make their state."""

    def __init__(self, module: Module, references: References) -> None:
        self.module = module
        self.source = module.source
        self.references = references
        # By the home of the optimizer: the functions that make a state.
        self.entries: dict[Reference, Entry] = {}

    def is_kept(self, update: Update, home: Reference) -> bool:
        """True where `__init__`, or a function under another name, keeps what it is given.

        Or the `compile` that a Keras model has of its own, which Keras calls for a loaded one, too.
        """
        if update.method != "apply_gradients" or len(home.path) != 1:
            return False
        if isinstance(home.owner, ast.ClassDef):
            is_plain = update.value.function == "__init__" or self._is_compile(update, home.owner)
        else:
            is_plain = isinstance(home.owner.node, ast.FunctionDef)
        return is_plain and not any(map(self._is_of_others, self._parameters(update)))

    def _is_compile(self, update: Update, cls: ast.ClassDef) -> bool:
        is_own = update.value.function == "compile" and self.module.classes.is_keras_model(cls)
        return is_own and not any(word in self.source.identifiers for word in UNSAFE_WORDS)

    def entry(self, group: Group, parameter: Parameter) -> Entry | None:
        """For a function that defines its own step: it runs once, and its step many times."""
        body = parameter.function.body
        steps = [self.source.function_within(site, parameter.scope) for site in group.statements]
        holders = [each for node in steps if node for each in body if each is node]
        if not holders or len(holders) < len(steps) or parameter.function.decorator_list:
            return None
        first = min(holders, key=body.index)
        models = [reference for part in group.parts for reference in part.references]
        if not all(self._is_bound_before(model, parameter, first) for model in models):
            return None
        return None if self._is_of_others(parameter.name) else Entry(parameter, first)

    def _is_bound_before(self, model: Reference, parameter: Parameter, place: ast.stmt) -> bool:
        if model.owner is not parameter.scope or len(model.path) != 1:
            return False
        bindings = self.references.bindings(model)
        if all(binding.kind == "parameter" for binding in bindings):
            return True
        binders = [self.source.statement(b.node) for b in bindings if b.kind == "assign"]
        found = definition(self.source, model.path[0], binders) if binders else None
        is_alone = len(binders) == len(bindings)
        return found is not None and is_alone and holds_at(self.source, found.statement, place)

    def _parameters(self, update: Update) -> Iterator[ast.arg]:
        name, function = update.value.parameter, update.value.function
        for parameter in self.source.nodes(ast.arg):
            if parameter.arg == name and self.source.function_name(parameter) == function:
                yield parameter

    def _is_of_others(self, parameter: ast.arg) -> bool:
        """True for an annotation that names an optimizer of another library, or of the project."""
        if parameter.annotation is None:
            return False
        nodes = [node for node in ast.walk(parameter.annotation) if isinstance(node, ast.expr)]
        families = {frameworks.family(qualified(self.source, node) or "") for node in nodes}
        if families & {"keras", "loss_scale"}:
            return False
        return "foreign" in families or any(map(self._is_class_of_others, nodes))

    def _is_class_of_others(self, node: ast.expr) -> bool:
        found = self.module.class_named(node)
        if found is None:
            return False
        paths = found[0].classes.imported_bases(found[1])
        return not any(map(frameworks.is_keras_optimizer_base, paths))


def may_be_none(bound_by: ast.stmt) -> bool:
    """True where what is kept is the argument itself, and not another one in place of None."""
    return not (isinstance(bound_by, ast.Assign) and isinstance(bound_by.value, ast.IfExp))
