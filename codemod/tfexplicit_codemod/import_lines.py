"""The names that a text seems to import, far faster than parsing it.

What stands in a string counts too: there may be too many names, but never too few.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from unicodedata import normalize

_SPACE = r"(?:[ \t\f]|\\\n)*"
_STATEMENT = re.compile(
    # At the start of a line, or after something on it: `try: import a; import b`.
    rf"(?:^|[;:]){_SPACE}"
    rf"(?:from\b(?P<module>(?:[^\n#;\\]|\\\n)*?)\bimport\b|import\b){_SPACE}"
    r"(?:\((?P<several>[^)#]*(?:#[^\n]*[^)#]*)*)|(?P<line>(?:[^\n#;\\]|\\\n)*))",
    re.MULTILINE,
)
_COMMENT = re.compile(r"#[^\n]*")
_ALIAS = re.compile(r"\sas\s.*", re.DOTALL)
_BETWEEN = re.compile(r"[\s\\]+")


def names_seemingly_imported(text: str) -> Iterator[tuple[str, ...]]:
    """`a.b` for `import a.b`, and for `from a import b`, which may mean the module `a.b`."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    last, place = text.rfind("import"), 0
    while place <= last and (statement := _STATEMENT.search(text, place)):
        place = statement.end()
        names = _COMMENT.sub("", statement["several"] or statement["line"] or "")
        for name in names.split(","):
            path = f"{statement['module'] or ''}.{_ALIAS.sub('', name)}"
            plain = normalize("NFKC", _BETWEEN.sub("", path))
            yield tuple(part for part in plain.split(".") if part)
