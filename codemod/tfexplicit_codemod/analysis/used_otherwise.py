"""Functions that do more with the optimizer that they are given than step it.

    def train_step(model, optimizer, x, y):
        ...
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        print(optimizer.iterations)

The state steps the Keras object's own variables, so the function takes it beside the optimizer.
Whoever hands both on needs both, too.
"""

from __future__ import annotations

from dataclasses import replace

from tfexplicit_codemod.analysis.groups import Group
from tfexplicit_codemod.analysis.parameters import Parameters
from tfexplicit_codemod.analysis.references import Reference


def mark_handovers_beside(
    parameters: Parameters, groups: list[Group], asked: set[Reference]
) -> None:
    """Mark every call that hands over a state beside the optimizer, not in its place.

    `asked` are the parameters of other files' functions that take both.
    """
    takes_both: set[Reference] = set()
    while True:
        found = asked | {each.home for each in groups if is_used_otherwise(parameters, each)}
        if found == takes_both:
            return
        takes_both = found
        for group in groups:
            group.handed[:] = [
                replace(each, is_beside=each.parameter in takes_both) for each in group.handed
            ]


def is_used_otherwise(parameters: Parameters, group: Group) -> bool:
    """True for a parameter that its function uses where nothing is rewritten."""
    parameter = parameters.of(group.home)
    return parameter is not None and any(
        name not in group.uses for name in parameters.uses(parameter)
    )
