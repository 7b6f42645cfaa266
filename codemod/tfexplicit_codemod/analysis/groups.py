"""Update sites by the optimizer that they step: one optimizer, one state."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from tfexplicit_codemod.analysis.names import dotted
from tfexplicit_codemod.analysis.references import Reference, References
from tfexplicit_codemod.analysis.sites import Update
from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.analysis.understand import Understood
from tfexplicit_codemod.analysis.variables import Part
from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.rules import tx105_several_models, tx214_partly_left


@dataclass(frozen=True)
class Group:
    """All understood sites of one optimizer, and every part that they update."""

    home: Reference
    members: list[Understood]

    @property
    def is_compiled(self) -> bool:
        """True where `compile` of Keras sets the optimizer."""
        return all(each.update.value.kind == "compiled" for each in self.members)

    @property
    def parts(self) -> list[Part]:
        return tx105_several_models.together([each.leaves.parts for each in self.members])


def grouped(understood: list[Understood]) -> list[Group]:
    """One group per optimizer, in the order of the first site."""
    members: dict[Reference, list[Understood]] = {}
    for each in understood:
        members.setdefault(each.home, []).append(each)
    return [Group(home, sites) for home, sites in members.items()]


def leave_mixed_groups(
    source: Source, references: References, groups: list[Group], left: dict[Update, Leave]
) -> dict[Update, Leave]:
    """The sites to leave because another site that steps the same optimizer is left."""
    found: dict[Update, Leave] = {}
    for update in left:
        stepped = {references.resolve(update.receiver), *_passed_in(source, references, update)}
        for group in groups:
            if not any(one is not None and group.home.may_be(one) for one in stepped):
                continue
            for each in group.members:
                receiver = source.one_line(each.update.receiver)
                found[each.update] = tx214_partly_left.leave(receiver, left[update].code)
    return found


def _passed_in(source: Source, references: References, update: Update) -> set[Reference | None]:
    """What callers pass to the function whose parameter the left site steps."""
    if update.value.kind != "parameter":
        return set()
    passed: set[Reference | None] = set()
    for call in source.nodes(ast.Call):
        names = dotted(call.func) or ("",)
        if names[-1] == update.value.function:
            arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
            passed.update(references.resolve(argument) for argument in arguments)
    return passed
