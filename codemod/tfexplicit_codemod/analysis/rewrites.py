"""The edits that carry a rewrite out: the state, the steps, the calls that hand it over."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from tfexplicit_codemod.analysis import imports, todo
from tfexplicit_codemod.analysis.compiled import Compile, Compiled
from tfexplicit_codemod.analysis.contracts import KeptContracts
from tfexplicit_codemod.analysis.elements import Elements, is_of_elements
from tfexplicit_codemod.analysis.filtered import names_its_leaves
from tfexplicit_codemod.analysis.given import Entry, may_be_none
from tfexplicit_codemod.analysis.gradients import Pairs
from tfexplicit_codemod.analysis.groups import Group, Handover
from tfexplicit_codemod.analysis.minimized import Minimized
from tfexplicit_codemod.analysis.other_uses import OtherUses
from tfexplicit_codemod.analysis.parameters import Parameter, Parameters
from tfexplicit_codemod.analysis.placement import Placement
from tfexplicit_codemod.analysis.places import Place
from tfexplicit_codemod.analysis.references import Reference, References
from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.analysis.understood import Understood
from tfexplicit_codemod.analysis.unused_imports import dropped_names
from tfexplicit_codemod.analysis.used_otherwise import is_used_otherwise
from tfexplicit_codemod.analysis.variables import Leaves
from tfexplicit_codemod.analysis.wanted import Wanted
from tfexplicit_codemod.edits import Edit, Edits, InsertAfter, InsertBefore, Replace
from tfexplicit_codemod.rules import (
    tx103_constructor,
    tx104_trainables,
    tx105_several_models,
    tx107_minimize,
    tx109_parameter,
    tx112_container,
    tx113_filtered,
    tx114_given_optimizer,
    tx115_optimizer_uses,
    tx116_step_count,
)
from tfexplicit_codemod.surroundings import Surroundings


@dataclass(frozen=True)
class Rewrites:
    """Collects the edits of one file."""

    source: Source
    alias: str
    wanted: Wanted
    references: References
    compiled: Compiled
    parameters: Parameters
    elements: Elements
    contracts: KeptContracts
    around: Surroundings
    edits: Edits = field(default_factory=Edits)
    # The callees of the constructors that became rules.
    renamed: list[ast.expr] = field(default_factory=list)

    def make_state(self, group: Group, place: Place, state: Reference) -> None:
        name = state.path[0]
        if isinstance(place, Compile):
            is_late = names_its_leaves(group) or self.compiled.may_load_weights(place.cls)
            build = tx113_filtered.AT_FIRST_UPDATE if is_late else ""
            self.edits.add(self.compiled.edit(place, self.alias, name, build))
        elif isinstance(place, Parameter) and is_used_otherwise(self.parameters, group):
            self.edits.add(
                tx109_parameter.beside_parameter(self.source, self.alias, place.name, name)
            )
        elif isinstance(place, Parameter):
            self._add(
                tx109_parameter.parameter_edits(
                    self.source, self.alias, place.function, place.name, name
                )
            )
        elif isinstance(place, Entry):
            model = tx105_several_models.model_code(self.source, group.parts, place.before)
            optimizer = group.home.path[0]
            code = f"{self.alias}.setup({optimizer}, {model})"
            code = tx114_given_optimizer.unless_none(optimizer, code)
            line = self.source.first_line(place.before)
            blank = "\n" if self._follows_definition(place.before) else ""
            self.edits.add(InsertBefore(line, f"{blank}{name} = {code}"))
        else:
            self._set_up(group, place, state)

    def _follows_definition(self, statement: ast.stmt) -> bool:
        block = self.source.block(statement)
        index = block.index(statement)
        definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        return index > 0 and isinstance(block[index - 1], definition)

    def _set_up(self, group: Group, placement: Placement, state: Reference) -> None:
        after = placement.statement
        optimizer = group.home.code_at(self.source, after)
        model = tx105_several_models.model_code(self.source, group.parts, after)
        is_rule = self._make_a_rule(group, placement, state)
        is_late = names_its_leaves(group) and not is_rule
        build = tx113_filtered.AT_FIRST_UPDATE if is_late else ""
        code = f"{self.alias}.setup({optimizer}, {model}{build})"
        if is_of_elements(group.members):
            is_dict = self.elements.is_dict(group.members[0].update.receiver)
            code = tx112_container.setup(self.alias, optimizer, model, is_dict)
        if group.is_given and may_be_none(placement.definition.statement):
            code = tx114_given_optimizer.unless_none(optimizer, code)
        setup = f"{state.code_at(self.source, after)} = {code}"
        self.edits.add(InsertAfter(self.source.leader_line(after), setup))

    def _make_a_rule(self, group: Group, placement: Placement, state: Reference) -> bool:
        """The constructor, and all else that is done with the optimizer, or nothing of it."""
        call = tx103_constructor.constructor(placement)
        if call is None:
            return False
        uses = OtherUses(
            self.source, self.references, self.alias, group, placement, call, state
        ).edits()
        if uses is None or not self._are_wanted(tx115_optimizer_uses.rule.code, uses):
            return False
        made = tx103_constructor.edits(self.source, self.alias, group, placement, call, self.around)
        if not made or not self._are_wanted(tx103_constructor.rule.code, made):
            return False
        self._add([*made, *uses])
        self.renamed.append(call.func)
        return True

    def rewrite_handovers(self, group: Group, states: dict[Reference, Reference]) -> None:
        for each in group.handed:
            state = states[group.home].code_at(self.source, each.statement)
            keyword = self._keyword(each, states) if each.keyword is not None else ""
            if each.is_beside:
                edit = tx109_parameter.beside_argument(self.source, each.argument, keyword, state)
                self.edits.add(edit)
                continue
            self._replace(each.argument, state)
            if each.keyword is not None:
                self.edits.add(tx109_parameter.keyword_edit(self.source, each.keyword, keyword))

    def _keyword(self, handover: Handover, states: dict[Reference, Reference]) -> str:
        """The name of the state in the function that takes it."""
        own = states.get(handover.parameter)
        return own.path[0] if own else self.contracts.state_of(handover.parameter)

    def rewrite_steps(self, group: Group, state: Reference) -> None:
        for each in group.members:
            held = state.code_at(self.source, each.statement)
            if is_of_elements([each]):
                held = f"{held}[{each.leaves.parts[0].element}]"
            step = self._step(each, held)
            if each.gives_value:
                self._add(tx116_step_count.edits(self.source, each.statement, step, held))
            else:
                self._replace(each.update.call, step)
            todo.settle(self.source, self.edits, each.update.call)

    def _step(self, each: Understood, state: str) -> str:
        if isinstance(each.pairs, Minimized):
            return tx107_minimize.code(self.alias, state, each.pairs, each.leaves)
        gradients = self._gradients(each.update.call, each.pairs, each.sources)
        return f"{self.alias}.update({state}, {each.leaves.text}, {gradients})"

    def _gradients(self, call: ast.Call, pairs: Pairs, sources: Leaves | None) -> str:
        """The code of the gradients; the tape gets `trainables`, within that code or elsewhere."""
        trainables = tx104_trainables.edits(self.source, self.alias, sources)
        if not trainables or not self._are_wanted(tx104_trainables.rule.code, trainables):
            return pairs.gradients
        assert sources is not None
        if call not in self.source.around(sources.origin):
            self._add(trainables)
            return pairs.gradients
        return tx104_trainables.within(self.source, pairs, trainables[0], sources.origin)

    def _add(self, edits: Iterable[Edit]) -> None:
        for edit in edits:
            self.edits.add(edit)

    def _are_wanted(self, code: str, edits: list[Replace]) -> bool:
        return all(self.wanted.wants(code, edit.start[0], edit.end[0]) for edit in edits)

    def _replace(self, node: ast.expr, code: str) -> None:
        self.edits.add(Replace(self.source.start(node), self.source.end(node), code))

    def drop_unused_imports(self) -> None:
        self._add(dropped_names(self.source, self.renamed, self.around))

    def import_tfexplicit(self) -> None:
        if not self.edits.mention(self.alias):
            return
        has_alias = imports.existing_alias(self.source) is not None
        if has_alias and imports.is_imported_above(self.source, self.edits.first_line):
            return
        statement = imports.import_statement(self.alias)
        first, last = self.edits.first_line, self.edits.last_line
        line = imports.line_to_import_after(self.source, self.around.is_own, first, last)
        if line is None:
            self.edits.first_statement = statement
        else:
            self.edits.add(InsertAfter(line, statement))
