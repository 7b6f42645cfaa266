"""Every code of the registry, through its own sample."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest
from tfexplicit_codemod.engine import migrate_source
from tfexplicit_codemod.notebook.migrate import migrate_notebook
from tfexplicit_codemod.outcome import FileResult, Outcome
from tfexplicit_codemod.registry import Rule, all_rules, rule_for

CELLS = [pytest.param(rule, id=rule.code) for rule in all_rules() if rule.is_cell]
# Those of the run time are not for the codemod: tests/tfexplicit/test_mistakes.py runs them.
RULES = [
    pytest.param(rule, id=rule.code)
    for rule in all_rules()
    if not (rule.is_cell or rule.is_run_time_only)
]


def migrate(text: str) -> FileResult:
    return migrate_source(text.encode(), Path("sample.py"))


def test_codes_are_unique_and_well_formed() -> None:
    codes = [rule.code for rule in all_rules()]
    assert len(codes) == len(set(codes))
    assert all(re.fullmatch(r"TX[123]\d\d", code) for code in codes)
    assert rule_for("TX101").name == "named-optimizer"
    with pytest.raises(KeyError, match="TX999"):
        rule_for("TX999")


@pytest.mark.parametrize("rule", RULES)
def test_before_becomes_after(rule: Rule) -> None:
    result = migrate(rule.before)
    assert result.after is not None
    assert result.after.decode() == rule.after
    expected = Outcome.CHANGED if rule.is_rewrite else Outcome.NEEDS_HAND
    assert result.outcome is expected


@pytest.mark.parametrize("rule", RULES)
def test_bug_48_a_second_run_changes_nothing(rule: Rule) -> None:
    again = migrate(rule.after)
    assert again.after is None
    assert all(site.left for site in again.sites)


@pytest.mark.parametrize("rule", RULES)
def test_sample_is_a_short_program(rule: Rule) -> None:
    for text in (rule.before, rule.after):
        ast.parse(text)
        assert len(text.splitlines()) <= 30


@pytest.mark.parametrize("rule", [p for p in RULES if not p.values[0].is_rewrite])
def test_left_sample_is_left_with_its_code(rule: Rule) -> None:
    sites = migrate(rule.before).sites
    assert rule.code in [site.code for site in sites]
    assert f"# TODO(tfexplicit {rule.code}): " in rule.after
    without_todo = [line for line in rule.after.splitlines() if "TODO(tfexplicit" not in line]
    assert without_todo == rule.before.splitlines()
    # A line number in a comment would be wrong as soon as a line is added above it.
    assert not any(re.search(r"\bline \d", site.reason) for site in sites)


@pytest.mark.parametrize("rule", RULES)
def test_without_todo_only_rewrites_are_written(rule: Rule) -> None:
    result = migrate_source(rule.before.encode(), Path("sample.py"), todo=False)
    if rule.is_rewrite:
        assert result.after == rule.after.encode()
    else:
        assert result.after is None
        assert result.outcome is Outcome.NEEDS_HAND


@pytest.mark.parametrize("rule", CELLS)
def test_a_cell_that_is_left_stays_as_it_is(rule: Rule) -> None:
    cell = {"cell_type": "code", "source": rule.before}
    result = migrate_notebook(json.dumps({"cells": [cell]}).encode(), Path("sample.ipynb"))
    assert result.outcome is Outcome.NEEDS_HAND
    assert result.after is None
    assert rule.before == rule.after
    assert [site.code for site in result.sites] == [rule.code]
