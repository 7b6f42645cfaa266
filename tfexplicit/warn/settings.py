"""What has been chosen, and what has been said so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tfexplicit.warn.call_site import CallSite


@dataclass
class Settings:
    # None: nobody has chosen. Rules warn once per line then, and Keras is left alone.
    mode: str | None = None
    # In the mode "error": True for a line that may go on.
    is_allowed: Callable[[CallSite], bool] = lambda site: False
    # (code or method, line), as said already; the line as Python sees it, and the true one.
    said: set[tuple[str, CallSite]] = field(default_factory=set)
    # Every line that was warned of, with the code.
    sites: dict[CallSite, str] = field(default_factory=dict)
    # The file that every such line is noted in.
    log: Path | None = None
    # Lines whose warning Python's filters did not show.
    hidden: set[CallSite] = field(default_factory=set)


settings = Settings()
