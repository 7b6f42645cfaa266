"""Update sites by the optimizer that they step: one optimizer, one state."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from tfexplicit_codemod.analysis.filtered import whole
from tfexplicit_codemod.analysis.names import dotted
from tfexplicit_codemod.analysis.references import Reference, References
from tfexplicit_codemod.analysis.sites import Update
from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.analysis.understood import Understood
from tfexplicit_codemod.analysis.variables import Part
from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.rules import tx105_several_models, tx214_partly_left


@dataclass(frozen=True)
class Handover:
    """A call that hands an optimizer to the `parameter` of a function that steps it.

    `parts` are what the function updates, as the caller names them. Where the function goes on to
    use the optimizer, `is_beside` is true: the state does not take its place.
    """

    home: Reference
    statement: ast.stmt
    parts: tuple[Part, ...]
    argument: ast.expr
    keyword: ast.keyword | None
    parameter: Reference
    is_beside: bool = False


@dataclass(frozen=True, eq=False)
class Group:
    """All understood sites of one optimizer, and every part that they update.

    `handed` are the calls that hand the optimizer to a function with such a site.
    """

    home: Reference
    members: list[Understood]
    handed: list[Handover] = field(default_factory=list)

    @property
    def uses(self) -> list[ast.expr]:
        """The uses of the optimizer that are rewritten."""
        receivers = [each.update.receiver for each in self.members]
        return receivers + [each.argument for each in self.handed if not each.is_beside]

    @property
    def statements(self) -> list[ast.stmt]:
        """The statements that step it."""
        own: list[ast.stmt] = [each.statement for each in self.members]
        return own + [each.statement for each in self.handed]

    @property
    def is_compiled(self) -> bool:
        """True where `compile` of Keras sets the optimizer."""
        kinds = {each.update.value.kind for each in self.members}
        return kinds == {"compiled"}

    @property
    def is_given(self) -> bool:
        """True where callers give the optimizer."""
        return any(each.update.value.kind == "parameter" for each in self.members)

    @property
    def parts(self) -> list[Part]:
        own = [whole(each.leaves.parts) for each in self.members]
        return tx105_several_models.together(own + [whole(each.parts) for each in self.handed])


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
        receiver = update.receiver
        if isinstance(receiver, ast.Subscript):
            receiver = receiver.value
        stepped = {references.resolve(receiver), *_passed_in(source, references, update)}
        for group in groups:
            if not any(one is not None and group.home.may_be(one) for one in stepped):
                continue
            for each in group.members:
                text = source.one_line(each.update.receiver)
                found[each.update] = tx214_partly_left.leave(text, left[update].code)
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
