"""Signs that `model.variables` may train other variables than `model.trainable_variables`.

A variable that is not trainable has no gradient, and a step passes it over: with none of these
signs the two lists train the same. Like `sparse.py`, a look at the text of all files concerned.
"""

from __future__ import annotations

import re

_SIGNS = re.compile(
    # Layers that are frozen, or variables that are not, in ways that the tape does not follow.
    rb"trainable\b"
    rb"|\.watch\("
    # An average of all variables, written back to them.
    rb"|use_ema|\bMovingAverage\b|\bSWA\b"
    # Lists of the program's own, and models whose layers are out of sight.
    rb"|def (trainable_)?(variables|weights)\b|load_model\(|model_from_json|clone_model"
)


def may_freeze(source: bytes) -> bool:
    return _SIGNS.search(source) is not None
