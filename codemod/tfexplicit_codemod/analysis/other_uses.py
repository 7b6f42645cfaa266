"""What a program does with an optimizer beside stepping it, in the state's words.

    optimizer.learning_rate.assign(0.5 * optimizer.learning_rate)
    print(optimizer.iterations.numpy())

All of it has such words, or the optimizer stays an object of Keras.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tfexplicit_codemod.analysis.built_models import BuiltModels
from tfexplicit_codemod.analysis.construction import STEPS
from tfexplicit_codemod.analysis.definite import holds_at
from tfexplicit_codemod.analysis.frameworks import normalised
from tfexplicit_codemod.analysis.groups import Group
from tfexplicit_codemod.analysis.hyperparameters import FOLLOWED
from tfexplicit_codemod.analysis.learning_rates import (
    is_no_schedule,
    is_schedule,
    learning_rate_of,
    means_the_same,
)
from tfexplicit_codemod.analysis.names import imported_paths, qualified
from tfexplicit_codemod.analysis.placement import Placement
from tfexplicit_codemod.analysis.read_alike import reads_alike
from tfexplicit_codemod.analysis.references import Reference, References
from tfexplicit_codemod.analysis.rule_arguments import accumulates
from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.analysis.uses import possible_uses
from tfexplicit_codemod.edits import Replace, Span
from tfexplicit_codemod.rules import tx115_optimizer_uses as spelled

# What cannot stand after a keyword.
_ONLY_POSITIONAL = (ast.Starred, ast.NamedExpr, ast.GeneratorExp)


class Unknown(Exception):
    """A use of the optimizer that has no exact counterpart."""


@dataclass(frozen=True)
class OtherUses:
    """The uses of one optimizer, made by the call `constructor`, whose state is at `placement`."""

    source: Source
    references: References
    alias: str
    group: Group
    placement: Placement
    constructor: ast.Call
    state: Reference

    def edits(self) -> list[Replace] | None:
        """One edit for each use; None where one of them has to stay."""
        try:
            return [self._edit(use) for use in self._uses()]
        except Unknown:
            return None

    def _uses(self) -> Iterator[ast.expr]:
        made = self.placement.definition.statement
        targets = made.targets if isinstance(made, ast.Assign) else []
        for use in possible_uses(self.source, self.group.home, self.references):
            if use not in self.group.uses and use not in targets:
                yield use

    def _edit(self, use: ast.expr) -> Replace:
        attribute = self.source.parent_of[use]
        is_of_it = self.references.resolve(use) == self.group.home
        if not isinstance(attribute, ast.Attribute) or not is_of_it:
            raise Unknown
        if not self._has_state(use) or self._is_in_step(use) or accumulates(self.constructor):
            # Keras divides its count by the number of calls that are accumulated.
            raise Unknown
        if attribute.attr == "iterations":
            return self._count(attribute)
        if attribute.attr not in FOLLOWED:
            raise Unknown
        if attribute.attr == "lr" and self.source.enclosing(attribute, ast.Try):
            # Keras 3 has no such attribute, for which a program may have another way.
            raise Unknown
        return self._learning_rate(attribute)

    def _count(self, attribute: ast.Attribute) -> Replace:
        code = spelled.count(self._state_at(attribute))
        if self._is_argument_of("get_value", attribute):
            return self._replace(self.source.parent_of[attribute], f"{code}.numpy()")
        if not (reads_alike(self.source, attribute, is_count=True) or self._is_for_rate(attribute)):
            raise Unknown
        return self._replace(attribute, code)

    def _is_for_rate(self, attribute: ast.Attribute) -> bool:
        """True in `optimizer.lr(optimizer.iterations)`, which is looked at on its own."""
        call = self.source.parent_of[attribute]
        called = call.func if isinstance(call, ast.Call) else None
        if not isinstance(called, ast.Attribute) or called.attr not in FOLLOWED:
            return False
        return self.references.resolve(called.value) == self.group.home

    def _learning_rate(self, attribute: ast.Attribute) -> Replace:
        outer = self.source.parent_of[attribute]
        given = learning_rate_of(self.constructor)
        if isinstance(outer, ast.Call) and outer.func is attribute:
            return self._called(attribute, given)
        if given is not None and not is_no_schedule(self.source, given):
            # After a step, one Keras gives the rate of that step and another that of the next.
            raise Unknown
        if not BuiltModels(self.source, self.references).hold_all(self.group.parts):
            # Without leaves, a state has no learning rate yet.
            raise Unknown
        setting = self._setting(attribute)
        if setting is not None:
            code = spelled.adjusting(self.alias, self._state_at(attribute))
            return Replace(*self._span(setting), code)
        tensorflow = self._tensorflow_at(attribute)
        code = spelled.learning_rate(tensorflow, self._state_at(attribute))
        if self._is_argument_of("get_value", attribute):
            return self._replace(outer, f"{code}.numpy()")
        if not reads_alike(self.source, attribute, is_count=False):
            raise Unknown
        return self._replace(attribute, code)

    def _called(self, attribute: ast.Attribute, given: ast.expr | None) -> Replace:
        """The optimizers that give their schedule itself, as the legacy ones do."""
        if given is None or not is_schedule(self.source, given):
            raise Unknown
        if not means_the_same(self.source, given, attribute):
            raise Unknown
        return self._replace(attribute, self.source.segment(given))

    def _setting(self, attribute: ast.Attribute) -> ast.expr | ast.stmt | None:
        """The code that sets it, if this does."""
        if isinstance(attribute.ctx, ast.Store):
            return self._assignment(attribute)
        outer = self.source.parent_of[attribute]
        call = self.source.parent_of[outer]
        if self._is_argument_of("set_value", attribute, arguments=2):
            call = outer
        elif getattr(outer, "attr", "") != "assign" or getattr(call, "func", None) is not outer:
            return None
        assert isinstance(call, ast.Call)
        is_result_used = not isinstance(self.source.parent_of[call], ast.Expr)
        is_odd = call.keywords or any(isinstance(each, _ONLY_POSITIONAL) for each in call.args)
        if is_result_used or is_odd or len(call.args) != (2 if call is outer else 1):
            raise Unknown
        return call

    def _assignment(self, attribute: ast.Attribute) -> ast.stmt:
        """Keras 3 takes `.lr = ...` for an attribute like any other, that has no effect."""
        statement = self.source.parent_of[attribute]
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            raise Unknown
        if attribute.attr == "lr" or not is_no_schedule(self.source, statement.value):
            raise Unknown
        return statement

    # Where the use stands.

    def _state_at(self, use: ast.expr) -> str:
        return self.state.code_at(self.source, self.source.statement(use))

    def _has_state(self, use: ast.expr) -> bool:
        """True where no use can come between the optimizer and its state."""
        setup = self.placement.statement
        statement, scope = self.source.statement(use), self.source.scope(setup)
        if self.source.scope(statement) is scope:
            return holds_at(self.source, setup, statement)
        inner = self.source.function_within(use, scope)
        follows = isinstance(inner, ast.stmt) and holds_at(self.source, setup, inner)
        return follows or setup is self.placement.definition.statement

    def _is_in_step(self, use: ast.expr) -> bool:
        """True within a call that is written anew as a whole."""
        calls = [each for each in self.source.around(use) if isinstance(each, ast.Call)]
        return any(getattr(call.func, "attr", "") in STEPS for call in calls)

    def _is_argument_of(self, function: str, attribute: ast.Attribute, arguments: int = 1) -> bool:
        """True for the first argument of this function of `keras.backend`."""
        call = self.source.parent_of[attribute]
        if not isinstance(call, ast.Call) or call.keywords or len(call.args) != arguments:
            return False
        path = qualified(self.source, call.func)
        is_named = path is not None and normalised(path) == f"keras.backend.{function}"
        return is_named and call.args[0] is attribute

    def _tensorflow_at(self, use: ast.expr) -> str:
        """What TensorFlow is called there."""
        for name in self.source.root.bindings:
            is_it = imported_paths(self.source.root, name) == ["tensorflow"]
            if is_it and self.source.scope(use).lookup(name) is self.source.root:
                return name
        raise Unknown

    def _replace(self, node: ast.AST, code: str) -> Replace:
        assert isinstance(node, ast.expr)
        if self.source.enclosing(node, ast.JoinedStr):
            code = self._within_text(node, code)
        return Replace(*self._span(node), code)

    def _span(self, node: ast.expr | ast.stmt) -> Span:
        if self.source.has_comment(node):
            raise Unknown
        return self.source.start(node), self.source.end(node)

    def _within_text(self, node: ast.expr, code: str) -> str:
        """Before Python 3.12, places in an f-string may be wrong, and its own quote ends it."""
        text = self.source.enclosing(node, ast.JoinedStr)
        assert text is not None
        given = self.source.segment(text)
        free = [quote for quote in "\"'" if quote not in given]
        is_inner = self.source.enclosing(text, ast.JoinedStr) is not None
        if self.source.segment(node) != ast.unparse(node) or is_inner or not free:
            raise Unknown
        return code.replace('"', free[0])
