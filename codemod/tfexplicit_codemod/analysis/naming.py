"""Names for what the rewrite adds, never one that the file uses already."""

from __future__ import annotations

import re
from collections.abc import Collection

_OPTIMIZER_WORD = re.compile(r"(?i)(?:^|_)?(optimizer|optimiser|optim|opt)(?=$|_|\d)")


def state_name(optimizer: str, taken: Collection[str]) -> str:
    """The state's name after its optimizer's: `d_optimizer` gives `d_opt_state`."""
    return unused(_plain_state_name(optimizer), taken)


def _plain_state_name(optimizer: str) -> str:
    found = _OPTIMIZER_WORD.search(optimizer)
    if not found and optimizer.endswith("s") and _OPTIMIZER_WORD.search(optimizer[:-1]):
        return f"{_plain_state_name(optimizer[:-1])}s"
    if not found:
        return f"{optimizer}_opt_state"
    before, after = optimizer[: found.start(1)], optimizer[found.end(1) :]
    if not before.strip("_") and re.fullmatch(r"_[A-Za-z]\w*", after):
        return f"{before}{after[1:]}_opt_state"
    if before and not before.endswith("_"):
        before += "_"
    return f"{before}opt_state{after}"


def unused(name: str, taken: Collection[str]) -> str:
    """The name itself, or the first of `name_1`, `name_2`, ... that is free."""
    if name not in taken:
        return name
    number = 1
    while f"{name}_{number}" in taken:
        number += 1
    return f"{name}_{number}"
