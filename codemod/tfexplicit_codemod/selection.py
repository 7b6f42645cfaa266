"""Which codes a run takes into account: `--select` and `--ignore`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Selection:
    """Codes are upper case; `select=None` selects all of them."""

    select: frozenset[str] | None = None
    ignore: frozenset[str] = frozenset()

    def takes(self, code: str) -> bool:
        return code not in self.ignore and (self.select is None or code in self.select)


EVERYTHING = Selection()
