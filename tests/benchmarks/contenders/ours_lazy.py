"""`tx.update` that touches only the rows which a gradient has."""

from __future__ import annotations

from contenders.ours import Ours


class OursLazy(Ours):
    name = "tfexplicit, lazy rows"
    kinds = ("sparse",)
    sparse = "lazy"


contender = OursLazy
