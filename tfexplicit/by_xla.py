"""Large leaves by the formula, of which XLA makes few passes over memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import tensorflow as tf

from tfexplicit.arrays import raw
from tfexplicit.opened import Opened

# By what they compute: leaves that are stepped alike share one, which is compiled once for them.
Compiled = dict[Any, Any]


def step_by_xla(formula: Callable[[Opened], Any], leaf: Opened, compiled: Compiled) -> None:
    """Have `formula` assign the leaf and its slots in a function that XLA compiles."""
    at = leaf.at
    cells = {name: raw(cell) for name, cell in leaf.cells.items()}
    given = {"grad": at.grad, "step": at.step, "taken": at.taken, "hyper": at.hyper}
    arguments = (raw(leaf.move.value), cells, given)

    def step(value: Any, cells: dict[str, Any], given: dict[str, Any]) -> None:
        formula(replace(leaf, at=replace(at, **given)).moving(value, cells))

    traced = tf.function(step, autograph=False).get_concrete_function(*arguments)
    meaning = _meaning(traced)
    if meaning not in compiled:
        compiled[meaning] = _unless_frozen(traced)
    with _on_its_device(arguments[0]):
        compiled[meaning](leaf.frozen, *arguments)


def _on_its_device(variable: Any) -> Any:
    """Left open where there is one device: a saved step may be loaded on a machine with others."""
    return tf.device(variable.device if len(tf.config.list_logical_devices()) > 1 else None)


def _unless_frozen(step: Any) -> Any:
    """A choice between whole steps: one between old and new slots would have XLA copy them."""

    def chosen(frozen: Any, *arguments: Any) -> None:
        tf.cond(frozen, lambda: None, lambda: step(*arguments))

    return tf.function(chosen, autograph=False, jit_compile=True)


def _meaning(function: Any) -> Any:
    """Equal for functions of which the same ops step their leaf."""
    definition = function.graph.as_graph_def()
    for node in definition.node:
        # A number of its own for each function that has a gradient of its own.
        node.attr.pop("_gradient_op_type", None)
    outer = tuple(id(tensor) for tensor, _ in function.graph.captures)
    return definition.SerializeToString(deterministic=True), outer
