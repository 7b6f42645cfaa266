"""What a contender is; each is a file in `contenders/`, and nothing lists them."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from abc import ABC, abstractmethod
from typing import ClassVar

import contenders
from workloads import Workload


class Contender(ABC):
    """One way of stepping parameters.

    `needs` are the modules that must be installed; they are imported by `prepare`. `rules` and
    `kinds` say what it can do.
    """

    name: ClassVar[str]
    needs: ClassVar[tuple[str, ...]]
    rules: ClassVar[tuple[str, ...]]
    kinds: ClassVar[tuple[str, ...]] = ("dense",)

    @abstractmethod
    def prepare(self, rule: str, workload: Workload) -> None:
        """Make parameters, gradients and slots; nothing is traced or compiled yet."""

    @abstractmethod
    def step(self) -> None:
        """One step, which is over when this returns."""

    def graph_nodes(self) -> int | None:
        """How many operations the step was traced to, where there is a graph."""
        return None

    @classmethod
    def can(cls, rule: str, workload: Workload) -> bool:
        return rule in cls.rules and workload.kind in cls.kinds


def all_contenders() -> dict[str, type[Contender]]:
    """Every contender, by name."""
    modules = (
        importlib.import_module(f"contenders.{module.name}")
        for module in pkgutil.iter_modules(contenders.__path__)
    )
    return {module.contender.name: module.contender for module in modules}


def missing(contender: type[Contender]) -> list[str]:
    """The modules that it needs and that are not installed."""
    return [name for name in contender.needs if importlib.util.find_spec(name) is None]
