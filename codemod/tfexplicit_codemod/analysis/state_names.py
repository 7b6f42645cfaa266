"""Where each state is kept, and under which name."""

from __future__ import annotations

import ast

from tfexplicit_codemod.analysis import naming
from tfexplicit_codemod.analysis.classes import Classes
from tfexplicit_codemod.analysis.groups import Group
from tfexplicit_codemod.analysis.parameters import Parameters
from tfexplicit_codemod.analysis.references import Reference
from tfexplicit_codemod.analysis.scopes import Scope
from tfexplicit_codemod.analysis.source import Source


class StateNames:
    """Gives the states of one file names that are free where they are used."""

    def __init__(
        self, source: Source, classes: Classes, parameters: Parameters, alias: str
    ) -> None:
        self.source = source
        self.classes = classes
        self.parameters = parameters
        self.alias = alias
        self.states: list[Reference] = []
        self.homes_within: dict[Scope | ast.ClassDef, set[Reference]] = {}

    def know(self, groups: list[Group]) -> None:
        """Takes note of which optimizers are stepped within which functions."""
        for group in groups:
            for statement in group.statements:
                for scope in self.source.scope(statement).ancestors():
                    self.homes_within.setdefault(scope, set()).add(group.home)

    def state_for(self, optimizer: Reference) -> Reference:
        """The state lives where its optimizer lives, under a name that is free there."""
        given = {s.path[-1] for s in self.states if self._share_names(s, optimizer)}
        taken = {*self.source.identifiers, self.alias, *given}
        state = Reference(optimizer.owner, (naming.state_name(optimizer.path[-1], taken),))
        self.states.append(state)
        return state

    def _share_names(self, one: Reference, other: Reference) -> bool:
        if isinstance(one.owner, Scope) and isinstance(other.owner, Scope):
            if one.owner is not other.owner and self._is_alone_in(one, other):
                return False
            return one.owner in other.owner.ancestors() or other.owner in one.owner.ancestors()
        if isinstance(one.owner, ast.ClassDef) and isinstance(other.owner, ast.ClassDef):
            return other.owner in self.classes.related(one.owner)
        return False

    def _is_alone_in(self, *states: Reference) -> bool:
        """True where one is of a function that steps only what it was given: it may hide others."""
        for state in states:
            optimizers = self.homes_within.get(state.owner, set())
            if len(optimizers) == 1 and self.parameters.of(next(iter(optimizers))):
                return True
        return False
