"""Which code of the registry a rewritten site is reported under."""

from __future__ import annotations

from tfexplicit_codemod.analysis.groups import Group
from tfexplicit_codemod.analysis.minimized import Minimized
from tfexplicit_codemod.analysis.understood import Understood
from tfexplicit_codemod.rules import (
    tx101_named_optimizer,
    tx102_self_attribute,
    tx105_several_models,
    tx106_explicit_variables,
    tx107_minimize,
    tx108_compiled_optimizer,
    tx109_parameter,
    tx110_all_variables,
    tx111_checkpoint,
    tx112_container,
    tx113_filtered,
    tx114_given_optimizer,
    tx116_step_count,
)


def code_of(group: Group, each: Understood, takes_state: bool) -> str:
    """The first that applies; `takes_state` is true for a function that is given the state."""
    if each.gives_value:
        return tx116_step_count.rule.code
    if isinstance(each.pairs, Minimized):
        return tx107_minimize.rule.code
    if group.is_compiled:
        return tx108_compiled_optimizer.rule.code
    if takes_state:
        return tx109_parameter.rule.code
    if group.is_given:
        return tx114_given_optimizer.rule.code
    if each.update.value.kind == "element":
        return tx112_container.rule.code
    if any(each.leaves.untrained):
        return tx110_all_variables.rule.code
    if any(part.chosen for part in each.leaves.parts):
        return tx113_filtered.rule.code
    if any(not part.is_model for part in each.leaves.parts):
        return tx106_explicit_variables.rule.code
    if len(group.parts) > 1:
        return tx105_several_models.rule.code
    if len(group.home.path) > 1:
        return tx111_checkpoint.rule.code
    if group.home.of_self:
        return tx102_self_attribute.rule.code
    return tx101_named_optimizer.rule.code
