"""A Keras optimizer's constructor call written as a rule, with the base arguments as modifiers."""

from __future__ import annotations

import ast

from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.edits import Replace

# The arguments that rule and Keras class share, in the order of both, in every Keras that is
# supported. A class is here where the rule makes Keras' step, up to rounding, in all of them.
ARGUMENTS = {
    "SGD": ("learning_rate", "momentum", "nesterov"),
    # Keras 2 has an argument before `amsgrad` that Keras 3 has not.
    "Adam": ("learning_rate", "beta_1", "beta_2", "epsilon"),
    "AdamW": ("learning_rate", "weight_decay", "beta_1", "beta_2", "epsilon", "amsgrad"),
    "Adamax": ("learning_rate", "beta_1", "beta_2", "epsilon"),
    "Adagrad": ("learning_rate", "initial_accumulator_value", "epsilon"),
    "Adadelta": ("learning_rate", "rho", "epsilon"),
    "RMSprop": ("learning_rate", "rho", "momentum", "epsilon", "centered"),
    "Ftrl": (
        *("learning_rate", "learning_rate_power", "initial_accumulator_value"),
        *("l1_regularization_strength", "l2_regularization_strength"),
        *("l2_shrinkage_regularization_strength", "beta"),
    ),
    "Lion": ("learning_rate", "beta_1", "beta_2"),
}
ONLY_BY_NAME = {"Adam": ("amsgrad",)}
# The learning rate that Keras 2 and Keras 3 take where none is given differs.
_NEEDS_LEARNING_RATE = ("Lion",)

# What the base class of Keras does with its arguments, in its order.
_BEFORE_THE_RULE = {
    "gradient_accumulation_steps": "AccumulateGrads",
    "clipnorm": "ClipByNorm",
    "clipvalue": "ClipByValue",
    "global_clipnorm": "ClipByGlobalNorm",
}
_AFTER_THE_RULE = {"weight_decay": "DecoupledWeightDecay"}
_MODIFIERS = {**_BEFORE_THE_RULE, **_AFTER_THE_RULE}


def rule_edits(source: Source, tx: str, name: str, call: ast.Call) -> list[Replace]:
    """The call as `tx.Adam(0.1)` or `tx.Chain(tx.ClipByNorm(1.0), tx.Adam(0.1))`.

    Nothing where an argument has no such form.
    """
    own = [keyword for keyword in call.keywords if _is_own(keyword, name)]
    base = [keyword for keyword in call.keywords if keyword not in own]
    if not _are_positional(call.args, name) or not all(_is_understood(each) for each in base):
        return []
    if name in _NEEDS_LEARNING_RATE and not (call.args or own):
        return []
    if any(_is_none(value) for value in (*call.args, *(keyword.value for keyword in own))):
        return []
    renamed = [
        Replace(*_span_of_name(source, keyword), "learning_rate")
        for keyword in own
        if keyword.arg == "lr"
    ]
    if not base:
        callee = Replace(source.start(call.func), source.end(call.func), f"{tx}.{name}")
        return [callee, *renamed]
    if source.has_comment(call):
        return []
    return [
        Replace(source.start(call), source.end(call), _chain(source, tx, name, call, own, base))
    ]


def has_modifiers(call: ast.Call) -> bool:
    """True where the base class does something to the gradients, or to the weights."""
    return any(keyword.arg in _MODIFIERS for keyword in call.keywords)


def accumulates(call: ast.Call) -> bool:
    """True where a step is taken once in some calls."""
    return any(keyword.arg == "gradient_accumulation_steps" for keyword in call.keywords)


def _are_positional(args: list[ast.expr], name: str) -> bool:
    fit = len(args) <= len(ARGUMENTS[name])
    return fit and not any(isinstance(argument, ast.Starred) for argument in args)


def _is_own(keyword: ast.keyword, name: str) -> bool:
    return keyword.arg in ("lr", *ARGUMENTS[name], *ONLY_BY_NAME.get(name, ()))


def _is_understood(keyword: ast.keyword) -> bool:
    """A value that is only known when the program runs may be None, which no modifier takes."""
    is_number = isinstance(keyword.value, ast.Constant) and type(keyword.value.value) in (
        int,
        float,
    )
    return keyword.arg == "name" or (
        keyword.arg in _MODIFIERS and (is_number or _is_none(keyword.value))
    )


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _span_of_name(source: Source, keyword: ast.keyword) -> tuple[tuple[int, int], tuple[int, int]]:
    assert keyword.arg is not None
    line, column = source.start_of_keyword(keyword)
    return (line, column), (line, column + len(keyword.arg))


def _chain(
    source: Source,
    tx: str,
    name: str,
    call: ast.Call,
    own: list[ast.keyword],
    base: list[ast.keyword],
) -> str:
    values = {
        keyword.arg: source.segment(keyword.value)
        for keyword in base
        if not _is_none(keyword.value)
    }
    named = [f"{_current_name(keyword)}={source.segment(keyword.value)}" for keyword in own]
    rule = f"{tx}.{name}({', '.join([*map(source.segment, call.args), *named])})"
    before = [
        f"{tx}.{part}({values[each]})" for each, part in _BEFORE_THE_RULE.items() if each in values
    ]
    after = [
        f"{tx}.{part}({values[each]})" for each, part in _AFTER_THE_RULE.items() if each in values
    ]
    return f"{tx}.Chain({', '.join([*before, rule, *after])})" if before or after else rule


def _current_name(keyword: ast.keyword) -> str | None:
    return "learning_rate" if keyword.arg == "lr" else keyword.arg
