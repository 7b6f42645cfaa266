"""One rule per file; every rule class found in a file of this folder is a name of this module."""

from __future__ import annotations

import importlib
import pkgutil

from tfexplicit.rule import Rule


def _rules() -> dict[str, type[Rule]]:
    modules = [
        importlib.import_module(f"{__name__}.{module.name}")
        for module in pkgutil.iter_modules(__path__)
    ]
    return {
        name: value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, type)
        and issubclass(value, Rule)
        and value.__module__ == module.__name__
    }


all_rules = _rules()
globals().update(all_rules)
__all__ = sorted(all_rules)
