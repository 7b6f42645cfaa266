"""Lists that hold all variables of some models, put together in steps or in another order.

    variables = self.backbone.trainable_variables
    if self.head is not None:
        variables = variables + self.head.trainable_variables
    variables = sorted(variables, key=name)

The state has the leaves of those models, and the step goes on naming the list: `update` finds each
variable by identity, so its place in the list does not matter.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from tfexplicit_codemod.analysis.changes import is_changed_in_place
from tfexplicit_codemod.analysis.classes import methods_named
from tfexplicit_codemod.analysis.keras_models import TRAINABLE
from tfexplicit_codemod.analysis.module import Module
from tfexplicit_codemod.analysis.names import qualified
from tfexplicit_codemod.analysis.references import Reference, References
from tfexplicit_codemod.analysis.scopes import Binding
from tfexplicit_codemod.analysis.unlisted_layers import UnlistedLayers
from tfexplicit_codemod.analysis.within_self import is_within_self

_ORDERS = ("list", "tuple", "sorted")

# The models that a list holds all variables of.
Models = dict[Reference, None]
Seen = frozenset[ast.AST]


class Rearranged:
    """Reads such lists; None for one that is not."""

    def __init__(
        self,
        module: Module,
        references: References,
        is_overridden: Callable[[ast.ClassDef, str], bool],
        compiled: ast.ClassDef | None = None,
    ) -> None:
        self.module = module
        self.source = module.source
        self.references = references
        self.is_overridden = is_overridden
        self.compiled = compiled
        self.unlisted = UnlistedLayers(module)

    def with_names_of(self, references: References, compiled: ast.ClassDef | None) -> Rearranged:
        """The same for the sites of one optimizer, perhaps one that a class is compiled with."""
        return Rearranged(self.module, references, self.is_overridden, compiled)

    def models(self, node: ast.expr) -> Models | None:
        """Raises `Leave` for a model that may not list all its layers."""
        if self.compiled is not None and is_within_self(self.module, self.compiled, node):
            for part in ast.walk(node):
                if isinstance(part, ast.Attribute) and part.attr in TRAINABLE:
                    self.unlisted.require_none(part)
            return {Reference(self.compiled, ()): None}
        return self._models(node, frozenset())

    def _models(self, node: ast.expr, seen: Seen) -> Models | None:
        if node in seen:
            return None
        seen |= {node}
        if isinstance(node, ast.Attribute) and node.attr in TRAINABLE:
            self.unlisted.require_none(node)
            return self._one(node.value)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self._all([node.left, node.right], seen)
        if isinstance(node, ast.List | ast.Tuple) and node.elts:
            return self._all(node.elts, seen)
        if isinstance(node, ast.ListComp):
            return self._of_each(node)
        if isinstance(node, ast.Name):
            return self._of_name(node, seen)
        return self._of_call(node, seen) if isinstance(node, ast.Call) else None

    def _all(self, nodes: Iterable[ast.expr], seen: Seen) -> Models | None:
        found: Models = {}
        for node in nodes:
            models = self._models(node, seen)
            if models is None or models.keys() & found.keys():
                return None
            found |= models
        return found

    def _one(self, node: ast.expr) -> Models | None:
        reference = self.references.resolve(node)
        return None if reference is None else {reference: None}

    def _of_each(self, node: ast.ListComp) -> Models | None:
        """`[m.trainable_variables for m in self.models]`: the list of models is a model."""
        loop, each = node.generators[0], node.elt
        is_plain = len(node.generators) == 1 and not loop.ifs and isinstance(loop.target, ast.Name)
        if not is_plain or not isinstance(each, ast.Attribute) or each.attr not in TRAINABLE:
            return None
        if not isinstance(each.value, ast.Name) or each.value.id != getattr(loop.target, "id", ""):
            return None
        return self._one(loop.iter) if isinstance(loop.iter, ast.Attribute) else None

    def _of_call(self, call: ast.Call, seen: Seen) -> Models | None:
        called = call.func
        name = getattr(called, "id", getattr(called, "attr", ""))
        is_builtin = isinstance(called, ast.Name) and name in _ORDERS
        path = qualified(self.source, called) or ""
        if is_builtin or path == "tensorflow.nest.flatten" or name == "ObjectIdentitySet":
            return self._models(call.args[0], seen) if len(call.args) == 1 else None
        if not isinstance(called, ast.Attribute) or call.args or call.keywords:
            return None
        own = self.module.classes.self_of(called.value)
        if own is None or self.is_overridden(own[0], name):
            return None
        methods = list(methods_named(name, self.module.classes.related(own[0])))
        returned = [n for m in methods for n in ast.walk(m) if isinstance(n, ast.Return)]
        if len(methods) != 1 or len(returned) != 1 or returned[0].value is None:
            return None
        return self._models(returned[0].value, seen)

    def _of_name(self, name: ast.Name, seen: Seen) -> Models | None:
        """All that the function puts into the list."""
        scope = self.source.scope(name).lookup(name.id)
        bindings = scope.bindings[name.id] if scope is self.source.scope(name) else []
        if is_changed_in_place(self.source, name):
            return None
        found: Models = {}
        for binding in bindings:
            added = self._added(binding, seen)
            if added is None or added.keys() & found.keys() or not self._is_sure(binding, added):
                return None
            found |= added
        return found or None

    def _added(self, binding: Binding, seen: Seen) -> Models | None:
        """What one statement adds: `v = v + w` and `v = sorted(v)` add to what `v` held."""
        node = binding.node
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
            return self._models(node.value, seen)
        if not isinstance(node, ast.Assign) or binding.path:
            return None
        if isinstance(node.value, ast.BinOp) and _is_named(node.value.left, binding.name):
            return self._models(node.value.right, seen)
        own = [n for n in ast.walk(node.value) if _is_named(n, binding.name)]
        if own and isinstance(node.value, ast.Call) and node.value.args[:1] == own:
            is_order = getattr(node.value.func, "id", "") in _ORDERS
            return {} if is_order else None
        return self._models(node.value, seen)

    def _is_sure(self, binding: Binding, added: Models) -> bool:
        """True for a statement that always runs, or that one model is there for."""
        statement = self.source.statement(binding.node)
        branches = self.source.statements_around(statement)[1:]
        if not branches:
            return True
        branch = branches[0]
        if len(branches) != 1 or not isinstance(branch, ast.If) or statement not in branch.body:
            return False
        return not branch.orelse and all(self._is_there(branch.test, model) for model in added)

    def _is_there(self, test: ast.expr, model: Reference) -> bool:
        """True for `model is not None`, and for an attribute that was set to that."""
        own = self.references.resolve(test)
        if own is not None and isinstance(own.owner, ast.ClassDef) and len(own.path) == 1:
            stores = self.module.classes.assignments(own.owner, own.path[0])
            test = stores[0].value if len(stores) == 1 and stores[0].value else test
        return (
            isinstance(test, ast.Compare)
            and len(test.ops) == 1
            and isinstance(test.ops[0], ast.IsNot)
            and ast.unparse(test.comparators[0]) == "None"
            and self.references.resolve(test.left) == model
        )


def _is_named(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
