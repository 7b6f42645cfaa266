"""`tx.update` called eagerly, which runs a function that it compiled before."""

from __future__ import annotations

from contenders.ours import Ours


class OursEager(Ours):
    name = "tfexplicit, eager"
    kinds = ("dense", "sparse")
    traced = False


contender = OursEager
