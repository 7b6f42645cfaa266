"""The optimizer that `compile` gives to a Keras model: its state is made in `compile`, too."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from tfexplicit_codemod.analysis.classes import Classes
from tfexplicit_codemod.analysis.compiles import COMPILE, may_compile
from tfexplicit_codemod.analysis.module import Module
from tfexplicit_codemod.analysis.references import Reference
from tfexplicit_codemod.analysis.saved_whole import sign_of_saving
from tfexplicit_codemod.analysis.set_elsewhere import is_defined_in_other_files
from tfexplicit_codemod.edits import InsertAfter
from tfexplicit_codemod.rules import (
    tx108_compiled_optimizer,
    tx204_compiled_optimizer,
)
from tfexplicit_codemod.surroundings import Surroundings

OPTIMIZER = "optimizer"
LOAD_WEIGHTS = "load_weights"
# A model that is frozen, or that is made on a TPU, may have other leaves at its first step.
UNSAFE_WORDS = ("trainable", "TPUStrategy")


@dataclass(frozen=True)
class Compile:
    """Where the state is made: after a statement of `compile`, or in a method to be added."""

    cls: ast.ClassDef
    after: ast.stmt
    is_new: bool


class Compiled:
    """Raises `Leave` for a model that may be compiled in a way that is out of sight."""

    def __init__(self, module: Module, around: Surroundings) -> None:
        self.module = module
        self.source = module.source
        self.classes: Classes = module.classes
        self.around = around

    def home(self, receiver: ast.expr) -> Reference:
        """`self.optimizer` of a class whose `compile` can make the state."""
        own = self.classes.self_of(receiver.value) if isinstance(receiver, ast.Attribute) else None
        if own is None:
            raise tx204_compiled_optimizer.leave(
                self.source.one_line(receiver), "of another object"
            )
        return Reference(own[0], (OPTIMIZER,))

    def may_replace(self, cls: ast.ClassDef) -> bool:
        """True where the file may compile an object that has an optimizer of its own."""
        return COMPILE in self.source.identifiers and may_compile(self.module, cls)

    def place(self, home: Reference, models: list[Reference]) -> Compile:
        cls = home.owner
        assert isinstance(cls, ast.ClassDef)
        method = self._method(cls)
        self._check(cls, models, has_own=method is not None)
        if method is None:
            return Compile(cls, _last_before_methods(cls), is_new=True)
        calls = [statement for statement in method.body if _calls_super(statement)]
        if len(calls) != 1 or any(isinstance(n, ast.Return) for n in ast.walk(method)):
            raise self._leave("which does not call that of Keras in one plain statement")
        return Compile(cls, calls[0], is_new=False)

    def edit(self, place: Compile, tx: str, state: str, build: str) -> InsertAfter:
        line = self.source.leader_line(place.after)
        if place.is_new:
            return InsertAfter(line, tx108_compiled_optimizer.method(tx, state, build))
        name = self.source.self_name(place.after)
        return InsertAfter(line, tx108_compiled_optimizer.statement(tx, name, state, build))

    def _check(self, cls: ast.ClassDef, models: list[Reference], has_own: bool) -> None:
        family = self.classes.related(cls)
        if any(model.owner not in family for model in models):
            raise self._leave("the model has not all the variables")
        if self.classes.stores.get(OPTIMIZER):
            raise self._leave("and also set elsewhere")
        if not has_own and not any(self._is_made_here(each) for each in family):
            raise self._leave("the model is made out of sight")
        if not has_own and any(self.around.is_used_elsewhere(each.name) for each in family):
            raise self._leave("other files use the model")
        if is_defined_in_other_files(self.around, cls, "compile"):
            raise self._leave("in a way of its own in other files")
        words = [word for word in UNSAFE_WORDS if word in self.source.identifiers]
        if words:
            raise self._leave(f"the model uses `{words[0]}`")
        sign = None if has_own else sign_of_saving(self.source)
        if sign:
            raise self._leave(f"and the file may save or copy the model whole: `{sign}`")

    def may_load_weights(self, cls: ast.ClassDef) -> bool:
        """With the weights Keras loads the slots of an optimizer, but not before that is built."""
        if LOAD_WEIGHTS in self.source.identifiers:
            return True
        return any(LOAD_WEIGHTS.encode() in text for text in self.around.texts_naming(cls.name))

    def _is_made_here(self, cls: ast.ClassDef) -> bool:
        return any(
            isinstance(call.func, ast.Name) and call.func.id == cls.name
            for call in self.source.nodes(ast.Call)
        )

    def _method(self, cls: ast.ClassDef) -> ast.FunctionDef | None:
        """The one `compile` of the class or its bases; None where only Keras has one."""
        found = [
            (each, statement)
            for each in self.classes.related(cls)
            for statement in each.body
            if isinstance(statement, ast.FunctionDef) and statement.name == "compile"
        ]
        if not found:
            return None
        holder, method = found[0]
        if len(found) > 1 or holder not in list(self.classes.bases_here(cls)):
            raise self._leave("which several classes have")
        return method

    def _leave(self, why: str) -> Exception:
        return tx204_compiled_optimizer.leave("self.optimizer", why)


def _calls_super(statement: ast.stmt) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    base = call.func.value
    is_super = isinstance(base, ast.Call) and getattr(base.func, "id", "") == "super"
    return is_super and call.func.attr == "compile"


def _last_before_methods(cls: ast.ClassDef) -> ast.stmt:
    """`__init__`, or else the first method."""
    methods = [each for each in cls.body if isinstance(each, ast.FunctionDef)]
    return next((each for each in methods if each.name == "__init__"), methods[0])
