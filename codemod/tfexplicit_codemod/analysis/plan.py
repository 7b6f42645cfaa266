"""The plan for one file: what each update site becomes, or why it stays."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from tfexplicit_codemod.analysis import imports, naming, todo
from tfexplicit_codemod.analysis.attributes import SelfAttributes
from tfexplicit_codemod.analysis.compiled import Compiled
from tfexplicit_codemod.analysis.gradients import Gradients
from tfexplicit_codemod.analysis.groups import Group, grouped, leave_mixed_groups
from tfexplicit_codemod.analysis.keras_models import KerasModels
from tfexplicit_codemod.analysis.minimized import Minimized
from tfexplicit_codemod.analysis.module import Module
from tfexplicit_codemod.analysis.placement import Placement, Placements
from tfexplicit_codemod.analysis.references import Reference, References
from tfexplicit_codemod.analysis.scopes import Scope
from tfexplicit_codemod.analysis.sites import Update, updates
from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.analysis.understand import Understand, Understood
from tfexplicit_codemod.analysis.untrained import Untrained, check_checkpoints_stay
from tfexplicit_codemod.analysis.variables import Variables
from tfexplicit_codemod.edits import Edits, InsertAfter, Replace
from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.outcome import Site
from tfexplicit_codemod.rules import (
    tx101_named_optimizer,
    tx102_self_attribute,
    tx103_constructor,
    tx104_trainables,
    tx105_several_models,
    tx106_explicit_variables,
    tx107_minimize,
    tx108_compiled_optimizer,
)
from tfexplicit_codemod.surroundings import Surroundings


@dataclass(frozen=True)
class Plan:
    """Every site with its code, and the edits that carry the rewrites and the TODOs out."""

    sites: tuple[Site, ...]
    edits: Edits


class Planner:
    """Plans one file; the order of the steps is the order of the methods."""

    def __init__(self, text: str, around: Surroundings) -> None:
        self.source = Source(text)
        self.around = around
        self.module = Module(self.source, around.lookup)
        self.classes, self.values = self.module.classes, self.module.values
        self.references = References(self.module)
        attributes = SelfAttributes(self.source, self.classes, self.references)
        self.placements = Placements(self.source, self.references, attributes)
        self.alias = imports.existing_alias(self.source) or imports.free_alias(self.source)
        self.compiled = Compiled(self.module, around.is_used_elsewhere)
        self.states: list[Reference] = []
        self.left: dict[Update, Leave] = {}
        self.codes: dict[Update, str] = {}
        self.edits = Edits()

    def plan(self, *, with_todo: bool) -> Plan:
        found = list(updates(self.source, self.classes, self.values))
        if not found:
            return Plan((), self.edits)
        groups = grouped(self._understand_each(found))
        self.left.update(leave_mixed_groups(self.source, self.references, groups, self.left))
        for group in groups:
            self._rewrite_or_leave(group)
        if self.edits:
            self._import_tfexplicit()
        if with_todo:
            for update, leave in self.left.items():
                todo.add(self.source, self.edits, update.call, leave)
        return Plan(tuple(self._site(update) for update in found), self.edits)

    def _understand_each(self, found: list[Update]) -> list[Understood]:
        untrained = Untrained(self.source, KerasModels(self.module), self.around.freezes)
        variables = Variables(self.source, self.references, untrained)
        reader = Understand(
            self.source,
            self.classes,
            self.references,
            Gradients(self.source),
            variables,
            self.compiled,
        )
        understood = []
        for update in found:
            try:
                understood.append(reader.understand(update))
            except Leave as leave:
                self.left[update] = leave
        return understood

    def _rewrite_or_leave(self, group: Group) -> None:
        if any(each.update in self.left for each in group.members):
            return
        try:
            check_checkpoints_stay(self.source, self.references, group)
            if group.is_compiled:
                self._rewrite_compiled(group)
                return
            placement = self._place(group)
        except Leave as leave:
            self.left.update({each.update: leave for each in group.members})
            return
        self._rewrite(group, placement)

    def _place(self, group: Group) -> Placement:
        models = [reference for part in group.parts for reference in part.references]
        statements = [each.statement for each in group.members]
        return self.placements.place(group.home, models, list(statements))

    def _rewrite_compiled(self, group: Group) -> None:
        models = [reference for part in group.parts for reference in part.references]
        place = self.compiled.place(group.home, models)
        state = self._state_for(group.home)
        self.states.append(state)
        self.edits.add(self.compiled.edit(place, self.alias, state.path[0]))
        self._rewrite_steps(group, state)

    def _rewrite(self, group: Group, placement: Placement) -> None:
        state = self._state_for(group.home)
        self.states.append(state)
        after = placement.statement
        optimizer = group.home.code_at(self.source, after)
        model = tx105_several_models.model_code(self.source, group.parts, after)
        setup = f"{state.code_at(self.source, after)} = {self.alias}.setup({optimizer}, {model})"
        self.edits.add(InsertAfter(self.source.leader_line(after), setup))
        self._rewrite_steps(group, state)
        for edit in tx103_constructor.edits(
            self.source, self.alias, group, placement, self.references, self.around.sparse
        ):
            self.edits.add(edit)

    def _rewrite_steps(self, group: Group, state: Reference) -> None:
        for each in group.members:
            held = state.code_at(self.source, each.statement)
            self._replace(each.update.call, self._step(each, held))
            todo.settle(self.source, self.edits, each.update.call)
            for edit in tx104_trainables.edits(self.source, self.alias, each.sources):
                self.edits.add(edit)
            self.codes[each.update] = _code_of(group, each)

    def _step(self, each: Understood, state: str) -> str:
        if isinstance(each.pairs, Minimized):
            return tx107_minimize.code(self.alias, state, each.pairs, each.leaves)
        return f"{self.alias}.update({state}, {each.leaves.text}, {each.pairs.gradients})"

    def _state_for(self, optimizer: Reference) -> Reference:
        """The state lives where its optimizer lives, under a name that is free there."""
        name = naming.state_name(optimizer.path[-1], self._names_in_use(optimizer))
        return Reference(optimizer.owner, (name,))

    def _names_in_use(self, optimizer: Reference) -> set[str]:
        """What a new state may not be called: two functions may each have an `opt_state`."""
        given = {state.path[-1] for state in self.states if self._share_names(state, optimizer)}
        return {*self.source.identifiers, self.alias, *given}

    def _share_names(self, one: Reference, other: Reference) -> bool:
        if isinstance(one.owner, Scope) and isinstance(other.owner, Scope):
            return one.owner in other.owner.ancestors() or other.owner in one.owner.ancestors()
        if isinstance(one.owner, ast.ClassDef) and isinstance(other.owner, ast.ClassDef):
            return other.owner in self.classes.related(one.owner)
        return False

    def _replace(self, node: ast.expr, code: str) -> None:
        self.edits.add(Replace(self.source.start(node), self.source.end(node), code))

    def _import_tfexplicit(self) -> None:
        if imports.existing_alias(self.source) is not None:
            return
        statement = imports.import_statement(self.alias)
        line = imports.line_to_import_after(
            self.source, self.edits.first_line, self.edits.last_line
        )
        if line is None:
            self.edits.first_statement = statement
        else:
            self.edits.add(InsertAfter(line, statement))

    def _site(self, update: Update) -> Site:
        line, column = self.source.start(update.call)
        leave = self.left.get(update)
        code = leave.code if leave else self.codes[update]
        text = self.source.one_line(update.call, limit=80)
        return Site(line, column + 1, code, text, leave.reason if leave else "")


def _code_of(group: Group, each: Understood) -> str:
    if isinstance(each.pairs, Minimized):
        return tx107_minimize.rule.code
    if group.is_compiled:
        return tx108_compiled_optimizer.rule.code
    if any(not part.is_model for part in each.leaves.parts):
        return tx106_explicit_variables.rule.code
    if len(group.parts) > 1:
        return tx105_several_models.rule.code
    if group.home.of_self:
        return tx102_self_attribute.rule.code
    return tx101_named_optimizer.rule.code
