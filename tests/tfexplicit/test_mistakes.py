"""Mistakes that only a running program shows: its sample warns, its remedy does not."""

from __future__ import annotations

import dataclasses
import runpy
import warnings
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tfexplicit_codemod.registry import Rule, all_rules

import tfexplicit as tx

MISTAKES = [rule for rule in all_rules() if rule.is_run_time_only]
each_mistake = pytest.mark.parametrize("rule", MISTAKES, ids=lambda rule: rule.code)


def said_by(source: str, path: Path) -> list[tuple[str, str, int]]:
    """The code, file and line of each warning."""
    path.write_text(source)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        runpy.run_path(str(path))
    return [
        (each.message.code, each.filename, each.lineno)  # type: ignore[union-attr]
        for each in caught
        if issubclass(each.category, tx.ImplicitUpdateWarning | tx.StateMisuseWarning)
    ]


@each_mistake
def test_the_line_of_the_mistake_is_named_once(rule: Rule, tmp_path: Path) -> None:
    path = tmp_path / "before.py"
    lines = rule.before.splitlines()
    [marked] = [number for number, line in enumerate(lines, 1) if line.endswith("# warns")]
    said = [place for place in said_by(rule.before, path) if place[0] == rule.code]
    assert said == [(rule.code, str(path), marked)]


@each_mistake
def test_the_remedy_is_silent(rule: Rule, tmp_path: Path) -> None:
    assert said_by(rule.after, tmp_path / "after.py") == []


@each_mistake
def test_nothing_in_the_text_is_left_in_braces(rule: Rule, tmp_path: Path) -> None:
    path = tmp_path / "before.py"
    path.write_text(rule.before)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        runpy.run_path(str(path))
    texts = [str(each.message) for each in caught if rule.code in str(each.message)]
    assert texts
    assert not any("{" in text for text in texts)


def test_setup_in_a_traced_function_is_a_mistake() -> None:
    variable = tf.Variable(1.0)

    @tf.function
    def step() -> None:
        tx.update(tx.setup(tx.SGD(0.1), [variable]), [variable], [tf.constant(1.0)])

    with pytest.raises(ValueError, match=r"setup runs inside a tf\.function"):
        step()


@pytest.mark.filterwarnings("error::tfexplicit.StateMisuseWarning")
def test_what_is_no_mistake_is_silent() -> None:
    variable = tf.Variable(1.0)

    @tf.function
    def pure(value: Any) -> Any:
        opt_state = tx.setup(tx.SGD(0.1), [value])
        return tx.update(opt_state, [value], [tf.constant(1.0)])[1]

    pure(tf.constant(1.0))
    late: list[Any] = []

    @tf.function
    def made_once() -> None:
        if not late:
            late.append(tx.setup(tx.SGD(0.1), [variable]))
        tx.update(late[0], [variable], [tf.constant(1.0)])

    made_once()
    # A search over learning rates starts anew from one line.
    for rate in (0.1, 0.2, 0.3, 0.4):
        opt_state = tx.setup(tx.SGD(rate), [variable])
        for _ in range(2):
            tx.update(opt_state, [variable], [tf.constant(1.0)])
    for _ in range(4):
        new = tf.Variable(1.0)
        kept = tx.setup(tx.SGD(0.1), [new])
        tx.update(kept, [new], [tf.constant(1.0)])


def test_a_learning_rate_is_assigned_as_on_a_keras_optimizer() -> None:
    rule, variable = tx.SGD(1.0), tf.Variable(0.0)

    def step() -> None:
        rule.apply_gradients([(tf.constant(1.0), variable)])
        rule.learning_rate = rule.learning_rate * 0.5

    with pytest.warns(tx.ImplicitUpdateWarning, match=r"tx.adjust\(opt_state, learning_rate="):
        step()
    step()
    step()
    assert float(variable) == -1.75
    assert rule.learning_rate == 0.125


def test_a_rule_that_keeps_no_state_is_not_assigned_to() -> None:
    rule, variable = tx.SGD(1.0), tf.Variable(0.0)
    with pytest.raises(dataclasses.FrozenInstanceError, match=r"tx.adjust\(opt_state, learning"):
        rule.learning_rate = 0.5
    with pytest.warns(tx.ImplicitUpdateWarning):
        rule.apply_gradients([(tf.constant(1.0), variable)])
    opt_state = tx.setup(rule, [tf.Variable(1.0)])
    with pytest.raises(dataclasses.FrozenInstanceError):
        rule.learning_rate = 0.5
    assert float(opt_state.hyper["learning_rate"]) == 1.0


def test_train_with_a_rule_goes_on_from_call_to_call() -> None:
    rule, explicit = tx.Adam(0.1), tf.Variable(5.0)
    variable = tf.Variable(5.0)

    def loss_fn(model: Any, x: Any) -> Any:
        return (model[0] - x) ** 2

    data = [tf.constant(1.0)] * 3
    with pytest.warns(tx.ImplicitUpdateWarning, match="TX307"):
        tx.train(loss_fn, [variable], data, rule, progress=False)
    with pytest.warns(tx.ImplicitUpdateWarning, match="TX307"):
        tx.train(loss_fn, [variable], data, rule, progress=False)
    opt_state = tx.setup(tx.Adam(0.1), [explicit])
    tx.train(loss_fn, [explicit], data * 2, opt_state, progress=False)
    assert float(variable) == float(explicit)
    with pytest.warns(tx.ImplicitUpdateWarning, match="TX305"):
        assert int(rule.iterations) == 6
