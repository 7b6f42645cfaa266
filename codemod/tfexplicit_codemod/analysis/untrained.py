"""`model.variables` in place of `model.trainable_variables`: where both train the same.

The tape gives None for a variable that is not trainable, and Keras passes over a None gradient.
What is left are the trainable variables, in the same order, if nothing else makes the lists differ
(see `freezing.py`) and if nothing but the update sees the longer list of gradients.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from tfexplicit_codemod.analysis.gradients import Pairs
from tfexplicit_codemod.analysis.keras_models import KerasModels
from tfexplicit_codemod.analysis.reaching import reaching
from tfexplicit_codemod.analysis.references import References
from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.analysis.uses import possible_uses
from tfexplicit_codemod.rules import tx206_variable_list

if TYPE_CHECKING:
    from tfexplicit_codemod.analysis.groups import Group

# What a program may read of an optimizer that does not depend on the variables it was built on.
_HARMLESS = ("iterations", "learning_rate", "lr")


def check_checkpoints_stay(source: Source, references: References, group: Group) -> None:
    """Raise where something may see that the optimizer has slots for fewer variables."""
    lists = [each.leaves.parts for each in group.members] + [each.parts for each in group.handed]
    if not any(part.with_untrained for parts in lists for part in parts):
        return
    for use in possible_uses(source, group.home, references):
        outer = source.parent_of[use]
        is_read = isinstance(getattr(use, "ctx", None), ast.Load) and use not in group.uses
        if is_read and not (isinstance(outer, ast.Attribute) and outer.attr in _HARMLESS):
            raise tx206_variable_list.leave(
                source.one_line(use),
                "has slots for variables that are not trained, and is used elsewhere",
            )


class Untrained:
    """Raises `Leave` where the lists, or what is done with them, may differ."""

    def __init__(self, source: Source, models: KerasModels, freezes: Callable[[], bool]) -> None:
        self.source = source
        self.models = models
        self.freezes = freezes

    def require_same_training(self, variables: ast.Attribute) -> None:
        """Raise unless `x.variables` trains what `x.trainable_variables` would."""
        if not self.models.is_model(variables.value) or self.freezes():
            raise tx206_variable_list.leave(
                self.source.one_line(variables), "also holds variables that are not trained"
            )

    def require_only_use(self, pairs: Pairs) -> None:
        """Raise unless the gradients come right from the tape, for the update alone."""
        gradients = pairs.gradient_list
        if isinstance(gradients, ast.Name):
            held = reaching(self.source, gradients)
            if held and not held.path and self._is_only_read(gradients, held.statement):
                gradients = held.value
        is_tape_call = (
            isinstance(gradients, ast.Call)
            and isinstance(gradients.func, ast.Attribute)
            and gradients.func.attr == "gradient"
            and pairs.sources in [*gradients.args, *(k.value for k in gradients.keywords)]
        )
        if not is_tape_call:
            raise tx206_variable_list.leave(
                self.source.one_line(pairs.variables),
                "also holds variables that are not trained, whose gradients are used",
            )

    def _is_only_read(self, name: ast.Name, bound: ast.stmt) -> bool:
        """True where no other read of the name can see what this statement bound."""
        home = self.source.scope(name).lookup(name.id)
        for other in self.source.nodes(ast.Name):
            if other is name or other.id != name.id or not isinstance(other.ctx, ast.Load):
                continue
            if self.source.scope(other).lookup(other.id) is not home:
                continue
            held = reaching(self.source, other)
            if held is None or held.statement is bound:
                return False
        return True
