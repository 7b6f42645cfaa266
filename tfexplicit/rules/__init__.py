"""One rule per file; `all_rules` is every rule class found in a file of this folder, by name."""

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
