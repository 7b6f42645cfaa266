"""What an expression evaluates to, as far as optimizers go."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tfexplicit_codemod.analysis import frameworks
from tfexplicit_codemod.analysis.calls import arguments_for, arguments_of_compile
from tfexplicit_codemod.analysis.checkpoints import Checkpoints
from tfexplicit_codemod.analysis.classes import Classes
from tfexplicit_codemod.analysis.definite import is_surely_rebound
from tfexplicit_codemod.analysis.names import imported_paths, qualified
from tfexplicit_codemod.analysis.reaching import reaching
from tfexplicit_codemod.analysis.scopes import Binding, Scope
from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.analysis.versions import VersionTable
from tfexplicit_codemod.surroundings import Definition

if TYPE_CHECKING:
    from tfexplicit_codemod.analysis.module import Module

Kind = Literal["optimizer", "foreign", "parameter", "compiled", "element", "unknown"]


@dataclass(frozen=True)
class Value:
    """What a receiver is. `parameter` names the argument for the kind of that name.

    `is_custom` is true for an optimizer of a class of the project, and for one around another.
    """

    kind: Kind
    parameter: str = ""
    function: str = ""
    is_custom: bool = False


OPTIMIZER = Value("optimizer")
CUSTOM = Value("optimizer", is_custom=True)
FOREIGN = Value("foreign")
UNKNOWN = Value("unknown")
# One that scales the loss computes gradients of its own in `minimize`.
_OF_FAMILY = {"keras": OPTIMIZER, "loss_scale": CUSTOM, "foreign": FOREIGN}


class Values:
    """Evaluates expressions of one file to the kinds above; each binding at most once.

    What an imported function or class of the project gives is asked of its own module.
    """

    def __init__(
        self,
        source: Source,
        classes: Classes,
        versions: VersionTable,
        checkpoints: Checkpoints,
        lookup: Callable[[str], tuple[Module, Definition] | None],
    ) -> None:
        self.source = source
        self.classes = classes
        self.versions = versions
        self.checkpoints = checkpoints
        self.lookup = lookup
        self._active: set[object] = set()

    def of(self, node: ast.expr, path: tuple[int, ...] = ()) -> Value:
        """The value of an expression, or of the element at `path` of the tuple that it gives."""
        if isinstance(node, ast.Tuple | ast.List) and path and path[0] < len(node.elts):
            return self.of(node.elts[path[0]], path[1:])
        if isinstance(node, ast.IfExp):
            return _common([self.of(node.body, path), self.of(node.orelse, path)])
        if isinstance(node, ast.NamedExpr):
            return self.of(node.value, path)
        if isinstance(node, ast.Call):
            return self._once(node, lambda: self._of_call(node, path))
        if path:
            return UNKNOWN
        if isinstance(node, ast.Name):
            return self._of_name(node)
        if isinstance(node, ast.Attribute):
            return self._of_attribute(node)
        if isinstance(node, ast.Subscript):
            return Value("element")
        return UNKNOWN

    def _once(self, key: object, evaluate: Callable[[], Value]) -> Value:
        """`evaluate()`, or unknown where that asks for itself."""
        if key in self._active:
            return UNKNOWN
        self._active.add(key)
        try:
            return evaluate()
        finally:
            self._active.discard(key)

    def _of_call(self, call: ast.Call, path: tuple[int, ...]) -> Value:
        if isinstance(call.func, ast.Name):
            scope = self.source.scope(call).lookup(call.func.id)
            if scope and not imported_paths(scope, call.func.id):
                return self._of_local_call(scope, call.func.id, path)
        if isinstance(call.func, ast.Attribute) and self.classes.self_of(call.func.value):
            return self._of_method_call(call.func, path)
        imported = qualified(self.source, call.func)
        family = frameworks.family(imported) if imported and not path else None
        if family:
            return _OF_FAMILY[family]
        if imported and imported.endswith("Optimizer") and self._is_around_a_foreign_one(call):
            return FOREIGN
        return self._of_definition(imported, path) if imported else UNKNOWN

    def _is_around_a_foreign_one(self, call: ast.Call) -> bool:
        """True for a wrapper of another package around an optimizer that is none of Keras."""
        named = [keyword.value for keyword in call.keywords if keyword.arg == "optimizer"]
        return any(self.of(inner).kind == "foreign" for inner in [*call.args[:1], *named])

    def _of_definition(self, imported: str, path: tuple[int, ...]) -> Value:
        """What calling a class or function of another file of the project gives."""
        found = self.lookup(imported)
        if found is None:
            return UNKNOWN
        module, node = found
        if isinstance(node, ast.ClassDef):
            return UNKNOWN if path else module.values._of_instance(node)
        value = module.values._once((node, path), lambda: module.values._of_returns(node, path))
        # A parameter of the function is not one of the file that asks.
        return value if value.kind in ("optimizer", "foreign") else UNKNOWN

    def _of_local_call(self, scope: Scope, name: str, path: tuple[int, ...]) -> Value:
        bindings = scope.bindings[name]
        made = bindings[0].node if len(bindings) == 1 else None
        if isinstance(made, ast.ClassDef):
            return self._of_instance(made)
        if isinstance(made, ast.FunctionDef):
            return self._of_returns(made, path)
        return UNKNOWN

    def _of_instance(self, cls: ast.ClassDef) -> Value:
        """An object of a class of this file: an optimizer if derived from one of Keras."""
        bases = self.classes.imported_bases(cls)
        if any(map(frameworks.is_keras_optimizer_base, bases)):
            return CUSTOM
        is_foreign = any(frameworks.family(base) == "foreign" for base in bases)
        return FOREIGN if is_foreign or self.classes.bases_are_known(cls) else UNKNOWN

    def _of_method_call(self, function: ast.Attribute, path: tuple[int, ...]) -> Value:
        own = self.classes.self_of(function.value)
        assert own is not None
        for cls in self.classes.bases_here(own[0]):
            for method in cls.body:
                if isinstance(method, ast.FunctionDef) and method.name == function.attr:
                    return self._of_returns(method, path)
        return UNKNOWN

    def _of_returns(self, function: ast.FunctionDef, path: tuple[int, ...]) -> Value:
        returned = [
            node.value
            for node in ast.walk(function)
            if isinstance(node, ast.Return)
            and self.source.enclosing(node, ast.FunctionDef) is function
            and node.value is not None
        ]
        return _common([self.of(value, path) for value in returned])

    def _of_name(self, name: ast.Name) -> Value:
        scope = self.source.scope(name).lookup(name.id)
        if scope is None:
            return UNKNOWN
        held = reaching(self.source, name)
        if held is not None:
            # One name may hold optimizers of two frameworks, one after the other.
            return self._once(held, lambda: self.of(held.value, held.path))
        bindings = self.versions.bindings(name)
        if is_surely_rebound(self.source, name):
            bindings = [each for each in bindings if not isinstance(each.node, ast.arg)]
        value = _common([self._of_binding(binding) for binding in bindings])
        return CUSTOM if value.kind == "unknown" and self._is_tested(scope, name.id) else value

    def _is_tested(self, scope: Scope, name: str) -> bool:
        """True where the program asks which Keras optimizer a name holds."""
        for call in self.source.nodes(ast.Call):
            if getattr(call.func, "id", "") != "isinstance" or len(call.args) != 2:
                continue
            tested = call.args[0]
            if isinstance(tested, ast.Name) and tested.id == name:
                is_same = self.source.scope(tested).lookup(name) is scope
                path = qualified(self.source, call.args[1])
                if is_same and path and frameworks.is_keras_optimizer_base(path):
                    return True
        return False

    def _of_binding(self, binding: Binding) -> Value:
        if isinstance(binding.node, ast.arg):
            return self._of_parameter(binding.node)
        value = binding.value
        if value is None or binding.kind != "assign":
            return UNKNOWN
        return self._once(binding, lambda: self.of(value, binding.path))

    def _of_parameter(self, parameter: ast.arg) -> Value:
        def from_callers() -> Value:
            if self._is_of_compile(parameter):
                arguments: list[ast.expr] | None = arguments_of_compile(self.source, parameter)
            else:
                arguments = arguments_for(self.source, parameter)
            return _common([self.of(argument) for argument in arguments or []])

        value = self._once(parameter, from_callers)
        if value.kind in ("optimizer", "foreign"):
            return value
        return Value("parameter", parameter.arg, self.source.function_name(parameter))

    def _is_of_compile(self, parameter: ast.arg) -> bool:
        """True for a parameter of the `compile` that a Keras model has of its own."""
        function = self.source.function_of(parameter)
        cls = self.source.parent_of[function]
        is_method = isinstance(function, ast.FunctionDef) and isinstance(cls, ast.ClassDef)
        if not is_method or self.source.function_name(parameter) != "compile":
            return False
        assert isinstance(cls, ast.ClassDef)
        return self.classes.is_keras_model(cls)

    def _of_attribute(self, attribute: ast.Attribute) -> Value:
        held = self.checkpoints.held(attribute)
        if held is not None:
            return self._once(attribute, lambda: self.of(held))
        own = self.classes.self_of(attribute.value)
        if not own:
            return FOREIGN if self._is_foreign_module_attribute(attribute) else UNKNOWN
        stores = [
            store
            for store in self.classes.stores.get(attribute.attr, [])
            if store.cls in list(self.classes.bases_here(own[0]))
        ]
        if stores:
            return _common([self._of_store_value(s.value, s.path) for s in stores])
        if attribute.attr == "optimizer" and self.classes.is_keras_model(own[0]):
            return Value("compiled")
        return UNKNOWN

    def _of_store_value(self, value: ast.expr | None, path: tuple[int, ...]) -> Value:
        return self.of(value, path) if value is not None else UNKNOWN

    def _is_foreign_module_attribute(self, attribute: ast.Attribute) -> bool:
        imported = qualified(self.source, attribute)
        return imported is not None and frameworks.family(imported) == "foreign"


def _common(values: list[Value]) -> Value:
    """The one value that all agree on; of unlike values the first that is not an optimizer.

    Beside one that is foreign, what nothing is known of is foreign too.
    """
    if not values:
        return UNKNOWN
    if all(value == values[0] for value in values):
        return values[0]
    kinds = {value.kind for value in values}
    if kinds == {"optimizer"}:
        return CUSTOM
    if "foreign" in kinds:
        return FOREIGN if kinds.isdisjoint({"optimizer", "compiled"}) else UNKNOWN
    return next(value for value in values if value.kind != "optimizer")
