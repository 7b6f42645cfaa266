"""Where an object is kept: the one name or `self` attribute behind the spellings of a file."""

from __future__ import annotations

import ast
from copy import copy
from dataclasses import dataclass, replace

from tfexplicit_codemod.analysis.calls import arguments_for
from tfexplicit_codemod.analysis.method_calls import arguments_for_method
from tfexplicit_codemod.analysis.module import Module
from tfexplicit_codemod.analysis.names import dotted
from tfexplicit_codemod.analysis.scopes import Binding, Scope
from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.surroundings import OUT_OF_SIGHT, Surroundings


@dataclass(frozen=True)
class Reference:
    """A name of a scope, `self` of a class, or an attribute of either.

    `model` at module level is (module scope, ("model",)); `self.model` is (class, ("model",)) in
    every method of the class; a bare `self` is (class, ()). `version` tells apart the values of a
    name that is bound anew for a second phase, as `versions.py` does.
    """

    owner: Scope | ast.ClassDef
    path: tuple[str, ...]
    version: int = 0

    @property
    def of_self(self) -> bool:
        return isinstance(self.owner, ast.ClassDef)

    def may_be(self, other: Reference) -> bool:
        """True where both may name one object: version 0 may be any version."""
        same = (self.owner, self.path) == (other.owner, other.path)
        return same and (self.version == other.version or 0 in (self.version, other.version))

    def code_at(self, source: Source, statement: ast.stmt) -> str:
        """How code at a statement reads it: through whatever the method there calls `self`."""
        head = (source.self_name(statement),) if self.of_self else ()
        return ".".join((*head, *self.path))


class References:
    """Resolves expressions of one file to references."""

    def __init__(self, module: Module, around: Surroundings = OUT_OF_SIGHT) -> None:
        self.around = around
        self.source = module.source
        self.classes = module.classes
        self.versions = module.versions
        self.checkpoints = module.checkpoints
        self.kept: Scope | None = None

    def keeping(self, scope: Scope | ast.ClassDef) -> References:
        """The same, but a parameter of this function stays what it is: it has a name there."""
        other = copy(self)
        other.kept = scope if isinstance(scope, Scope) else None
        return other

    def resolve(self, node: ast.expr) -> Reference | None:
        """The reference of a name or attribute, through aliases and parameters; else None."""
        return self._resolve(node, frozenset())

    def _resolve(self, node: ast.expr, seen: frozenset[Binding]) -> Reference | None:
        if isinstance(node, ast.Attribute):
            held = self._held_by_checkpoint(node, seen)
            if held is not None:
                return held
            base = self._resolve(node.value, seen)
            if base is None:
                return None
            if isinstance(base.owner, ast.ClassDef) and not base.path:
                return Reference(self._assigning_class(base.owner, node.attr), (node.attr,))
            return replace(base, path=(*base.path, node.attr))
        if not isinstance(node, ast.Name):
            return None
        own = self.classes.self_of(node)
        if own:
            return Reference(own[0], ())
        scope = self.source.scope(node).lookup(node.id)
        if scope is None:
            return None
        here = Reference(scope, (node.id,), self.versions.number(node))
        bindings = self.versions.bindings(node)
        if len(bindings) != 1 or bindings[0] in seen:
            return here
        return self._through(bindings[0], seen | {bindings[0]}) or here

    def _held_by_checkpoint(
        self, node: ast.Attribute, seen: frozenset[Binding]
    ) -> Reference | None:
        """What a checkpoint was given, where the one who reads it has a name for that, too."""
        given = self.checkpoints.held(node)
        if given is None or dotted(given) is None:
            return None
        found = self.keeping(self.source.scope(given))._resolve(given, seen)
        if found is None or isinstance(found.owner, ast.ClassDef):
            return found
        return found if found.owner in self.source.scope(node).ancestors() else None

    def bindings(self, reference: Reference) -> list[Binding]:
        """The bindings of the name that a reference of a scope begins with."""
        assert isinstance(reference.owner, Scope)
        name = reference.path[0]
        return self.versions.bindings_of(reference.owner, name, reference.version)

    def _through(self, binding: Binding, seen: frozenset[Binding]) -> Reference | None:
        """What a single binding merely passes on: another name, or what all callers give."""
        if isinstance(binding.node, ast.arg):
            if self.kept and binding in self.kept.bindings.get(binding.name, []):
                return None
            return self._passed_by_all_callers(binding.node, seen)
        if binding.kind == "assign" and binding.value is not None and not binding.path:
            parts = dotted(binding.value)
            if parts and len(parts) == 1:
                return self._resolve(binding.value, seen)
            if parts and len(parts) == 2:
                kept = self._resolve(binding.value, seen)
                return kept if kept and kept.of_self and len(kept.path) == 1 else None
            if isinstance(binding.value, ast.Attribute) and self.checkpoints.held(binding.value):
                kept = self._resolve(binding.value, seen)
                return kept if kept and kept.of_self else None
        return None

    def _passed_by_all_callers(
        self, parameter: ast.arg, seen: frozenset[Binding]
    ) -> Reference | None:
        arguments = arguments_for(self.source, parameter, self.versions)
        if arguments is None:
            arguments = arguments_for_method(self.source, self.classes, self.around, parameter)
        if arguments is None or any(dotted(argument) is None for argument in arguments):
            return None
        found = {self._resolve(argument, seen) for argument in arguments}
        return found.pop() if len(found) == 1 else None

    def _assigning_class(self, cls: ast.ClassDef, attribute: str) -> ast.ClassDef:
        """The class in the family of `cls` that assigns the attribute; `cls` if none does."""
        for base in self.classes.bases_here(cls):
            if any(store.cls is base for store in self.classes.stores.get(attribute, [])):
                return base
        return cls
