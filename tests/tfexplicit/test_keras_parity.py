"""Each rule trains as Keras' own optimizer: 200 steps, with each clip and with a schedule.

The cases come from the package: every rule that Keras has a class for, in each of its variants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import cycle, groupby
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras

import tfexplicit as tx
from tfexplicit.keras_optimizers.known import rule_of
from tfexplicit.rules import all_rules

STEPS = 200
BOUND = {"float32": 1e-5, "float64": 1e-10}
# Nadam's constant 0.96 is rounded to float32 in Keras.
NADAM_IN_FLOAT64 = 1e-6

PACKAGES = {"keras": keras, "tf_keras": tf_keras}
BASE: dict[str, dict[str, Any]] = {
    "plain": {},
    "clipvalue": {"clipvalue": 0.5},
    "clipnorm": {"clipnorm": 0.75},
    "global_clipnorm": {"global_clipnorm": 1.0},
    "schedule": {},
    "weight_decay": {"weight_decay": 3 / 64},
    "ema": {"use_ema": True, "ema_momentum": 0.75, "ema_overwrite_frequency": 7},
    "accumulation": {"gradient_accumulation_steps": 4, "clipnorm": 0.75},
    "loss_scale": {"loss_scale_factor": 8.0},
}
# What a rule has modifiers for; `from_keras` writes them.
MODIFIED = ("weight_decay", "ema", "accumulation", "loss_scale")
CLIPS = {
    "clipvalue": tx.ClipByValue,
    "clipnorm": tx.ClipByNorm,
    "global_clipnorm": tx.ClipByGlobalNorm,
}


def trains_otherwise_in_keras(rule: tx.Rule) -> bool:
    """The defects of Keras; tests/tfexplicit/test_keras_defects.py has them."""
    return isinstance(rule, tx.ScheduleFreeAdamW) or (
        isinstance(rule, tx.Adafactor) and not rule.relative_step
    )


@dataclass(frozen=True)
class Case:
    rule: tx.Rule
    package: str
    base: str
    dtype: str

    def __str__(self) -> str:
        return f"{self.rule!r}-{self.package}-{self.base}-{self.dtype}"

    @property
    def class_name(self) -> str:
        return type(self.rule).__name__

    @property
    def bound(self) -> float:
        rounded = self.class_name == "Nadam" and self.dtype == "float64"
        return NADAM_IN_FLOAT64 if rounded else BOUND[self.dtype]

    @property
    def is_taken_over(self) -> bool:
        form = getattr(type(self.rule), "keras", None)
        in_package = form is not None and (self.package == "keras" or form.in_tf_keras)
        return in_package and self.dtype == "float32" and self.base not in MODIFIED

    def arguments(self) -> dict[str, Any]:
        """Of the rule and of the Keras class. Keras rounds them to float32, where a rule is exact,
        so they are numbers that are the same either way."""
        values = {
            field.name: getattr(self.rule, field.name) for field in fields(self.rule) if field.init
        }
        for name, value in values.items():
            if isinstance(value, float):
                values[name] = float(np.float32(value))
        if self.base == "schedule":
            schedules = PACKAGES[self.package].optimizers.schedules
            values["learning_rate"] = schedules.ExponentialDecay(values["learning_rate"], 64, 0.5)
        return values

    def our_rule(self) -> tx.Rule:
        if self.base in MODIFIED:
            return tx.from_keras(self.keras_optimizer())
        rule = type(self.rule)(**self.arguments())
        clips = [CLIPS[name](limit) for name, limit in BASE[self.base].items()]
        return tx.Chain(*clips, rule) if clips else rule

    def keras_optimizer(self) -> Any:
        chosen = getattr(PACKAGES[self.package].optimizers, self.class_name)
        return chosen(**self.arguments(), **BASE[self.base])


def keras_has(case: Case) -> bool:
    """The last two, and an average that starts as in Keras 3, are not in `tf_keras`."""
    if case.base == "weight_decay":
        return "weight_decay" not in case.rule.hyperparameters()
    return case.package == "keras" or case.base not in MODIFIED


def keras_raises(case: Case) -> bool:
    """Muon multiplies a float32 schedule with a float64 gradient."""
    return (case.class_name, case.base, case.dtype) == ("Muon", "schedule", "float64")


CASES = [
    case
    for name in sorted(all_rules)
    for rule in all_rules[name].variants()
    if not trains_otherwise_in_keras(rule)
    for package in PACKAGES
    if hasattr(PACKAGES[package].optimizers, name)
    for dtype in BOUND
    for base in BASE
    for case in [Case(rule, package, base, dtype)]
    if keras_has(case) and not keras_raises(case)
]


def covering(cases: Sequence[Case]) -> set[str]:
    """Each rule with both packages and both dtypes; the base arguments take turns."""
    turns = cycle(BASE)
    chosen = set()
    for _, same in groupby(cases, key=lambda case: (case.rule, case.package, case.dtype)):
        by_base = {case.base: case for case in same}
        wanted = next(base for base in turns if base in by_base)
        chosen.add(str(by_base[wanted]))
    return chosen


FAST = covering(CASES)
PARAMETERS = [
    pytest.param(case, id=str(case), marks=() if str(case) in FAST else pytest.mark.slow)
    for case in CASES
]


class Problem:
    """A layer whose batch changes at every step, so that no gradient settles down."""

    def __init__(self, dtype: str) -> None:
        rng = np.random.default_rng(0)
        self.x = tf.constant(rng.normal(size=(STEPS, 8, 3)), dtype)
        self.y = tf.constant(rng.normal(size=(STEPS, 8, 4)), dtype)
        self.start = {
            name: rng.normal(size=shape).astype(dtype)
            for name, shape in {"kernel": (3, 4), "bias": (4,)}.items()
        }

    def variables(self, package: str) -> list[Any]:
        """Muon asks for a path, which only variables of Keras 3 have."""
        if package == "keras":
            return [
                keras.Variable(value, dtype=value.dtype.name, name=name)
                for name, value in self.start.items()
            ]
        return [tf.Variable(value, name=name) for name, value in self.start.items()]

    def gradients(self, weights: Sequence[Any], step: Any) -> list[Any]:
        with tf.GradientTape() as tape:
            tape.watch(weights)
            output = tf.tanh(tf.matmul(self.x[step], weights[0]) + weights[1])
            loss = 8 * tf.reduce_mean((output - self.y[step]) ** 2)
        grads: list[Any] = tape.gradient(loss, weights)
        return grads

    def train(
        self,
        variables: Sequence[Any],
        apply: Callable[[list[Any]], Any],
        steps: int = STEPS,
        in_graph: bool = True,
    ) -> list[np.ndarray]:
        weights = [v.value if isinstance(v, keras.Variable) else v for v in variables]

        def one(step: Any) -> Any:
            apply(self.gradients(weights, step))
            return step + 1

        @tf.function(autograph=False)
        def all_in_graph() -> None:
            tf.while_loop(lambda step: step < steps, one, [tf.constant(0)])

        if in_graph:
            all_in_graph()
        else:
            for step in range(steps):
                one(step)
        return [weight.numpy() for weight in weights]


@pytest.fixture
def problem(request: pytest.FixtureRequest) -> Iterator[Problem]:
    case = request.node.callspec.params["case"]
    for package in (keras.config, tf_keras.backend):
        package.set_floatx(case.dtype)
    yield Problem(case.dtype)
    for package in (keras.config, tf_keras.backend):
        package.set_floatx("float32")


def train_keras(problem: Problem, case: Case) -> list[np.ndarray]:
    variables, optimizer = problem.variables(case.package), case.keras_optimizer()
    optimizer.build(variables)
    # In a graph the running product of Nadam in tf_keras goes wrong from the second variable on.
    in_graph = (case.package, case.class_name) != ("tf_keras", "Nadam")
    return problem.train(
        variables,
        lambda grads: optimizer.apply_gradients(zip(grads, variables, strict=True)),
        in_graph=in_graph,
    )


def train_in_place(problem: Problem, case: Case, spec: Any, steps: int = STEPS) -> list[np.ndarray]:
    variables = problem.variables(case.package)
    state = tx.setup(spec, variables)
    return problem.train(variables, lambda grads: tx.update(state, variables, grads), steps)


def train_pure(problem: Problem, rule: tx.Rule, steps: int) -> list[np.ndarray]:
    values: Any = {name: tf.constant(value) for name, value in problem.start.items()}
    state: Any = tx.setup(rule, values)
    gradients = tf.function(problem.gradients)
    for step in range(steps):
        grads = gradients(list(values.values()), tf.constant(step))
        state, values = tx.updated(state, values, dict(zip(values, grads, strict=True)))
    return [value.numpy() for value in values.values()]


@pytest.mark.parametrize("case", PARAMETERS)
def test_rule_trains_as_keras(
    case: Case, problem: Problem, relative_difference: Callable[..., float]
) -> None:
    theirs = train_keras(problem, case)
    assert relative_difference(theirs, list(problem.start.values())) > 25 * case.bound
    runs = {"rule": train_in_place(problem, case, case.our_rule())}
    if case.is_taken_over:
        optimizer = case.keras_optimizer()
        assert rule_of(optimizer) is not None
        runs["taken over"] = train_in_place(problem, case, optimizer)
    differences = {name: relative_difference(run, theirs) for name, run in runs.items()}
    print(f"parity {case}: {differences}")
    assert max(differences.values()) < case.bound


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=str(case), marks=() if case.dtype == "float64" else pytest.mark.slow)
        for case in CASES
        if case.package == "keras" and case.base in ("plain", "global_clipnorm")
        if case.base == "plain" or case.class_name == "Adam"
    ],
)
def test_update_and_updated_agree(
    case: Case, problem: Problem, relative_difference: Callable[..., float]
) -> None:
    in_place = train_in_place(problem, case, case.our_rule(), steps=25)
    pure = train_pure(problem, case.our_rule(), steps=25)
    assert relative_difference(pure, in_place) < BOUND[case.dtype]


def test_tf_keras_schedule_keeps_the_learning_rate_that_programs_read() -> None:
    def trained(through_tx: bool) -> Any:
        schedule = tf_keras.optimizers.schedules.ExponentialDecay(0.01, 2, 0.5)
        optimizer = tf_keras.optimizers.SGD(schedule)
        variable = tf.Variable(1.0)
        optimizer.build([variable])
        state = tx.setup(optimizer, [variable]) if through_tx else None

        @tf.function
        def step() -> None:
            if state is not None:
                tx.update(state, [variable], [tf.constant(1.0)])
            else:
                optimizer.apply_gradients([(tf.constant(1.0), variable)])

        for _ in range(3):
            step()
        return optimizer

    ours, theirs = trained(True), trained(False)
    assert float(ours.learning_rate) == float(theirs.learning_rate)
    assert int(ours.iterations.numpy()) == 3
