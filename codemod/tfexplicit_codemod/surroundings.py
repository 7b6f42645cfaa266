"""What the analysis of one file may know of the files around it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tfexplicit_codemod.freezing import may_freeze
from tfexplicit_codemod.rounding import may_round_otherwise
from tfexplicit_codemod.sparse import may_have_sparse_gradients

if TYPE_CHECKING:
    from tfexplicit_codemod.analysis.contracts import Contract, Key
    from tfexplicit_codemod.analysis.module import Module

Definition = ast.ClassDef | ast.FunctionDef


@dataclass(frozen=True)
class Surroundings:
    """Facts of the files that a file imports, directly or through others.

    `sparse`: a gradient may be sparse. `freezes`: `model.variables` may train other variables than
    `model.trainable_variables`. `rounds`: leaves may not be float32. `lookup` finds the definition
    behind an import path, `is_own` tells a module of the project from those of other packages.
    `is_used_elsewhere` tells whether another file may import a name of this one, `texts_naming`
    gives the texts of such files; `is_read_elsewhere` leaves out those with such a name of their
    own. `observed` holds the places (from line 1, column 0) of the calls that a run has seen on a
    Keras optimizer. `contracts` are what functions of other files ask of this one, `refused` those
    that some file cannot keep, with the reason.
    """

    sparse: Callable[[], bool]
    freezes: Callable[[], bool]
    rounds: Callable[[], bool]
    lookup: Callable[[str], tuple[Module, Definition] | None]
    is_own: Callable[[str], bool]
    is_used_elsewhere: Callable[[str], bool]
    is_read_elsewhere: Callable[[str], bool]
    texts_naming: Callable[[str], Iterable[bytes]] = lambda name: ()
    path: Path | None = None
    observed: frozenset[tuple[int, int]] = frozenset()
    contracts: tuple[Contract, ...] = ()
    refused: Mapping[Key, str] = field(default_factory=dict)

    def why_refused(self, function: str, parameter: str) -> str | None:
        """What keeps a file that calls a function of this one from passing a state to it."""
        return None if self.path is None else self.refused.get((self.path, function, parameter))

    def joined_by(self, source: bytes) -> Surroundings:
        """With the signs that the file itself shows."""
        return replace(
            self,
            sparse=lambda: may_have_sparse_gradients(source) or self.sparse(),
            freezes=lambda: may_freeze(source) or self.freezes(),
            rounds=lambda: may_round_otherwise(source) or self.rounds(),
        )


ALONE = Surroundings(
    sparse=lambda: False,
    freezes=lambda: False,
    rounds=lambda: False,
    lookup=lambda path: None,
    is_own=lambda module: False,
    is_used_elsewhere=lambda name: False,
    is_read_elsewhere=lambda name: False,
)

# Nothing is known, so everything that would keep a site from being rewritten is assumed.
OUT_OF_SIGHT = Surroundings(
    sparse=lambda: True,
    freezes=lambda: True,
    rounds=lambda: True,
    lookup=lambda path: None,
    is_own=lambda module: False,
    is_used_elsewhere=lambda name: True,
    is_read_elsewhere=lambda name: True,
)
