"""Which leaves a variable list names: models, explicit variables, and concatenations of both."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from tfexplicit_codemod.analysis import filtered
from tfexplicit_codemod.analysis.attributes import is_saved_model
from tfexplicit_codemod.analysis.changes import is_changed
from tfexplicit_codemod.analysis.definite import loops_around
from tfexplicit_codemod.analysis.keras_models import TRAINABLE
from tfexplicit_codemod.analysis.names import qualified
from tfexplicit_codemod.analysis.reaching import reaching
from tfexplicit_codemod.analysis.rearranged import Rearranged
from tfexplicit_codemod.analysis.references import Reference, References
from tfexplicit_codemod.analysis.scopes import Binding
from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.analysis.unlisted_layers import UnlistedLayers
from tfexplicit_codemod.analysis.untrained import Untrained
from tfexplicit_codemod.analysis.watched import Watched, is_watched
from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.rules import tx202_model_out_of_sight, tx206_variable_list

ALL = ("variables", "weights")
VARIABLE = "tensorflow.Variable"


@dataclass(frozen=True)
class Part:
    """One model, or one list of variables; `text` is how the site itself writes it.

    `with_untrained` is true for `model.variables`, which also holds what is not trained. For
    `models[i]` the reference is that of `models`, `element` is `i` and `element_of` is `models`.
    `chosen` says how a list is filtered from all leaves of the parts in `chosen_from`, or how it
    puts them in order.
    """

    is_model: bool
    references: tuple[Reference, ...]
    text: str
    is_named_list: bool = False
    with_untrained: bool = False
    element: str = ""
    element_of: ast.expr | None = None
    chosen: str = ""
    chosen_from: tuple[Part, ...] = ()

    @property
    def identity(self) -> tuple[object, ...]:
        """Equal for two spellings of the same leaves."""
        return self.is_model, self.is_named_list, self.references, self.chosen


@dataclass(frozen=True)
class Leaves:
    """The parts of a variable list, in order. `origin` is the expression that names them: where
    a local name holds the list, the value of that name."""

    parts: tuple[Part, ...]
    origin: ast.expr

    @property
    def identity(self) -> tuple[object, ...]:
        return tuple(part.identity for part in self.parts)

    @property
    def untrained(self) -> tuple[bool, ...]:
        """For each part, whether it also holds variables that are not trained."""
        return tuple(part.with_untrained for part in self.parts)

    @property
    def text(self) -> str:
        """What to write for them as the model of an update."""
        texts = [part.text for part in self.parts]
        return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


@dataclass(frozen=True)
class Variables:
    """Reads variable lists; raises `Leave` for one that it does not understand."""

    source: Source
    references: References
    untrained: Untrained
    unlisted: UnlistedLayers
    rearranged: Rearranged
    watched: Watched

    def of(self, home: Reference, is_compiled: bool) -> Variables:
        """For the sites of an optimizer kept there, with the names that its function has."""
        near = self.references.keeping(home.owner)
        compiled = home.owner if is_compiled and isinstance(home.owner, ast.ClassDef) else None
        rearranged = self.rearranged.with_names_of(near, compiled)
        return replace(self, references=near, rearranged=rearranged)

    def read(self, node: ast.expr) -> Leaves:
        """The parts in order, or the models whose variables the list holds in some order."""
        try:
            return self._read_in_order(node)
        except Leave:
            models = self.rearranged.models(node)
            if models is None:
                raise
            parts = tuple(Part(True, (model,), ".".join(model.path)) for model in models)
            text, dump = self.source.segment(node), ast.dump(node)
            whole = Part(False, tuple(models), text, chosen=dump, chosen_from=parts)
            return Leaves((whole,), node)

    def _read_in_order(self, node: ast.expr) -> Leaves:
        if isinstance(node, ast.Call) and _is_copy(node):
            return self._read_in_order(node.args[0])
        if isinstance(node, ast.Name):
            return self._read_name(node)
        return Leaves(tuple(self._parts(node)), node)

    def _parts(self, node: ast.expr) -> list[Part]:
        if isinstance(node, ast.Attribute) and node.attr in (*TRAINABLE, *ALL):
            self.unlisted.require_none(node)
        if isinstance(node, ast.Attribute) and node.attr in TRAINABLE:
            if isinstance(node.value, ast.Subscript):
                return [self._element(node.value)]
            return [Part(True, (self._reference(node.value),), self.source.segment(node.value))]
        if isinstance(node, ast.Attribute) and node.attr in ALL:
            self.untrained.require_same_training(node)
            text = self.source.segment(node.value)
            return [Part(True, (self._reference(node.value),), text, with_untrained=True)]
        if isinstance(node, ast.Attribute) and self._is_restored(node.value):
            references = (self._reference(node),)
            return [Part(False, references, self.source.segment(node), is_named_list=True)]
        if isinstance(node, ast.Call) and self._are_values_of_variables(node):
            assert isinstance(node.func, ast.Attribute)
            text = self.source.segment(node.func.value)
            return [Part(True, (self._reference(node.func.value),), text)]
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return [*self._read_in_order(node.left).parts, *self._read_in_order(node.right).parts]
        if isinstance(node, ast.List | ast.Tuple) and node.elts:
            return self._read_elements(node.elts)
        if isinstance(node, ast.ListComp) and filtered.is_filter(node):
            return [self._chosen(node)]
        if is_watched(node):
            models = self.watched.models_behind(node)
            parts = [self._parts(_trainables(model))[0] for model in models]
            return [self._chosen_from(node, tuple(parts))]
        raise tx206_variable_list.leave(self.source.one_line(node), _why_not(node))

    def _is_restored(self, node: ast.expr) -> bool:
        bindings = self.references.versions.bindings(node) if isinstance(node, ast.Name) else []
        values = [binding.value for binding in bindings if not binding.path]
        call = values[0] if len(values) == len(bindings) == 1 else None
        return isinstance(call, ast.Call) and is_saved_model(self.source, call)

    def _chosen(self, node: ast.ListComp) -> Part:
        """Some leaves of models: the state has all of them, a step finds its own among them."""
        parts = self._read_in_order(node.generators[0].iter).parts
        if not all(p.is_model and not p.with_untrained and not p.element for p in parts):
            raise tx206_variable_list.leave(self.source.one_line(node), _why_not(node))
        return self._chosen_from(node, parts)

    def _chosen_from(self, node: ast.expr, parts: tuple[Part, ...]) -> Part:
        references = tuple(reference for part in parts for reference in part.references)
        text = self.source.segment(node)
        return Part(False, references, text, chosen=ast.dump(node), chosen_from=parts)

    def _element(self, node: ast.Subscript) -> Part:
        text, place = self.source.segment(node), self.source.segment(node.slice)
        model = (self._reference(node.value),)
        return Part(True, model, text, element=place, element_of=node.value)

    def _are_values_of_variables(self, call: ast.Call) -> bool:
        """True for `weights.values()` of a dict of variables: the dict is a model, in its order."""
        if not isinstance(call.func, ast.Attribute) or call.func.attr != "values" or call.args:
            return False
        name = call.func.value
        bindings = self.references.versions.bindings(name) if isinstance(name, ast.Name) else []
        if len(bindings) != 1 or bindings[0].path or not isinstance(bindings[0].value, ast.Dict):
            return False
        assert isinstance(name, ast.Name)
        return not is_changed(self.source, name) and all(
            key is not None and self._is_new_variable(value)
            for key, value in zip(bindings[0].value.keys, bindings[0].value.values, strict=True)
        )

    def _is_new_variable(self, node: ast.expr) -> bool:
        if not isinstance(node, ast.Call) or qualified(self.source, node.func) != VARIABLE:
            return False
        return not any(keyword.arg in (None, "trainable") for keyword in node.keywords)

    def _read_elements(self, elements: list[ast.expr]) -> list[Part]:
        parts: list[Part] = []
        plain: list[ast.expr] = []
        for element in elements:
            if isinstance(element, ast.Starred):
                parts += self._explicit(plain)
                parts += self._read_in_order(element.value).parts
                plain = []
            else:
                plain.append(element)
        return parts + self._explicit(plain)

    def _explicit(self, elements: list[ast.expr]) -> list[Part]:
        if not elements:
            return []
        for element in elements:
            if not isinstance(element, ast.Name | ast.Attribute):
                raise tx206_variable_list.leave(
                    self.source.one_line(element), "is not a plain name"
                )
        references = tuple(self._reference(element) for element in elements)
        text = f"[{', '.join(self.source.segment(element) for element in elements)}]"
        if len(set(references)) < len(references):
            raise tx206_variable_list.leave(text, "names a variable twice")
        return [Part(False, references, text)]

    def _reference(self, node: ast.expr) -> Reference:
        found = self.references.resolve(node)
        if found is None:
            raise tx202_model_out_of_sight.leave(self.source.one_line(node), "is not a plain name")
        return found

    def _read_name(self, name: ast.Name) -> Leaves:
        scope = self.source.scope(name).lookup(name.id)
        bindings = self.references.versions.bindings(name)
        if scope and len(bindings) == 1 and bindings[0].kind == "parameter":
            reference = self.references.resolve(name)
            if reference == Reference(scope, (name.id,)) or reference is None:
                raise tx202_model_out_of_sight.leave(name.id, "is a parameter")
            raise tx206_variable_list.leave(name.id, "is a list made by the callers")
        held = reaching(self.source, name)
        if len(bindings) != 1 and held is None:
            raise tx206_variable_list.leave(name.id, "is put together in several statements")
        if is_changed(self.source, name):
            raise tx206_variable_list.leave(name.id, "is changed after it was made")
        if held is not None and not held.path and self._is_fresh(held.statement, name):
            leaves = self._read_in_order(held.value)
            if len(leaves.parts) == 1 and leaves.parts[0].chosen:
                # Written once: the condition may be long, and need not give the same twice.
                return replace(leaves, parts=(replace(leaves.parts[0], text=name.id),))
            return leaves
        if len(bindings) == 1 and self._holds_a_list(bindings[0]):
            part = Part(False, (self._reference(name),), name.id, is_named_list=True)
            return Leaves((part,), name)
        raise tx206_variable_list.leave(name.id, "holds variables out of sight")

    def _is_fresh(self, statement: ast.stmt, read: ast.Name) -> bool:
        """True where the list is made anew for each read: both are in the same loops."""
        reader = self.source.statement(read)
        return loops_around(self.source, statement) == loops_around(self.source, reader)

    def _holds_a_list(self, binding: Binding) -> bool:
        if binding.whole is None:
            return False
        if self._is_given_list(binding):
            return True
        self._read_in_order(binding.whole)
        return True

    def _is_given_list(self, binding: Binding) -> bool:
        """True for `[] if given is None else given`, in the function that keeps the optimizer."""
        value, kept = binding.value, self.references.kept
        if (
            not isinstance(value, ast.IfExp)
            or kept is None
            or not isinstance(value.orelse, ast.Name)
        ):
            return False
        given = kept.bindings.get(value.orelse.id, [])
        is_parameter = len(given) == 1 and given[0].kind == "parameter"
        is_here = binding in kept.bindings.get(binding.name, [])
        return is_here and is_parameter and ast.unparse(value.body) in ("[]", "()")


def _trainables(model: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Attribute(model, TRAINABLE[0], ast.Load()), model)


def _is_copy(call: ast.Call) -> bool:
    named = isinstance(call.func, ast.Name) and call.func.id in ("list", "tuple")
    return named and len(call.args) == 1 and not call.keywords


def _why_not(node: ast.expr) -> str:
    if isinstance(node, ast.ListComp | ast.GeneratorExp):
        return "is filtered or mapped"
    if isinstance(node, ast.Call):
        if getattr(node.func, "attr", "") == "values":
            return "may hold a variable twice, or something else"
        return "is put together by a call in ways not followed"
    return "holds variables out of sight"
