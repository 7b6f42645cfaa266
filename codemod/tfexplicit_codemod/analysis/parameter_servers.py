"""Variables that parameter servers keep in shards: such a one is no leaf that `setup` knows."""

from __future__ import annotations

from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.rules import tx203_unclear_definition

_STRATEGIES = frozenset({"ParameterServerStrategy", "ParameterServerStrategyV2"})


def check_none(source: Source) -> None:
    """Raise where the file trains with parameter servers."""
    if _STRATEGIES & source.identifiers:
        raise tx203_unclear_definition.leave("parameter servers may keep a variable in shards")
