"""The plan for one file: what each update site becomes, or why it stays."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from tfexplicit_codemod.analysis import imports, naming, todo
from tfexplicit_codemod.analysis.attributes import SelfAttributes
from tfexplicit_codemod.analysis.compiled import Compile, Compiled
from tfexplicit_codemod.analysis.gradients import Gradients
from tfexplicit_codemod.analysis.groups import Group, grouped, leave_mixed_groups
from tfexplicit_codemod.analysis.keras_models import KerasModels
from tfexplicit_codemod.analysis.minimized import Minimized
from tfexplicit_codemod.analysis.module import Module
from tfexplicit_codemod.analysis.parameters import Parameter, Parameters, handed_over, linked
from tfexplicit_codemod.analysis.placement import Placement, Placements
from tfexplicit_codemod.analysis.references import Reference, References
from tfexplicit_codemod.analysis.scopes import Scope
from tfexplicit_codemod.analysis.sites import Update, updates
from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.analysis.understand import Understand
from tfexplicit_codemod.analysis.understood import Understood
from tfexplicit_codemod.analysis.untrained import Untrained, check_checkpoints_stay
from tfexplicit_codemod.analysis.variables import Variables
from tfexplicit_codemod.analysis.wanted import Wanted
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
    tx109_parameter,
    tx110_all_variables,
)
from tfexplicit_codemod.selection import Selection
from tfexplicit_codemod.surroundings import Surroundings


@dataclass(frozen=True)
class Plan:
    """Every wanted site with its code, and the edits that carry the rewrites and TODOs out."""

    sites: tuple[Site, ...]
    edits: Edits
    ignored: int = 0


class Planner:
    """Plans one file; the order of the steps is the order of the methods."""

    def __init__(self, text: str, around: Surroundings, selection: Selection) -> None:
        self.source = Source(text)
        self.wanted = Wanted(self.source, selection)
        self.around = around
        self.module = Module(self.source, around.lookup)
        self.classes, self.values = self.module.classes, self.module.values
        self.references = References(self.module)
        attributes = SelfAttributes(self.module, self.references)
        self.placements = Placements(self.source, self.references, attributes)
        self.alias = imports.existing_alias(self.source) or imports.free_alias(self.source)
        self.compiled = Compiled(self.module, around.is_used_elsewhere)
        self.parameters = Parameters(self.source, self.references, around.is_used_elsewhere)
        self.homes_within: dict[Scope | ast.ClassDef, set[Reference]] = {}
        self.lost: dict[Reference, Leave] = {}
        self.states: list[Reference] = []
        self.left: dict[Update, Leave] = {}
        self.codes: dict[Update, str] = {}
        self.edits = Edits()

    def plan(self, *, with_todo: bool) -> Plan:
        found = list(updates(self.source, self.classes, self.values))
        if not found:
            return Plan((), self.edits)
        groups = self._with_handovers(grouped(self._understand_each(found)))
        unwanted = self._unwanted(groups)
        self.left.update(unwanted)
        self.left.update(leave_mixed_groups(self.source, self.references, groups, self.left))
        for component in linked(groups):
            self._rewrite_or_leave(component)
        if self.edits:
            self._import_tfexplicit()
        if with_todo:
            for update, leave in self.left.items():
                if update not in unwanted and self._wants(leave.code, update.call):
                    todo.add(self.source, self.edits, update.call, leave)
        sites = {update: self._site(update) for update in found if update not in unwanted}
        kept = [site for update, site in sites.items() if self._wants(site.code, update.call)]
        return Plan(tuple(kept), self.edits, ignored=len(found) - len(kept))

    def _wants(self, code: str, node: ast.expr) -> bool:
        (first, _), (last, _) = self.source.start(node), self.source.end(node)
        return self.wanted.wants(code, first, last)

    def _unwanted(self, groups: list[Group]) -> dict[Update, Leave]:
        """The updates that could be rewritten, and that the run was told to leave."""
        unwanted: dict[Update, Leave] = {}
        for group in groups:
            codes = {each.update: self._code_of(group, each) for each in group.members}
            ignored = {u: code for u, code in codes.items() if not self._wants(code, u.call)}
            if ignored and self._can_be_placed(group):
                unwanted |= {u: Leave(code, "ignored") for u, code in ignored.items()}
        return unwanted

    def _can_be_placed(self, group: Group) -> bool:
        try:
            self._place(group)
        except Leave:
            return False
        return group.home not in self.lost

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
            self.parameters,
        )
        understood = []
        for update in found:
            try:
                understood.append(reader.understand(update))
            except Leave as leave:
                self.left[update] = leave
        return understood

    def _with_handovers(self, groups: list[Group]) -> list[Group]:
        """With the calls that hand optimizers over, and groups for what only such calls step."""
        groups, problems = handed_over(self.parameters, groups)
        for group, leave in problems.items():
            self.lost[group.home] = leave
        for group in groups:
            for statement in group.statements:
                for scope in self.source.scope(statement).ancestors():
                    self.homes_within.setdefault(scope, set()).add(group.home)
        return groups

    def _rewrite_or_leave(self, component: list[Group]) -> None:
        """All groups that calls tie together, or none."""
        updates = [each.update for group in component for each in group.members]
        reasons = [self.lost[group.home] for group in component if group.home in self.lost]
        reasons += [self.left[update] for update in updates if update in self.left]
        try:
            if reasons:
                raise reasons[0]
            places = [self._place(group) for group in component]
        except Leave as leave:
            for update in updates:
                self.left.setdefault(update, leave)
            return
        states = {group.home: self._state_for(group.home) for group in component}
        for group, place in zip(component, places, strict=True):
            self._make_state(group, place, states[group.home])
            self._rewrite_steps(group, states[group.home])
            self._rewrite_handovers(group, states)

    def _place(self, group: Group) -> Placement | Compile | Parameter:
        check_checkpoints_stay(self.source, self.references, group)
        models = [reference for part in group.parts for reference in part.references]
        if group.is_compiled:
            return self.compiled.place(group.home, models)
        parameter = self.parameters.of(group.home)
        if parameter is not None:
            self.parameters.check_uses(parameter, group.uses)
            return parameter
        return self.placements.place(group.home, models, group.statements)

    def _make_state(
        self, group: Group, place: Placement | Compile | Parameter, state: Reference
    ) -> None:
        if isinstance(place, Compile):
            self.edits.add(self.compiled.edit(place, self.alias, state.path[0]))
        elif isinstance(place, Parameter):
            renamed = tx109_parameter.parameter_edits(
                self.source, self.alias, place.name, state.path[0]
            )
            self._add(renamed)
        else:
            self._set_up(group, place, state)

    def _set_up(self, group: Group, placement: Placement, state: Reference) -> None:
        after = placement.statement
        optimizer = group.home.code_at(self.source, after)
        model = tx105_several_models.model_code(self.source, group.parts, after)
        setup = f"{state.code_at(self.source, after)} = {self.alias}.setup({optimizer}, {model})"
        self.edits.add(InsertAfter(self.source.leader_line(after), setup))
        self._add_if_wanted(
            tx103_constructor.rule.code,
            tx103_constructor.edits(
                self.source, self.alias, group, placement, self.references, self.around.sparse
            ),
        )

    def _rewrite_handovers(self, group: Group, states: dict[Reference, Reference]) -> None:
        for each in group.handed:
            self._replace(each.argument, states[group.home].code_at(self.source, each.statement))
            if each.keyword is not None:
                name = states[each.parameter].path[0]
                self.edits.add(tx109_parameter.keyword_edit(self.source, each.keyword, name))

    def _rewrite_steps(self, group: Group, state: Reference) -> None:
        for each in group.members:
            held = state.code_at(self.source, each.statement)
            self._replace(each.update.call, self._step(each, held))
            todo.settle(self.source, self.edits, each.update.call)
            self._add_if_wanted(
                tx104_trainables.rule.code,
                tx104_trainables.edits(self.source, self.alias, each.sources),
            )
            self.codes[each.update] = self._code_of(group, each)

    def _step(self, each: Understood, state: str) -> str:
        if isinstance(each.pairs, Minimized):
            return tx107_minimize.code(self.alias, state, each.pairs, each.leaves)
        return f"{self.alias}.update({state}, {each.leaves.text}, {each.pairs.gradients})"

    def _state_for(self, optimizer: Reference) -> Reference:
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

    def _add(self, edits: list[Replace]) -> None:
        for edit in edits:
            self.edits.add(edit)

    def _add_if_wanted(self, code: str, edits: list[Replace]) -> None:
        """All of the edits, or none: a constructor is not rewritten in part."""
        if all(self.wanted.wants(code, edit.start[0], edit.end[0]) for edit in edits):
            self._add(edits)

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

    def _code_of(self, group: Group, each: Understood) -> str:
        if isinstance(each.pairs, Minimized):
            return tx107_minimize.rule.code
        if group.is_compiled:
            return tx108_compiled_optimizer.rule.code
        if self.parameters.of(group.home):
            return tx109_parameter.rule.code
        if any(each.leaves.untrained):
            return tx110_all_variables.rule.code
        if any(not part.is_model for part in each.leaves.parts):
            return tx106_explicit_variables.rule.code
        if len(group.parts) > 1:
            return tx105_several_models.rule.code
        if group.home.of_self:
            return tx102_self_attribute.rule.code
        return tx101_named_optimizer.rule.code
