"""What other files of the project do to a class: by a class derived from it, or to an object."""

from __future__ import annotations

import ast
import re

from tfexplicit_codemod.surroundings import Surroundings


def is_set_in_other_files(around: Surroundings, cls: ast.ClassDef, attribute: str) -> bool:
    """True where a derived class or the holder of an object may set the attribute."""
    store = rf"\.{attribute}\s*(:[^=\n]*)?=(?!=)"
    by_object = re.compile(rf"(?<!\bself){store}".encode())
    by_self = re.compile(rf"\bself{store}".encode())
    derived = _derived_from(cls)
    return any(
        by_object.search(text) or (by_self.search(text) and derived.search(text))
        for text in around.texts_naming(cls.name)
    )


def is_defined_in_other_files(around: Surroundings, cls: ast.ClassDef, method: str) -> bool:
    """True where a class derived from this one may have another method of the name."""
    defined = re.compile(rf"def\s+{method}\b".encode())
    derived = _derived_from(cls)
    return any(
        defined.search(text) and derived.search(text) for text in around.texts_naming(cls.name)
    )


def _derived_from(cls: ast.ClassDef) -> re.Pattern[bytes]:
    return re.compile(rf"class\s+\w+\([^)]*\b{cls.name}\b[^)]*\)".encode())
