"""How much memory a process has used."""

from __future__ import annotations

import resource
import sys


def peak_memory() -> int:
    """In bytes, of this process so far."""
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest if sys.platform == "darwin" else largest * 1024
