"""The plan for one file: what each update site becomes, or why it stays."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from tfexplicit_codemod.analysis import imports, todo
from tfexplicit_codemod.analysis.attributes import SelfAttributes
from tfexplicit_codemod.analysis.codes import code_of
from tfexplicit_codemod.analysis.compiled import Compiled
from tfexplicit_codemod.analysis.contracts import Contract, KeptContracts, Key
from tfexplicit_codemod.analysis.elements import Elements
from tfexplicit_codemod.analysis.given import Given
from tfexplicit_codemod.analysis.gradients import Gradients
from tfexplicit_codemod.analysis.groups import Group, grouped, leave_mixed_groups
from tfexplicit_codemod.analysis.module import Module
from tfexplicit_codemod.analysis.parameters import Parameter, Parameters, handed_over, linked
from tfexplicit_codemod.analysis.placement import Placements
from tfexplicit_codemod.analysis.places import Places
from tfexplicit_codemod.analysis.reader import reader_of
from tfexplicit_codemod.analysis.references import Reference, References
from tfexplicit_codemod.analysis.rewrites import Rewrites
from tfexplicit_codemod.analysis.sites import Update, updates
from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.analysis.state_names import StateNames
from tfexplicit_codemod.analysis.understand import Understand
from tfexplicit_codemod.analysis.understood import Understood
from tfexplicit_codemod.analysis.update_values import UpdateValues
from tfexplicit_codemod.analysis.used_otherwise import is_used_otherwise, mark_handovers_beside
from tfexplicit_codemod.analysis.wanted import Wanted
from tfexplicit_codemod.edits import Edits
from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.outcome import Site
from tfexplicit_codemod.rules import (
    tx114_given_optimizer,
)
from tfexplicit_codemod.selection import Selection
from tfexplicit_codemod.surroundings import Surroundings


@dataclass(frozen=True)
class Plan:
    """Every wanted site with its code, and the edits that carry the rewrites and TODOs out.

    `asked` are the contracts that callers in other files must keep for it, `kept` those asked of
    this file that it keeps, with the number of optimizers that it hands over under each, and
    `broken` those that it does not keep, with the reason.
    """

    sites: tuple[Site, ...]
    edits: Edits
    ignored: int = 0
    asked: tuple[Contract, ...] = ()
    kept: dict[Key, int] = field(default_factory=dict)
    broken: dict[Key, str] = field(default_factory=dict)


class Planner:
    """Plans one file; the order of the steps is the order of the methods."""

    def __init__(self, text: str, around: Surroundings, selection: Selection) -> None:
        self.source = Source(text)
        self.wanted = Wanted(self.source, selection)
        self.around = around
        self.module = Module(self.source, around.lookup)
        self.classes, self.values = self.module.classes, self.module.values
        self.references = References(self.module, around)
        attributes = SelfAttributes(self.module, self.references)
        self.placements = Placements(self.source, self.references, attributes)
        self.alias = imports.existing_alias(self.source) or imports.free_alias(self.source)
        self.compiled = Compiled(self.module, around)
        self.parameters = Parameters(self.source, self.references, self.values, around)
        self.elements = Elements(self.module, self.references)
        self.names = StateNames(self.source, self.classes, self.parameters, self.alias)
        self.contracts = KeptContracts(around.contracts, self.module, self.parameters)
        self.asked: list[Contract] = []
        self.given = Given(self.module, self.references)
        self.lost: dict[Reference, Leave] = {}
        self.left: dict[Update, Leave] = {}
        self.places = Places(
            self.source,
            self.references,
            self.placements,
            self.compiled,
            self.parameters,
            around,
            self.alias,
            self.left,
            self.given.entries,
        )
        self.codes: dict[Update, str] = {}
        self.rewrites = Rewrites(
            self.source,
            self.alias,
            self.wanted,
            self.references,
            self.compiled,
            self.parameters,
            self.elements,
            self.contracts,
            around,
        )
        self.edits = self.rewrites.edits

    def plan(self, *, with_todo: bool) -> Plan:
        found = list(updates(self.source, self.classes, self.values, self.around.observed))
        if not found and not self.contracts.handovers:
            contracts = self.contracts
            return Plan((), self.edits, kept=contracts.kept(), broken=contracts.broken)
        groups = self._with_handovers(grouped(self._understand_each(found)))
        unwanted = self._unwanted(groups)
        self.left.update(unwanted)
        self.left.update(leave_mixed_groups(self.source, self.references, groups, self.left))
        for component in linked(groups):
            self._rewrite_or_leave(component)
        if self.edits:
            self.rewrites.drop_unused_imports()
            self.rewrites.import_tfexplicit()
        if with_todo:
            for update, leave in self.left.items():
                if update not in unwanted and self._wants(leave.code, update.call):
                    todo.add(self.source, self.edits, update.call, leave)
        sites = {update: self._site(update) for update in found if update not in unwanted}
        shown = [site for update, site in sites.items() if self._wants(site.code, update.call)]
        ignored, asked = len(found) - len(shown), tuple(self.asked)
        kept, broken = self.contracts.kept(), self.contracts.broken
        return Plan(tuple(shown), self.edits, ignored, asked, kept, broken)

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

    def _code_of(self, group: Group, each: Understood) -> str:
        if group.home in self.given.entries:
            return tx114_given_optimizer.rule.code
        return code_of(group, each, self.parameters.of(group.home) is not None)

    def _can_be_placed(self, group: Group) -> bool:
        try:
            self.places.place_what_runs(group)
        except Leave:
            return False
        return group.home not in self.lost

    def _understand_each(self, found: list[Update]) -> list[Understood]:
        reader = Understand(
            self.source,
            self.classes,
            self.references,
            Gradients(self.module),
            reader_of(self.module, self.references, self.around),
            self.compiled,
            self.parameters,
            self.elements,
            self.given,
            UpdateValues(self.source, self.classes, self.around),
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
        groups, problems = handed_over(self.parameters, self.contracts.joined_to(groups))
        for group, (parameter, leave) in problems.items():
            entry = self.given.entry(group, parameter)
            if entry is None:
                self.lost[group.home] = leave
            else:
                self.given.entries[group.home] = entry
        mark_handovers_beside(self.parameters, groups, self.contracts.beside)
        self.names.know(groups)
        return groups

    def _rewrite_or_leave(self, component: list[Group]) -> None:
        """All groups that calls tie together, or none."""
        updates = [each.update for group in component for each in group.members]
        reasons = [self.lost[group.home] for group in component if group.home in self.lost]
        reasons += [self.left[update] for update in updates if update in self.left]
        try:
            if reasons:
                raise reasons[0]
            places = [self.places.place_what_runs(group) for group in component]
        except Leave as leave:
            for update in updates:
                self.left.setdefault(update, leave)
            self.contracts.break_those_of(component, leave.reason)
            return
        states = {group.home: self.names.state_for(group.home) for group in component}
        for group, place in zip(component, places, strict=True):
            self.rewrites.make_state(group, place, states[group.home])
            self.rewrites.rewrite_steps(group, states[group.home])
            self.rewrites.rewrite_handovers(group, states)
            self.codes |= {each.update: self._code_of(group, each) for each in group.members}
            if isinstance(place, Parameter):
                self._ask_callers(group, place, states[group.home], component)

    def _ask_callers(
        self, group: Group, parameter: Parameter, state: Reference, component: list[Group]
    ) -> None:
        path = self.around.path
        if path is not None and self.around.is_used_elsewhere(parameter.function.name):
            handed = [(g.home, h.parameter) for g in component for h in g.handed]
            homes = len({home for home, given_to in handed if given_to == group.home})
            name, parts = state.path[0], tuple(group.parts)
            beside = is_used_otherwise(self.parameters, group)
            self.asked.append(Contract(path, parameter, group.home, name, parts, homes, beside))

    def _site(self, update: Update) -> Site:
        line, column = self.source.start(update.call)
        leave = self.left.get(update)
        code = leave.code if leave else self.codes[update]
        text = self.source.one_line(update.call, limit=80)
        return Site(line, column + 1, code, text, leave.reason if leave else "")
