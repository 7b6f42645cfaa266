"""Reads one update site: its optimizer, its variables, its gradients. `Leave` where it cannot."""

from __future__ import annotations

import ast
from dataclasses import replace

from tfexplicit_codemod.analysis.classes import Classes
from tfexplicit_codemod.analysis.compiled import Compiled
from tfexplicit_codemod.analysis.elements import Elements
from tfexplicit_codemod.analysis.given import Given
from tfexplicit_codemod.analysis.gradients import Gradients, Pairs
from tfexplicit_codemod.analysis.minimized import Minimized, minimized
from tfexplicit_codemod.analysis.parameters import Parameters
from tfexplicit_codemod.analysis.references import Reference, References
from tfexplicit_codemod.analysis.scopes import Scope
from tfexplicit_codemod.analysis.several_backends import runs_on_several_backends
from tfexplicit_codemod.analysis.sites import PAIRS, Update, is_in_optimizer_class
from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.analysis.understood import Understood
from tfexplicit_codemod.analysis.update_values import UpdateValues
from tfexplicit_codemod.analysis.variables import Leaves, Variables
from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.rules import (
    tx201_optimizer_parameter,
    tx202_model_out_of_sight,
    tx203_unclear_definition,
    tx204_compiled_optimizer,
    tx205_unproven_optimizer,
    tx206_variable_list,
    tx207_result_used,
    tx208_minimize,
    tx210_extra_arguments,
    tx211_inside_optimizer,
    tx213_other_gradients,
    tx215_comment_inside,
    tx216_get_updates,
)


class Understand:
    """Understands the sites of one file."""

    def __init__(
        self,
        source: Source,
        classes: Classes,
        references: References,
        gradients: Gradients,
        variables: Variables,
        compiled: Compiled,
        parameters: Parameters,
        elements: Elements,
        given: Given,
        update_values: UpdateValues,
    ) -> None:
        self.source = source
        self.classes = classes
        self.references = references
        self.gradients = gradients
        self.variables = variables
        self.compiled = compiled
        self.parameters = parameters
        self.elements = elements
        self.given = given
        self.update_values = update_values
        self.runs_on_several_backends = runs_on_several_backends(source)

    def understand(self, update: Update) -> Understood:
        """The site's parts; raises `Leave` with the first reason that keeps it as it is."""
        if update.method == "get_updates":
            raise tx216_get_updates.leave(self.source.one_line(update.receiver))
        home = self._home(update)
        statement = self._statement(update)
        pairs = self._minimized(update) if update.method == "minimize" else self._pairs(update)
        self._check_comments(update.call)
        variables = self.variables.of(home, update.value.kind == "compiled")
        leaves = variables.read(pairs.variables)
        if len(set(leaves.identity)) < len(leaves.identity):
            raise tx206_variable_list.leave(self._text(pairs.variables), "names a part twice")
        if isinstance(pairs, Minimized):
            if any(leaves.untrained):
                raise tx206_variable_list.leave(
                    self._text(pairs.variables), "also holds variables that are not trained"
                )
            self._check_elements(update, leaves, None)
            self._check_filtered(update, home, leaves)
            return Understood(update, statement, home, pairs, leaves, None)
        sources = self._sources(variables, pairs, leaves)
        self._check_elements(update, leaves, sources)
        self._check_filtered(update, home, leaves)
        if any(leaves.untrained):
            self._check_untrained(pairs, leaves, sources)
        return Understood(update, statement, home, pairs, leaves, sources)

    def _check_filtered(self, update: Update, home: Reference, leaves: Leaves) -> None:
        """A list of its own is named whole, by an update whose state is made in this file."""
        for part in (each for each in leaves.parts if each.chosen):
            if len(leaves.parts) > 1:
                why = "is a list of its own, and only a part of what is stepped"
                raise tx206_variable_list.leave(part.text, why)
            if update.method == "minimize":
                why = "is a list of its own, given to `minimize`"
                raise tx206_variable_list.leave(part.text, why)
            if self.parameters.of(home):
                why = "is a list of its own, and callers give the optimizer"
                raise tx206_variable_list.leave(part.text, why)

    def _check_elements(self, update: Update, leaves: Leaves, sources: Leaves | None) -> None:
        """Only the sites of a list or dict of optimizers may step the elements of another."""
        if update.value.kind == "element":
            self.elements.check(update.receiver, leaves, sources)
            return
        for part in leaves.parts:
            if part.element_of is not None:
                raise tx202_model_out_of_sight.leave(part.text, "is not a plain name")

    def _home(self, update: Update) -> Reference:
        receiver = self.source.one_line(update.receiver)
        value = update.value
        if self.runs_on_several_backends:
            raise tx205_unproven_optimizer.leave_for_all_backends(receiver)
        if is_in_optimizer_class(self.source, self.classes, update.call):
            raise tx211_inside_optimizer.leave(receiver)
        if value.kind == "parameter" and not self._may_be_handed_over(update):
            kept = self.parameters.home(update.receiver)
            if kept is None or not self.given.is_kept(update, kept):
                raise tx201_optimizer_parameter.leave(value.parameter, value.function)
        if value.kind == "compiled":
            return self.compiled.home(update.receiver)
        if self._may_be_compiled(update):
            raise tx204_compiled_optimizer.leave(receiver, "or one that it replaces")
        if value.kind == "element":
            return self.elements.home(update.receiver)
        home = self.parameters.home(update.receiver)
        if value.kind not in ("optimizer", "parameter") or home is None:
            raise tx205_unproven_optimizer.leave(receiver)
        if not home.version and self._has_versions(home):
            raise tx203_unclear_definition.leave(f"`{home.path[0]}` is bound more than once")
        return home

    def _may_be_handed_over(self, update: Update) -> bool:
        """True for a parameter itself: callers tell what it is, or the function keeps it."""
        home = self.parameters.home(update.receiver)
        parameter = self.parameters.of(home) if home is not None else None
        return parameter is not None and update.method != "minimize"

    def _has_versions(self, home: Reference) -> bool:
        versions = self.references.versions
        return isinstance(home.owner, Scope) and versions.is_split(home.owner, home.path[0])

    def _may_be_compiled(self, update: Update) -> bool:
        """`self.optimizer` of a Keras model that the file also compiles: Keras replaces it."""
        receiver = update.receiver
        if not isinstance(receiver, ast.Attribute) or receiver.attr != "optimizer":
            return False
        own = self.classes.self_of(receiver.value)
        if own is None or not self.classes.is_keras_model(own[0]):
            return False
        return self.compiled.may_replace(own[0])

    def _statement(self, update: Update) -> ast.stmt:
        statement = self.source.parent_of[update.call]
        if isinstance(statement, ast.Expr):
            return statement
        if not isinstance(statement, ast.Assign | ast.Return) or not (
            self._has_room_below(statement) and self.update_values.goes_alike(update)
        ):
            raise tx207_result_used.leave(self.source.one_line(update.call.func, limit=80))
        self._check_comments(statement)
        return statement

    def _has_room_below(self, statement: ast.stmt) -> bool:
        return self.source.ends_its_line(statement) and not self.source.follows_colon(statement)

    def _pairs(self, update: Update) -> Pairs:
        if update.method == "apply":
            given = self._arguments(update.call, ("grads", "trainable_variables"))
            return self.gradients.of_two_lists(given["grads"], given["trainable_variables"])
        return self.gradients.of_pairs(self._arguments(update.call, (PAIRS,))[PAIRS])

    def _minimized(self, update: Update) -> Minimized:
        receiver = self.source.one_line(update.receiver)
        if update.value.is_custom:
            raise tx208_minimize.leave(receiver, "may compute gradients in a way of its own")
        given = self._arguments(update.call, ("loss", "var_list"), optional=("tape",))
        what = minimized(self.source, given["loss"], given["var_list"], given.get("tape"))
        # Under a policy of mixed precision, Keras wraps what `compile` is given.
        return replace(what, may_scale=update.value.kind == "compiled")

    def _arguments(
        self, call: ast.Call, names: tuple[str, ...], optional: tuple[str, ...] = ()
    ) -> dict[str, ast.expr]:
        """The arguments by name; raises for any that is missing or unknown."""
        if any(isinstance(argument, ast.Starred) for argument in call.args):
            raise tx210_extra_arguments.leave("*" + self.source.one_line(call.args[0]))
        given = dict(zip(names, call.args, strict=False))
        for keyword in call.keywords:
            if keyword.arg is None:
                raise tx210_extra_arguments.leave("**" + self.source.one_line(keyword.value))
            if keyword.arg not in (*names, *optional) or keyword.arg in given:
                raise tx210_extra_arguments.leave(f"{keyword.arg}=")
            given[keyword.arg] = keyword.value
        missing = [name for name in names if name not in given]
        if len(call.args) > len(names) or missing:
            how = f"without {missing[0]}" if missing else f"with {len(call.args)} arguments"
            method = self.source.one_line(call.func, limit=80)
            raise tx210_extra_arguments.leave(f"{method}() {how}")
        return given

    def _check_comments(self, node: ast.expr | ast.stmt) -> None:
        if self.source.has_comment(node):
            raise tx215_comment_inside.leave()

    def _sources(self, variables: Variables, pairs: Pairs, leaves: Leaves) -> Leaves | None:
        """The tape's variables; they must be the very leaves of the update."""
        if pairs.sources is None:
            return None
        differ = tx213_other_gradients.leave(self._text(pairs.sources), self._text(pairs.variables))
        try:
            sources = variables.read(pairs.sources)
        except Leave:
            raise differ from None
        if sources.identity != leaves.identity or sources.untrained != leaves.untrained:
            raise differ
        return sources

    def _check_untrained(self, pairs: Pairs, leaves: Leaves, sources: Leaves | None) -> None:
        """The tape's list must be rewritten with the update's, and no other gradients be read."""
        self.variables.untrained.require_only_use(pairs)
        rewritten = sources is not None and sources.origin is pairs.sources
        if not rewritten or pairs.sources is None or self.source.has_comment(pairs.sources):
            raise tx206_variable_list.leave(
                self._text(pairs.variables), "also holds variables that are not trained"
            )

    def _text(self, node: ast.expr) -> str:
        if isinstance(node, ast.List) and not hasattr(node, "lineno"):
            return f"[{', '.join(self.source.one_line(element) for element in node.elts)}]"
        return self.source.one_line(node)
