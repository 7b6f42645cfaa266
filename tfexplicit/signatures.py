"""How a user's function may be called."""

from __future__ import annotations

import inspect
from typing import Any


def takes_argument(function: Any) -> bool:
    """False for a function of nothing."""
    try:
        inspect.signature(function).bind(None)
    except TypeError:
        return False
    except ValueError:
        return True  # A builtin without a signature.
    return True
