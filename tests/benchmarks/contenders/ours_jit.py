"""`tx.update`, compiled by XLA."""

from __future__ import annotations

from contenders.ours import Ours


class OursCompiled(Ours):
    name = "tfexplicit, jit_compile"
    kinds = ("dense", "training")
    jit_compile = True


contender = OursCompiled
