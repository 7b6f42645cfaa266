"""Codes as people write them: on the command line and in pyproject.toml."""

from __future__ import annotations

from collections.abc import Iterable

from tfexplicit_codemod.errors import UsageError
from tfexplicit_codemod.near import did_you_mean
from tfexplicit_codemod.registry import Rule, all_rules


def known_codes(codes: Iterable[str], where: str = "") -> frozenset[str]:
    """The codes in upper case; `UsageError` if one is no code. `where` begins its message."""
    return frozenset(rule_named(code, where).code for code in codes)


def rule_named(code: str, where: str = "") -> Rule:
    by_code = {rule.code: rule for rule in all_rules()}
    if code.upper() in by_code:
        return by_code[code.upper()]
    hint = did_you_mean(code.upper(), by_code)
    raise UsageError(
        f"{where}{code} is not a code. {hint}`tfexplicit explain --list` lists all of them."
    )
