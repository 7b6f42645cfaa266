"""Signs that leaves may not be float32: there, a rule rounds otherwise than the Keras object.

Like `sparse.py`, a look at the text of all files concerned.
"""

from __future__ import annotations

import re

_SIGNS = re.compile(
    # Scales of float8 count, too. GPflow's leaves are float64.
    rb"float64|float16|float8|complex|gpflow|tf\.(double|half)\b"
)
# A variable made of an array of NumPy is float64 unless it is told otherwise.
_NUMPY = re.compile(rb"\b(import|from)\s+([\w.]+(\s+as\s+\w+)?\s*,\s*)*numpy\b")
_VARIABLE = re.compile(rb"\bVariable\b")
# A setting that holds for the whole program, whichever file makes it.
_FOR_ALL = re.compile(rb"set_floatx|set_global_policy|set_policy|set_dtype_policy")


def may_round_otherwise(source: bytes) -> bool:
    from_numpy = _VARIABLE.search(source) and _NUMPY.search(source)
    return bool(from_numpy or _SIGNS.search(source))


def sets_precision_for_all(source: bytes) -> bool:
    return _FOR_ALL.search(source) is not None
