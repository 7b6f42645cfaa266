"""What someone may have meant, for errors about a name that does not exist."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """`Did you mean a or b? `, or nothing where no known name is near."""
    near = difflib.get_close_matches(given, list(known), n=3)
    return f"Did you mean {' or '.join(near)}? " if near else ""
