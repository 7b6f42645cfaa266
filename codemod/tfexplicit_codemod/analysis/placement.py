"""Where the state of an optimizer is made: after the later of the optimizer and its models."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from tfexplicit_codemod.analysis import parameter_servers, wrapped
from tfexplicit_codemod.analysis.attributes import SelfAttributes
from tfexplicit_codemod.analysis.definite import Definition, definition, holds_at, loops_around
from tfexplicit_codemod.analysis.hyperparameters import sets_hyperparameter
from tfexplicit_codemod.analysis.reaching import LOOPS
from tfexplicit_codemod.analysis.references import Reference, References
from tfexplicit_codemod.analysis.scopes import Binding, Scope
from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.rules import tx202_model_out_of_sight, tx203_unclear_definition


@dataclass(frozen=True)
class Placement:
    """`setup` goes after `statement`, in the same block; there every part is surely bound."""

    statement: ast.stmt
    definition: Definition


class Placements:
    """Finds the place of `setup`; raises `Leave` where none can be proven."""

    def __init__(self, source: Source, references: References, attributes: SelfAttributes) -> None:
        self.source = source
        self.references = references
        self.attributes = attributes

    def place(
        self, optimizer: Reference, models: list[Reference], sites: list[ast.stmt]
    ) -> Placement:
        if isinstance(optimizer.owner, ast.ClassDef):
            self.attributes.require_room(optimizer.owner)
        made = self._definition(optimizer)
        self._check_hyperparameters_stay(optimizer)
        parameter_servers.check_none(self.source)
        function = self.source.scope(made.statement)
        known = [self._definition_for(model, made, function) for model in models]
        definitions = [made, *(found for found in known if found)]
        later = max(definitions, key=lambda each: each.line)
        for each in definitions:
            if each.statement is later.statement:
                continue
            if not holds_at(self.source, each.statement, later.statement):
                raise tx203_unclear_definition.leave(
                    f"`{each.name}` is bound in a branch, `{later.name}` is not"
                )
        self._check_lifetimes(made, later)
        is_wrapped = wrapped.is_wrapped(self.source, made, function, sites)
        if not is_wrapped:
            self._check_is_one(optimizer)
        self._check_earlier_bindings(definitions[1:] if is_wrapped else definitions)
        self._check_room(later)
        self._check_versions(models if is_wrapped else [optimizer, *models], later, function)
        self._check_leaves_stay(models, later.statement, function)
        if len(models) > 1 and any(each.version > 0 for each in models):
            self._check_in_line(sites, later.statement)
        for site in sites:
            self._check_reached(site, later, function)
            if self.source.scope(site) is not function:
                self._check_not_called_in_branch(later)
        return Placement(later.statement, made)

    # Definitions.

    def _definition(self, reference: Reference) -> Definition:
        if self.attributes.is_of_checkpoint(reference):
            return self._definition(replace(reference, path=reference.path[:1]))
        if isinstance(reference.owner, Scope) and len(reference.path) == 1:
            return self._definition_of_name(reference)
        if isinstance(reference.owner, ast.ClassDef) and len(reference.path) == 1:
            return self.attributes.definition(reference.owner, reference.path[0])
        raise tx203_unclear_definition.leave(
            f"`{'.'.join(reference.path)}` belongs to an object whose class is not followed"
        )

    def _definition_of_name(self, reference: Reference) -> Definition:
        name, bindings = reference.path[0], self.references.bindings(reference)
        if any(binding.remote for binding in bindings):
            raise tx203_unclear_definition.leave(f"`{name}` is rebound through `global`")
        if any(isinstance(binding.node, ast.Delete) for binding in bindings):
            raise tx203_unclear_definition.leave(f"`{name}` is deleted")
        binders = [
            self.source.statement(b.node) for b in bindings if not isinstance(b.node, ast.arg)
        ]
        found = definition(self.source, name, binders) if binders else None
        if found is None or len(binders) < len(bindings):
            raise tx203_unclear_definition.leave(
                f"`{name}` is bound in a branch or a loop, or more than once"
            )
        return found

    def _definition_for(
        self, model: Reference, made: Definition, function: Scope
    ) -> Definition | None:
        """The definition of a model in the optimizer's own function; None if bound long before."""
        if isinstance(model.owner, ast.ClassDef):
            return self.attributes.definition_for(model, made.statement)
        name = model.path[0]
        if len(model.path) > 1:
            self.attributes.require_fixed(model)
        if model.owner not in function.ancestors():
            owner = model.owner.node
            inner = owner.name if isinstance(owner, ast.FunctionDef) else "a function"
            if all(b.kind == "parameter" for b in self.references.bindings(model)):
                raise tx202_model_out_of_sight.leave(
                    name, f"is a parameter of `{inner}`, the optimizer is made outside it"
                )
            raise tx202_model_out_of_sight.leave(
                name, f"is made in `{inner}`, the optimizer is not"
            )
        if model.owner is function:
            bindings = self.references.bindings(model)
            if len(bindings) == 1 and bindings[0].kind == "parameter":
                return None
            if self._are_all_before(bindings, made):
                return None
            return self._definition_of_name(model)
        if self.references.bindings(model)[0].kind == "parameter":
            return None
        found = self._definition_of_name(model)
        self._check_before_class(model, made, found)
        return None

    def _are_all_before(self, bindings: list[Binding], made: Definition) -> bool:
        """True where the model has its last value, if any, when the optimizer is made.

        Also where a branch binds it: without a value the program fails at its first step.
        """
        loops = loops_around(self.source, made.statement)
        for binding in bindings:
            if binding.remote or isinstance(binding.node, ast.arg | ast.Delete):
                return False
            statement = self.source.statement(binding.node)
            ends_before = (statement.end_lineno or 0) < min(b.lineno for b in made.binders)
            if not ends_before or isinstance(statement, LOOPS):
                return False
            # Bound anew in each round of a loop in which the optimizer stays.
            if any(loop in loops for loop in loops_around(self.source, statement)):
                return False
        return True

    def _check_before_class(self, model: Reference, made: Definition, found: Definition) -> None:
        """A method may run at any time after its class: the model must be older than that."""
        cls = self.source.enclosing(made.statement, ast.ClassDef)
        if cls is not None and found.line > cls.lineno:
            raise tx203_unclear_definition.leave(
                f"`{model.path[0]}` is made after the class `{cls.name}` that uses it"
            )

    # What else must hold at the place.

    def _check_lifetimes(self, made: Definition, later: Definition) -> None:
        loops = loops_around(self.source, later.statement)
        if any(loop not in loops_around(self.source, made.statement) for loop in loops):
            raise tx203_unclear_definition.leave(
                f"`{later.name}` is made anew in a loop, `{made.name}` is not"
            )

    def _check_earlier_bindings(self, definitions: list[Definition]) -> None:
        """A first value, replaced later, is harmless where no step can have come between: where
        something else that a step needs was not bound yet."""
        for each in definitions:
            others = [other for other in definitions if other is not each]
            first_lines = [min(b.lineno for b in other.binders) for other in others]
            if each.earlier and not any(first > each.line for first in first_lines):
                raise tx203_unclear_definition.leave(f"`{each.name}` is bound more than once")

    def _check_versions(
        self, references: list[Reference], later: Definition, function: Scope
    ) -> None:
        """Where a name is bound anew later, `setup` must see the value that the step sees."""
        for each in references:
            if (
                each.owner is function
                and each.path
                and each.version != self._version_at(later.statement, each)
            ):
                raise tx203_unclear_definition.leave(f"`{each.path[0]}` is bound more than once")

    def _check_is_one(self, optimizer: Reference) -> None:
        """One of unknown version may have the state of an earlier one, or be made since."""
        scope, name = optimizer.owner, optimizer.path[0]
        if not isinstance(scope, Scope) or optimizer.version:
            return
        if self.references.versions.is_split(scope, name):
            raise tx203_unclear_definition.leave(f"`{name}` is bound more than once")

    def _check_in_line(self, sites: list[ast.stmt], setup: ast.stmt) -> None:
        """A function that is there before `setup` may be called between the two bindings."""
        scope = self.source.scope(setup)
        for site in sites:
            function = self.source.function_within(site, scope)
            if function is None:
                continue
            if not holds_at(self.source, setup, self.source.statement(function)):
                raise tx203_unclear_definition.leave(
                    "a model is bound anew, and a function that steps may be called before"
                )

    def _version_at(self, statement: ast.stmt, reference: Reference) -> int:
        assert isinstance(reference.owner, Scope)
        name = reference.path[0]
        return self.references.versions.number_after(statement, reference.owner, name)

    def _check_leaves_stay(self, models: list[Reference], setup: ast.stmt, function: Scope) -> None:
        """The leaves that `setup` sees must be those of the first step."""
        for attribute in self.source.nodes(ast.Attribute):
            if attribute.lineno <= setup.lineno or not self._changes_leaves(attribute, models):
                continue
            if function in self.source.scope(attribute).ancestors():
                raise tx203_unclear_definition.leave(
                    f"`{self.source.one_line(attribute)}` changes what is trained after the "
                    "optimizer is made"
                )

    def _check_hyperparameters_stay(self, optimizer: Reference) -> None:
        """`setup` reads them once; only the learning rate of a Keras object is followed."""
        for attribute in self.source.nodes(ast.Attribute):
            if sets_hyperparameter(attribute) and optimizer in self._may_be(attribute.value):
                how = "set" if isinstance(attribute.ctx, ast.Store) else "called"
                name = self.source.one_line(attribute, limit=80)
                raise tx203_unclear_definition.leave(
                    f"`{name}` is {how} after the optimizer is made"
                )

    def _changes_leaves(self, attribute: ast.Attribute, models: list[Reference]) -> bool:
        """True for `x.trainable = ...`, and for `model.add(...)` on one of the models."""
        if attribute.attr == "trainable":
            return not isinstance(attribute.ctx, ast.Load)
        is_call = isinstance(self.source.parent_of[attribute], ast.Call)
        adds = is_call and attribute.attr in ("add", "pop")
        return adds and any(each in models for each in self._may_be(attribute.value))

    def _may_be(self, node: ast.expr) -> set[Reference | None]:
        """What is changed with the object: for an element, also by a loop, its container."""
        if isinstance(node, ast.Subscript):
            return self._may_be(node.value)
        bindings = self.references.versions.bindings(node) if isinstance(node, ast.Name) else []
        loops = [b.node.iter for b in bindings if isinstance(b.node, ast.For)]
        within = [each for loop in loops for each in ast.walk(loop) if isinstance(each, ast.expr)]
        return {self.references.resolve(each) for each in (node, *within)}

    def _check_room(self, later: Definition) -> None:
        statement = later.statement
        if self.source.follows_colon(statement) or not self.source.ends_its_line(statement):
            raise tx203_unclear_definition.leave(
                f"`{later.name}` is bound on a line that has no room for a statement after it"
            )

    def _check_not_called_in_branch(self, later: Definition) -> None:
        """Bound in every branch: no branch may go on to call a function that steps."""
        if later.statement in later.binders:
            return
        bound = [node for binder in later.binders for node in ast.walk(binder)]
        for node in ast.walk(later.statement):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node not in bound:
                scope = self.source.scope(node).lookup(node.func.id)
                if scope and any(b.kind == "definition" for b in scope.bindings[node.func.id]):
                    raise tx203_unclear_definition.leave(
                        f"`{later.name}` is bound in several branches, and what one of them does "
                        f"by calling `{node.func.id}` is not followed"
                    )

    def _check_reached(self, site: ast.stmt, later: Definition, function: Scope) -> None:
        """A nested function runs later: it could not have read the optimizer before that."""
        if self.source.scope(site) is function and not holds_at(self.source, later.statement, site):
            raise tx203_unclear_definition.leave(
                f"the update can be reached without the statement that binds `{later.name}`"
            )
