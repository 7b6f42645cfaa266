"""What `import tfexplicit as tx` offers, and that each of it says what it is."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
import tensorflow as tf

import tfexplicit as tx
from tfexplicit.composite import Composite
from tfexplicit.rules import all_rules

PUBLIC = {name: getattr(tx, name) for name in dir(tx)}
DOCUMENTED = [name for name, value in PUBLIC.items() if inspect.isroutine(value)]
DOCUMENTED += [name for name, value in PUBLIC.items() if isinstance(value, type)]


def test_dir_and_star_import_give_the_public_names_only() -> None:
    starred: dict[str, Any] = {}
    exec("from tfexplicit import *", starred)
    del starred["__builtins__"]
    assert sorted(starred) == dir(tx)
    assert {"KerasOptimizer", "Adam", "Number", "setup", "update"} <= starred.keys()
    assert not starred.keys() & {"Any", "annotations", "observers", "rules", "types", "verbs"}
    assert not any(inspect.ismodule(value) for value in starred.values())


def test_every_rule_is_public() -> None:
    assert all_rules.keys() <= PUBLIC.keys()


def test_the_watchers_of_steps_are_in_their_module() -> None:
    from tfexplicit import observers

    assert inspect.ismodule(observers)
    assert isinstance(observers.observers, list)


@pytest.mark.parametrize("name", DOCUMENTED)
def test_help_says_what_it_is(name: str) -> None:
    value = PUBLIC[name]
    text = inspect.getdoc(value) or ""
    assert value.__doc__, f"tx.{name} has no docstring"
    assert not text.startswith(f"{name}("), f"the docstring of tx.{name} is a signature"


def parts_of(rules: Iterable[Any]) -> Iterator[Any]:
    for rule in rules:
        yield rule
        yield from parts_of(getattr(rule, "parts", {}).values())


@pytest.mark.parametrize("name", all_rules)
def test_a_rule_names_its_slots(name: str) -> None:
    rule = all_rules[name]
    text = inspect.getdoc(rule) or ""
    if issubclass(rule, Composite):  # They have those of their parts.
        return
    leaf = tf.ones([2, 2])
    kept = {
        key
        for variant in parts_of(rule.variants())
        if type(variant) is rule
        for key in {**variant.begin("kernel", leaf, tf.Variable(leaf)), **variant.shared()}
    }
    unnamed = [key for key in kept if f"`{key}`" not in text]
    assert not unnamed, f"the docstring of tx.{name} does not name its slots {unnamed}"
    assert kept or "No slots" in text or "no slots" in text


@pytest.mark.parametrize("name", all_rules)
def test_a_formula_says_whose_it_is(name: str) -> None:
    rule = all_rules[name]
    if "learning_rate" in inspect.signature(rule).parameters:
        assert "https://" in (inspect.getdoc(rule) or "")
