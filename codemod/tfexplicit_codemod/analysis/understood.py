"""One update site that has been read: its optimizer, its variables, its gradients."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from tfexplicit_codemod.analysis.gradients import Pairs
from tfexplicit_codemod.analysis.minimized import Minimized
from tfexplicit_codemod.analysis.references import Reference
from tfexplicit_codemod.analysis.sites import Update
from tfexplicit_codemod.analysis.variables import Leaves


@dataclass(frozen=True)
class Understood:
    """A site that can be rewritten, if its optimizer and models can be placed."""

    update: Update
    statement: ast.stmt
    home: Reference
    pairs: Pairs | Minimized
    leaves: Leaves
    sources: Leaves | None

    @property
    def gives_value(self) -> bool:
        """True where the value of the update goes somewhere."""
        return not isinstance(self.statement, ast.Expr)
