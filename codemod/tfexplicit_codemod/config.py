"""`[tool.tfexplicit]` of a pyproject.toml.

[tool.tfexplicit]
select = ["TX101"]        only these codes
ignore = ["TX103"]        all codes but these
exclude = ["third_party/"]    patterns as in .gitignore, from the folder of the file
todo = false              no TODO comment above a site that is left
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfexplicit_codemod.codes import known_codes
from tfexplicit_codemod.errors import UsageError
from tfexplicit_codemod.exclusion import NOTHING, Exclusion
from tfexplicit_codemod.near import did_you_mean

TABLE = b"[tool.tfexplicit]"


@dataclass(frozen=True)
class Config:
    """The keys that are given; None or empty where one is not."""

    select: frozenset[str] | None = None
    ignore: frozenset[str] = frozenset()
    exclude: Exclusion = NOTHING
    todo: bool = True


def config_for(paths: list[Path]) -> Config:
    """From the nearest pyproject.toml with our table, at or above what all paths share.

    `UsageError` naming file and key if it cannot be used.
    """
    common = Path(os.path.commonpath([path.absolute() for path in paths]))
    for folder in (common, *common.parents):
        file = folder / "pyproject.toml"
        if file.is_file() and TABLE in file.read_bytes():
            return _read(file)
        if (folder / ".git").exists():
            break
    return Config()


def _read(file: Path) -> Config:
    table = _table(file)
    for key in table.keys() - KEYS.keys():
        hint = did_you_mean(key, KEYS)
        raise UsageError(
            f"{file}: [tool.tfexplicit] has no key {key!r}. {hint}The keys are {', '.join(KEYS)}."
        )
    return Config(**{key: KEYS[key](file, key, value) for key, value in table.items()})


def _table(file: Path) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        parsed = tomllib.loads(file.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: not valid TOML: {error}") from None
    table: dict[str, Any] = parsed.get("tool", {}).get("tfexplicit", {})
    return table


def _strings(file: Path, key: str, value: object) -> list[str]:
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return value
    raise _wrong(file, key, value, 'a list of strings, such as ["..."]')


def _codes(file: Path, key: str, value: object) -> frozenset[str]:
    return known_codes(_strings(file, key, value), where=f"{file}: {key}: ")


def _exclusion(file: Path, key: str, value: object) -> Exclusion:
    return Exclusion(file.parent, tuple(_strings(file, key, value)))


def _boolean(file: Path, key: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise _wrong(file, key, value, "true or false")


def _wrong(file: Path, key: str, value: object, expected: str) -> UsageError:
    return UsageError(f"{file}: [tool.tfexplicit] {key} is {value!r}, expected {expected}")


KEYS: dict[str, Callable[[Path, str, object], Any]] = {
    "select": _codes,
    "ignore": _codes,
    "exclude": _exclusion,
    "todo": _boolean,
}
