"""Where the state of each optimizer is made; what keeps it from being made."""

from __future__ import annotations

import ast

from tfexplicit_codemod.analysis.compiled import Compile, Compiled
from tfexplicit_codemod.analysis.elements import is_of_elements
from tfexplicit_codemod.analysis.given import Entry
from tfexplicit_codemod.analysis.groups import Group
from tfexplicit_codemod.analysis.names import dotted
from tfexplicit_codemod.analysis.parameters import Parameter, Parameters
from tfexplicit_codemod.analysis.placement import Placement, Placements
from tfexplicit_codemod.analysis.references import Reference, References
from tfexplicit_codemod.analysis.set_elsewhere import is_set_in_other_files
from tfexplicit_codemod.analysis.sites import Update
from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.analysis.untrained import check_checkpoints_stay
from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.rules import tx203_unclear_definition, tx209_optimizer_in_container
from tfexplicit_codemod.surroundings import Surroundings

Place = Placement | Compile | Parameter | Entry


class Places:
    """Raises `Leave` for a group that has no such place; notes in `left` which sites it drops."""

    def __init__(
        self,
        source: Source,
        references: References,
        placements: Placements,
        compiled: Compiled,
        parameters: Parameters,
        around: Surroundings,
        alias: str,
        left: dict[Update, Leave],
        entries: dict[Reference, Entry],
    ) -> None:
        self.source = source
        self.references = references
        self.placements = placements
        self.compiled = compiled
        self.parameters = parameters
        self.around = around
        self.alias = alias
        self.left = left
        self.entries = entries

    def place_what_runs(self, group: Group) -> Place:
        """A site in a function that nobody calls, of another model perhaps, does not hinder."""
        try:
            return self._place(group)
        except Leave as leave:
            idle = [each for each in group.members if self._never_runs(each.statement)]
            if not idle or len(idle) == len(group.members):
                raise
            for each in idle:
                group.members.remove(each)
                self.left[each.update] = leave
            return self._place(group)

    def _never_runs(self, statement: ast.stmt) -> bool:
        function = self.source.enclosing(statement, ast.FunctionDef)
        if function is None or not self.references.versions.is_never_run(function):
            return False
        return not self.around.is_used_elsewhere(function.name)

    def _place(self, group: Group) -> Place:
        self._check_has_no_state_yet(group)
        check_checkpoints_stay(self.source, self.references, group)
        if is_of_elements(group.members) and len(group.parts) != 1:
            raise tx209_optimizer_in_container.leave(".".join(group.home.path))
        models = [reference for part in group.parts for reference in part.references]
        if group.is_compiled:
            return self.compiled.place(group.home, models)
        if group.home in self.entries:
            return self.entries[group.home]
        parameter = self.parameters.of(group.home)
        if parameter is not None:
            self.parameters.check_hyperparameters_stay(parameter)
            return parameter
        for kept in (group.home, *models):
            self._check_set_here_only(kept)
        return self.placements.place(group.home, models, group.statements)

    def _check_set_here_only(self, kept: Reference) -> None:
        cls, name = kept.owner, kept.path[0] if kept.path else ""
        if name and isinstance(cls, ast.ClassDef) and is_set_in_other_files(self.around, cls, name):
            raise tx203_unclear_definition.leave(f"`.{name}` may be set in other files, too")

    def _check_has_no_state_yet(self, group: Group) -> None:
        """An earlier run may have left one of its sites: that one has no state to take part in."""
        for call in self.source.nodes(ast.Call):
            if dotted(call.func) != (self.alias, "setup") or not call.args:
                continue
            set_up = self.references.resolve(call.args[0])
            if set_up is not None and group.home.may_be(set_up):
                name = ".".join(group.home.path)
                raise tx203_unclear_definition.leave(f"`{name}` has a state already")
