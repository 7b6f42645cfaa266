"""`from_keras`: the rule that trains as a Keras optimizer."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from tfexplicit.chain import Chain
from tfexplicit.hyperparameters import is_number
from tfexplicit.keras_optimizers.known import clips_of, excludes_from_decay
from tfexplicit.keras_optimizers.learning_rate import LearningRateOf
from tfexplicit.keras_optimizers.recognise import (
    is_keras_3,
    is_keras_optimizer,
    is_keras_own_class,
    is_legacy,
)
from tfexplicit.rule import Rule
from tfexplicit.rules import all_rules
from tfexplicit.rules.accumulate_grads import AccumulateGrads
from tfexplicit.rules.adafactor import Adafactor
from tfexplicit.rules.adam import Adam
from tfexplicit.rules.decayed_first import DecayedFirst
from tfexplicit.rules.decoupled_weight_decay import DecoupledWeightDecay
from tfexplicit.rules.ema import EMA
from tfexplicit.rules.loss_scale import LossScale
from tfexplicit.rules.moving_average import MovingAverage
from tfexplicit.rules.partition import Partition
from tfexplicit.selection import Where
from tfexplicit.unconverted import unconverted


@unconverted
def from_keras(optimizer: Any) -> Rule:
    """A rule with the hyperparameters of `optimizer` (Keras 3, `tf_keras`, legacy) as they are now.

    Clipping, weight decay and its exclusions, EMA, accumulation and loss scaling become modifiers,
    in Keras' order; a schedule stays one. The state of the optimizer is not taken along:
    `tx.setup(optimizer, model)` takes that over. Where Keras has a defect, the rule has none: see
    the guide's page of differences.

    Raises:
        TypeError: not a Keras optimizer, or a class of yours, whose update may do anything.
        ValueError: an argument that no rule has.
    """
    if not is_keras_optimizer(optimizer):
        raise TypeError(f"from_keras: expected a Keras optimizer, got {optimizer!r}.")
    name = type(optimizer).__name__
    if not is_keras_own_class(optimizer):
        raise TypeError(
            f"from_keras: {name} is not one of Keras' own classes, and its update may do anything. "
            "Write opt_state = tx.setup(optimizer, model), which steps by it."
        )
    if name == "LossScaleOptimizer":
        return _with_loss_scale(optimizer)
    if name == "MultiOptimizer":
        return _partition(optimizer)
    parts = [
        *_scale(optimizer),
        *_accumulation(optimizer),
        *clips_of(optimizer),
        *_decaying_rule(optimizer, name),
        *_average(optimizer),
    ]
    return parts[0] if len(parts) == 1 else Chain(*parts)


def _with_loss_scale(optimizer: Any) -> Rule:
    inner = getattr(optimizer, "inner_optimizer", None) or optimizer._optimizer
    if is_legacy(optimizer):
        raise ValueError(
            "from_keras: a legacy LossScaleOptimizer. Write tx.Chain(tx.LossScale(), "
            "tx.from_keras(optimizer.inner_optimizer))."
        )
    growth = optimizer.dynamic_growth_steps
    return Chain(
        LossScale(
            initial_scale=float(optimizer.initial_scale),
            dynamic_growth_steps=int(growth) if growth else LossScale.dynamic_growth_steps,
            dynamic=bool(getattr(optimizer, "dynamic", True)),
        ),
        from_keras(inner),
    )


def _partition(optimizer: Any) -> Rule:
    known = optimizer.optimizers
    rules = {f"{type(each).__name__.lower()}_{place}": each for place, each in enumerate(known)}
    names = {id(each): name for name, each in rules.items()}

    def by(path: str, leaf: Any) -> str:
        return names[id(optimizer._optimizer_map(leaf))]

    return Partition({name: from_keras(each) for name, each in rules.items()}, by=by)


def _scale(optimizer: Any) -> list[Rule]:
    factor = getattr(optimizer, "loss_scale_factor", None)
    return [LossScale(initial_scale=float(factor), dynamic=False)] if factor else []


def _accumulation(optimizer: Any) -> list[Rule]:
    steps = getattr(optimizer, "gradient_accumulation_steps", None)
    return [AccumulateGrads(steps)] if steps else []


def _average(optimizer: Any) -> list[Rule]:
    if not getattr(optimizer, "use_ema", False):
        return []
    if is_keras_3(optimizer):
        return [EMA(optimizer.ema_momentum, optimizer.ema_overwrite_frequency)]
    if optimizer.ema_overwrite_frequency:
        raise ValueError(
            "from_keras: ema_overwrite_frequency of a tf_keras optimizer, whose average starts "
            "from the initial weights. Write opt_state = tx.setup(optimizer, model), or use tx.EMA."
        )
    return [MovingAverage(optimizer.ema_momentum)]


def _decaying_rule(optimizer: Any, name: str) -> list[Rule]:
    where = _where(optimizer)
    decay = getattr(optimizer, "weight_decay", None)
    if name == "AdamW" and where is not None:
        return [_rule(optimizer, Adam), DecoupledWeightDecay(decay, where=where)]
    rule = _rule(optimizer, _class_named(name))
    if "weight_decay" in rule.hyperparameters():
        _refuse_exclusions(name, where)
        return [rule]
    if decay is None:
        return [rule]
    if rule.looks_at_leaf:
        return [DecayedFirst(rule, decay, where=where)]
    return [rule, DecoupledWeightDecay(decay, where=where)]


def _refuse_exclusions(name: str, where: Where) -> None:
    if where is not None:
        raise ValueError(
            f"from_keras: the rule {name} decays every leaf, and this optimizer excludes some. "
            "Write opt_state = tx.setup(optimizer, model), which leaves them out."
        )


def _where(optimizer: Any) -> Where:
    """None where every leaf decays."""
    if not excludes_from_decay(optimizer):
        return None
    return lambda path, leaf: bool(optimizer._use_weight_decay(leaf))


def _class_named(name: str) -> type[Rule]:
    if name not in all_rules:
        raise ValueError(f"from_keras: there is no rule for Keras' {name}.")
    return all_rules[name]


def _rule(optimizer: Any, rule_class: type[Rule]) -> Rule:
    config = optimizer.get_config()
    known = {field.name for field in fields(rule_class) if field.init}
    arguments = {name: config[name] for name in known & config.keys() if name != "learning_rate"}
    for name in ("weight_decay", "adam_weight_decay"):
        if name in arguments and arguments[name] is None:
            arguments[name] = 0.0
    if rule_class is Adafactor:
        # Keras has the argument and does not look at it.
        arguments["relative_step"] = True
    _refuse_what_no_rule_has(optimizer, rule_class, config)
    if "learning_rate" in known:
        arguments["learning_rate"] = _learning_rate(optimizer, config)
    return rule_class(**arguments)


def _learning_rate(optimizer: Any, config: Any) -> Any:
    source = LearningRateOf(optimizer).source
    if callable(source) and not hasattr(source, "assign"):
        return source
    rate = source if is_number(source) else float(source.numpy())
    decay = config.get("decay") if is_legacy(optimizer) else None
    if not decay:
        return rate
    # The legacy `decay` argument: Keras divides by 1 + decay * iterations.
    return lambda step: rate / (1.0 + decay * step)


def _refuse_what_no_rule_has(optimizer: Any, rule_class: type[Rule], config: Any) -> None:
    form = getattr(rule_class, "keras", None)
    for name, expected in (form.requires if form is not None else {}).items():
        if name in config and config[name] != expected:
            raise ValueError(
                f"from_keras: {name}={config[name]!r} of the Keras {type(optimizer).__name__} is "
                "nothing that a rule has. Write opt_state = tx.setup(optimizer, model), which "
                "steps by the optimizer's own update."
            )
