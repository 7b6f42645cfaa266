"""Lists and dicts of optimizers beside lists and dicts of models: `optimizers[i]`, `models[i]`."""

from __future__ import annotations

import ast

from tfexplicit_codemod.analysis import frameworks
from tfexplicit_codemod.analysis.changes import CHANGES
from tfexplicit_codemod.analysis.held_values import held_values
from tfexplicit_codemod.analysis.module import Module
from tfexplicit_codemod.analysis.names import qualified
from tfexplicit_codemod.analysis.references import Reference, References
from tfexplicit_codemod.analysis.understood import Understood
from tfexplicit_codemod.analysis.variables import Leaves
from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.rules import tx209_optimizer_in_container

Container = ast.List | ast.ListComp | ast.Dict | ast.DictComp


class Elements:
    """Raises `Leave` where it is not sure that one element belongs to the other."""

    def __init__(self, module: Module, references: References) -> None:
        self.source = module.source
        self.classes = module.classes
        self.versions = module.versions
        self.references = references

    def home(self, receiver: ast.expr) -> Reference:
        """Where the container of an optimizer is kept."""
        leave = self._leave(receiver)
        if not isinstance(receiver, ast.Subscript) or not self._is_fixed(receiver.slice):
            raise leave
        home = self.references.resolve(receiver.value)
        held = self._made(receiver.value)
        if home is None or len(home.path) != 1 or held is None:
            raise leave
        if not all(self._is_new_optimizer(value) for value in _values(held)):
            raise leave
        return home

    def check(self, receiver: ast.expr, leaves: Leaves, sources: Leaves | None) -> None:
        """Raise unless the variables are of the element at the same place of an equal container."""
        assert isinstance(receiver, ast.Subscript)
        place = self.source.segment(receiver.slice)
        models = leaves.parts[0].element_of
        same = [part.element for lists in (leaves, sources) if lists for part in lists.parts]
        if models is None or len(leaves.parts) != 1 or set(same) != {place}:
            raise self._leave(receiver)
        one, other = self._made(receiver.value), self._made(models)
        if one is None or other is None or not self._have_equal_places(one, other):
            raise self._leave(receiver)

    def is_dict(self, receiver: ast.expr) -> bool:
        assert isinstance(receiver, ast.Subscript)
        return isinstance(self._made(receiver.value), ast.Dict | ast.DictComp)

    def _leave(self, receiver: ast.expr) -> Leave:
        return tx209_optimizer_in_container.leave(self.source.one_line(receiver))

    def _is_fixed(self, index: ast.expr) -> bool:
        """True for a constant, and for a name that one loop or parameter binds."""
        if not isinstance(index, ast.Name):
            return isinstance(index, ast.Constant)
        scope = self.source.scope(index).lookup(index.id)
        bindings = scope.bindings[index.id] if scope else []
        return len(bindings) == 1 and isinstance(bindings[0].node, ast.arg | ast.For)

    def _made(self, container: ast.expr) -> Container | None:
        """The display or comprehension that a name holds, if nothing changes it later."""
        values = held_values(self.classes, self.versions, container)
        value = values[0] if len(values) == 1 else None
        return value if isinstance(value, Container) and not self._is_changed(container) else None

    def _is_changed(self, container: ast.expr) -> bool:
        """True for `models.append(m)`, `models[0] = m`, `models += [m]` on a thing of that name."""
        name = getattr(container, "id", getattr(container, "attr", ""))
        for use in (*self.source.nodes(ast.Name), *self.source.nodes(ast.Attribute)):
            if getattr(use, "id", getattr(use, "attr", "")) != name:
                continue
            outer = self.source.parent_of[use]
            if isinstance(outer, ast.Attribute) and outer.attr in CHANGES:
                return True
            if isinstance(outer, ast.Subscript) and not isinstance(outer.ctx, ast.Load):
                return True
            if isinstance(outer, ast.AugAssign) and outer.target is use:
                return True
        return False

    def _is_new_optimizer(self, value: ast.expr) -> bool:
        """True for a constructor: an optimizer that is in two places has one state, not two."""
        path = qualified(self.source, value.func) if isinstance(value, ast.Call) else None
        return path is not None and frameworks.family(path) == "keras"

    def _have_equal_places(self, one: Container, other: Container) -> bool:
        if isinstance(one, ast.List) and isinstance(other, ast.List):
            starred = [v for v in (*one.elts, *other.elts) if isinstance(v, ast.Starred)]
            return len(one.elts) == len(other.elts) and not starred
        if isinstance(one, ast.Dict) and isinstance(other, ast.Dict):
            keys, others = _constants(one), _constants(other)
            return keys is not None and keys == others
        comprehensions = ast.ListComp | ast.DictComp
        if type(one) is not type(other) or not isinstance(one, comprehensions):
            return False
        assert isinstance(other, comprehensions)
        return self._run_over_the_same(one, other)

    def _run_over_the_same(
        self, one: ast.ListComp | ast.DictComp, other: ast.ListComp | ast.DictComp
    ) -> bool:
        """True for two that go over `range(n)`, or over one name, and pass over nothing."""
        texts = []
        for each in (one, other):
            loop = each.generators[0]
            if len(each.generators) != 1 or loop.ifs:
                return False
            if isinstance(each, ast.DictComp) and ast.dump(each.key) != ast.dump(
                ast.Name(getattr(loop.target, "id", ""), ast.Load())
            ):
                return False
            if not all(self._is_bound_once(name) for name in _names(loop.iter)):
                return False
            texts.append(self.source.segment(loop.iter))
        is_plain = isinstance(one.generators[0].iter, ast.Name) or texts[0].startswith("range(")
        return texts[0] == texts[1] and is_plain

    def _is_bound_once(self, name: ast.Name) -> bool:
        scope = self.source.scope(name).lookup(name.id)
        return scope is None or len(scope.bindings[name.id]) == 1


def is_of_elements(members: list[Understood]) -> bool:
    """True for the sites of a container of optimizers."""
    return any(each.update.value.kind == "element" for each in members)


def _values(container: Container) -> list[ast.expr]:
    if isinstance(container, ast.List):
        return container.elts
    if isinstance(container, ast.Dict):
        return container.values
    return [container.elt if isinstance(container, ast.ListComp) else container.value]


def _constants(container: ast.Dict) -> list[object] | None:
    keys = [key.value if isinstance(key, ast.Constant) else None for key in container.keys]
    return None if None in keys else sorted(keys, key=repr)


def _names(node: ast.expr) -> list[ast.Name]:
    return [name for name in ast.walk(node) if isinstance(name, ast.Name)]
