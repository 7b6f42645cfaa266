"""Attributes of `self`: in which method, and after which statement of it, they are set."""

from __future__ import annotations

import ast

from tfexplicit_codemod.analysis.classes import Method
from tfexplicit_codemod.analysis.construction import STEPS, Construction
from tfexplicit_codemod.analysis.definite import Definition, definition
from tfexplicit_codemod.analysis.module import Module
from tfexplicit_codemod.analysis.names import qualified
from tfexplicit_codemod.analysis.references import Reference, References
from tfexplicit_codemod.analysis.scopes import Scope
from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.rules import tx202_model_out_of_sight, tx203_unclear_definition


def is_saved_model(source: Source, call: ast.Call) -> bool:
    """True for a call that restores a module as it was saved: its attributes stay what they are."""
    return qualified(source, call.func) == "tensorflow.saved_model.load"


class SelfAttributes:
    """Definitions of `self.<name>`; raises `Leave` where they cannot be followed."""

    def __init__(self, module: Module, references: References) -> None:
        self.module = module
        self.source = module.source
        self.classes = module.classes
        self.references = references
        self.construction = Construction(module.source, module.classes)

    def require_room(self, cls: ast.ClassDef) -> None:
        """Raise where `self.opt_state` cannot be added to objects of the class."""
        if not self.construction.takes_new_attributes(cls):
            raise tx203_unclear_definition.leave(
                f"`{cls.name}` may not take a new attribute for the state"
            )

    def definition(self, cls: ast.ClassDef, name: str) -> Definition:
        """The one method that sets `self.<name>`, and the statement after which it is set."""
        method = self.setter(cls, name)
        binders = [store.statement for store in self.classes.assignments(cls, name)]
        found = definition(self.source, f"self.{name}", binders)
        if found is None:
            raise tx203_unclear_definition.leave(
                f"`self.{name}` is bound in a branch or a loop of `{method.name}`"
            )
        return found

    def setter(self, cls: ast.ClassDef, name: str) -> Method:
        """The only method of the class and its relatives that sets the attribute."""
        stores = self.classes.assignments(cls, name)
        if not stores:
            raise tx202_model_out_of_sight.leave(
                f"self.{name}", f"is not assigned in `{cls.name}` in this file"
            )
        elsewhere = self.classes.stores_elsewhere(cls, name)
        methods = {store.method for store in stores}
        if elsewhere or len(methods) != 1 or self.construction.is_set_by_name(name):
            raise tx203_unclear_definition.leave(f"`.{name}` is set in several places")
        method = methods.pop()
        assert method is not None
        if any(self._function(store.statement) is not method for store in stores):
            raise tx203_unclear_definition.leave(f"`self.{name}` is set in a nested function")
        return method

    def definition_for(self, model: Reference, optimizer_made: ast.stmt) -> Definition | None:
        """When `self.model` is set, seen from the function that makes the optimizer.

        A definition in that very function, or None for set before it can run.
        """
        assert isinstance(model.owner, ast.ClassDef)
        if not model.path:
            return self._whole_object(optimizer_made)
        if len(model.path) > 1:
            self.require_fixed(model)
        name = model.path[0]
        maker = self._function(optimizer_made)
        setter = self.setter(model.owner, name)
        if setter is maker:
            return self.definition(model.owner, name)
        call = self._only_call_in(maker, setter)
        if call is not None and isinstance(maker, Method):
            if self.construction.is_overridden(setter, maker):
                raise tx203_unclear_definition.leave(
                    f"`self.{name}` is set in `{setter.name}`, which not every object has"
                )
            self.definition(model.owner, name)
            return Definition(f"self.{name}", call, (call,), ())
        if setter.name == "__init__" and isinstance(maker, Method):
            set_at = self.definition(model.owner, name)
            if self.construction.always_ran(setter, maker, set_at.line):
                return None
        raise tx203_unclear_definition.leave(
            f"`self.{name}` is set in `{setter.name}`, perhaps after the optimizer is made"
        )

    def _whole_object(self, optimizer_made: ast.stmt) -> Definition | None:
        """A model that is `self` has all its parts at the end of `__init__`."""
        maker = self._function(optimizer_made)
        if not isinstance(maker, Method) or maker.name != "__init__":
            return None
        cls = self.source.parent_of[maker]
        assert isinstance(cls, ast.ClassDef)
        steps = self.construction.reaching(cls, STEPS, but=maker)
        for node in ast.walk(maker):
            if getattr(node, "lineno", 0) <= optimizer_made.lineno:
                continue
            if isinstance(node, ast.Return) and self._function(node) is maker:
                raise tx203_unclear_definition.leave("`__init__` may return before its end")
            if isinstance(node, ast.Attribute) and node.attr in steps:
                text = self.source.one_line(node)
                raise tx203_unclear_definition.leave(f"`{text}` may step before `self` is whole")
        return Definition("self", maker.body[-1], (maker.body[-1],), ())

    def require_fixed(self, reference: Reference) -> None:
        """Raise unless `a.model` is set once, in `__init__` of a class of this file."""
        text = ".".join((*(["self"] if reference.of_self else []), *reference.path))
        holder = ".".join(text.split(".")[:-1])
        unknown = tx202_model_out_of_sight.leave(
            text, f"is an attribute of `{holder}`, whose class is out of sight"
        )
        if len(reference.path) != 2:
            raise unknown
        if self.is_of_checkpoint(reference) or self.is_of_saved_model(reference):
            return
        found = self._class_of(reference)
        if found is None:
            raise unknown
        module, cls = found
        there = self if module is self.module else SelfAttributes(module, References(module))
        if not module.classes.assignments(cls, reference.path[1]):
            raise unknown
        if there.setter(cls, reference.path[1]).name != "__init__":
            raise unknown
        there.definition(cls, reference.path[1])

    def is_of_checkpoint(self, reference: Reference) -> bool:
        """True for `checkpoint.optimizer`, which the checkpoint was made with."""
        made = self._made_by(reference) if len(reference.path) == 2 else None
        checkpoint = self.module.checkpoints.made(made)
        if checkpoint is None:
            return False
        return self.module.checkpoints.argument(checkpoint, reference.path[1]) is not None

    def is_of_saved_model(self, reference: Reference) -> bool:
        """True for `restored.<name>` of what `tf.saved_model.load` gave."""
        made = self._made_by(reference) if len(reference.path) == 2 else None
        return made is not None and is_saved_model(self.source, made)

    def _class_of(self, reference: Reference) -> tuple[Module, ast.ClassDef] | None:
        """The class of the project whose instance the first name of the reference holds."""
        value = self._made_by(reference)
        return self.module.class_called(value) if value is not None else None

    def _made_by(self, reference: Reference) -> ast.Call | None:
        """The call that made what the first name of the reference holds."""
        values: list[ast.expr | None]
        if isinstance(reference.owner, Scope):
            bindings = self.references.bindings(reference)
            values = [binding.value for binding in bindings if not binding.path]
        else:
            stores = self.classes.assignments(reference.owner, reference.path[0])
            values = [store.value for store in stores if not store.path]
        value = values[0] if len(values) == 1 else None
        return value if isinstance(value, ast.Call) else None

    def _function(self, statement: ast.stmt) -> ast.AST:
        return self.source.scope(statement).node

    def _only_call_in(self, maker: ast.AST, setter: Method) -> ast.stmt | None:
        """`self.build()` in `maker`, where that is the only use of the method in the file."""
        uses = [a for a in self.source.nodes(ast.Attribute) if a.attr == setter.name]
        if len(uses) != 1 or self.classes.self_of(uses[0].value) is None:
            return None
        statement = self.source.statement(uses[0])
        is_plain_call = isinstance(statement, ast.Expr | ast.Assign)
        return statement if is_plain_call and self._function(statement) is maker else None
