"""Optimizers that a function takes as an argument: the parameter becomes the state.

All callers hand over a state then, or none does. A caller may have got the optimizer as an argument
too, and its callers follow.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tfexplicit_codemod.analysis.calls import argument, calls_of, decorators_keep_arguments
from tfexplicit_codemod.analysis.groups import Group, Handover
from tfexplicit_codemod.analysis.hyperparameters import sets_hyperparameter
from tfexplicit_codemod.analysis.references import Reference, References
from tfexplicit_codemod.analysis.scopes import Scope
from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.analysis.values import Values
from tfexplicit_codemod.analysis.variables import Part
from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.rules import tx201_optimizer_parameter
from tfexplicit_codemod.surroundings import Surroundings

# Functions that hand their optimizers to each other in a circle end here.
MANY_ROUNDS = 100


@dataclass(frozen=True)
class Parameter:
    """A parameter that holds an optimizer."""

    name: ast.arg
    function: ast.FunctionDef
    scope: Scope


class Parameters:
    """Finds who hands over what; raises `Leave` where that is not all in sight."""

    def __init__(
        self,
        source: Source,
        references: References,
        values: Values,
        around: Surroundings,
    ) -> None:
        self.source = source
        self.references = references
        self.values = values
        self.around = around

    def of(self, home: Reference) -> Parameter | None:
        """The parameter that a home is, if it is one."""
        if not isinstance(home.owner, Scope) or len(home.path) != 1:
            return None
        bindings = home.owner.bindings.get(home.path[0], [])
        name = bindings[0].node if len(bindings) == 1 else None
        function = home.owner.node
        if not isinstance(name, ast.arg) or not isinstance(function, ast.FunctionDef):
            return None
        return Parameter(name, function, home.owner)

    def home(self, optimizer: ast.expr) -> Reference | None:
        """Where an optimizer is kept: a parameter is a place of its own."""
        if isinstance(optimizer, ast.Name):
            scope = self.source.scope(optimizer).lookup(optimizer.id)
            here = Reference(scope, (optimizer.id,)) if scope else None
            if here and self.of(here):
                return here
        return self.references.resolve(optimizer)

    def handovers(self, group: Group, parameter: Parameter) -> list[Handover]:
        """Every call of the function, seen as an update of what it hands over."""
        function = parameter.function
        if self._has_default(parameter):
            raise self._leave(parameter, "has a default")
        calls = calls_of(self.source, function, self.references.versions)
        if calls is None or not decorators_keep_arguments(self.source, function):
            raise self._leave(parameter, "comes from callers out of sight")
        elsewhere = self.around.is_used_elsewhere(function.name)
        if not calls and not elsewhere:
            raise self._leave(parameter, "comes from callers out of sight")
        if elsewhere and not self._can_be_asked(parameter, group.parts):
            raise self._leave_given_elsewhere(parameter)
        found = [self.handover(group, group.parts, parameter, call) for call in calls]
        traced: dict[str, set[Reference]] = {}
        for each, call in zip(found, calls, strict=True):
            called = ast.unparse(call.func)
            if function.decorator_list or called != function.name:
                traced.setdefault(called, set()).add(each.home)
        if any(len(homes) > 1 for homes in traced.values()):
            # Keras makes its slots at the first call, and a second optimizer fails.
            raise self._leave(parameter, "is another one at each call of a traced function")
        return found

    def uses(self, parameter: Parameter) -> list[ast.Name]:
        """Where the function, or one in it, names the parameter."""
        return [
            name
            for name in self.source.nodes(ast.Name)
            if name.id == parameter.name.arg
            and self.source.scope(name).lookup(name.id) is parameter.scope
        ]

    def check_hyperparameters_stay(self, parameter: Parameter) -> None:
        """Raise where the function sets what `setup` reads once."""
        for name in self.uses(parameter):
            attribute = self.source.parent_of[name]
            if isinstance(attribute, ast.Attribute) and sets_hyperparameter(attribute):
                text = self.source.one_line(attribute)
                raise self._leave(parameter, f"is changed: `{text}`")

    def handover(
        self, group: Group, parts: list[Part], parameter: Parameter, call: ast.Call
    ) -> Handover:
        """A call of the function, whose file may be another one, as an update of `parts`."""
        given = argument(call, parameter.function, parameter.name)
        if given is None:
            raise self._leave(parameter, "is given in a call that cannot be followed")
        home, text = self.home(given), self.source.one_line(given)
        is_proven = self.values.of(given).kind == "optimizer"
        if home is None and is_proven:
            name = parameter.name.arg
            raise self._leave(
                parameter, f"is given `{text}`, which has no name: name it first, `{name} = ...`"
            )
        if home is None or not (is_proven or self.of(home) is not None):
            raise self._leave(
                parameter, f"is given `{text}`, which cannot be proven to be a Keras optimizer"
            )
        named = tuple(self._part(part, parameter, call) for part in parts)
        keyword = next((k for k in call.keywords if k.value is given), None)
        return Handover(home, self.source.statement(call), named, given, keyword, group.home)

    def _can_be_asked(self, parameter: Parameter, parts: list[Part]) -> bool:
        """True where callers in other files may hand over a state: they can name its parts."""
        is_refused = self._why_refused(parameter) is not None
        if self.around.path is None or is_refused or parameter.scope.parent is not self.source.root:
            return False
        return all(
            reference.owner is parameter.scope
            and all(b.kind == "parameter" for b in parameter.scope.bindings[reference.path[0]])
            for part in parts
            for reference in part.references
        )

    def _why_refused(self, parameter: Parameter) -> str | None:
        return self.around.why_refused(parameter.function.name, parameter.name.arg)

    def _leave_given_elsewhere(self, parameter: Parameter) -> Leave:
        why = self._why_refused(parameter)
        if why is None:
            return self._leave(parameter, "is also given by other files")
        return Leave(tx201_optimizer_parameter.rule.code, why)

    def _part(self, part: Part, parameter: Parameter, call: ast.Call) -> Part:
        references = [self._in_caller(each, parameter, call) for each in part.references]
        return replace(part, references=tuple(references))

    def _in_caller(self, model: Reference, parameter: Parameter, call: ast.Call) -> Reference:
        """What the caller calls a model of the function."""
        if not isinstance(model.owner, Scope) or parameter.scope not in model.owner.ancestors():
            return model
        bindings = model.owner.bindings[model.path[0]] if model.owner is parameter.scope else []
        name = bindings[0].node if len(bindings) == 1 else None
        given = argument(call, parameter.function, name) if isinstance(name, ast.arg) else None
        near = self.references.keeping(self.source.scope(call))
        found = near.resolve(given) if given is not None else None
        if found is None:
            raise self._leave(parameter, f"steps `{model.path[0]}`, which its callers do not have")
        return replace(found, path=(*found.path, *model.path[1:]))

    def _has_default(self, parameter: Parameter) -> bool:
        arguments = parameter.function.args
        positional = [*arguments.posonlyargs, *arguments.args]
        with_default = positional[len(positional) - len(arguments.defaults) :]
        keyword_only = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        return parameter.name in [*with_default, *(a for a, value in keyword_only if value)]

    def recursion(self, parameter: Parameter) -> Leave:
        return self._leave(parameter, "is handed on by the function to itself")

    def _leave(self, parameter: Parameter, why: str) -> Leave:
        name, function = parameter.name.arg, parameter.function.name
        return tx201_optimizer_parameter.leave(name, function, why)


def handed_over(
    parameters: Parameters, groups: list[Group]
) -> tuple[list[Group], dict[Group, tuple[Parameter, Leave]]]:
    """The groups with all calls that hand an optimizer over, and what keeps any of them."""
    by_home = {group.home: group for group in groups}
    problems: dict[Group, tuple[Parameter, Leave]] = {}
    waiting = list(groups)
    rounds = 0
    while waiting:
        group = waiting.pop(0)
        rounds += 1
        parameter = parameters.of(group.home)
        if parameter is None or group in problems:
            continue
        for other in by_home.values():
            # What an earlier round found, before this group got more parts.
            other.handed[:] = [each for each in other.handed if each.parameter != group.home]
        try:
            found = parameters.handovers(group, parameter)
        except Leave as leave:
            problems[group] = parameter, leave
            continue
        for each in found:
            caller = by_home.setdefault(each.home, Group(each.home, []))
            if caller is group or rounds > MANY_ROUNDS:
                problems[group] = parameter, parameters.recursion(parameter)
                continue
            caller.handed.append(each)
            if parameters.of(caller.home) and caller not in waiting:
                waiting.append(caller)
    return list(by_home.values()), problems


def linked(groups: list[Group]) -> Iterator[list[Group]]:
    """Groups that one call or another ties together: they are rewritten together or not at all."""
    remaining = list(groups)
    while remaining:
        component = [remaining.pop(0)]
        for each in component:
            ties = {*(h.parameter for h in each.handed)}
            near = [
                other
                for other in remaining
                if other.home in ties or any(h.parameter == each.home for h in other.handed)
            ]
            component += near
            remaining = [other for other in remaining if other not in near]
        yield component
