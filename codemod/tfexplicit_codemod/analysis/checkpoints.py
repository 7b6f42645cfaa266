"""Objects that a `tf.train.Checkpoint` holds: `checkpoint.optimizer`, `self.checkpoint.model`."""

from __future__ import annotations

import ast

from tfexplicit_codemod.analysis.classes import Classes
from tfexplicit_codemod.analysis.held_values import held_values
from tfexplicit_codemod.analysis.names import qualified
from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.analysis.versions import VersionTable

CHECKPOINTS = ("tensorflow.train.Checkpoint", "tensorflow.compat.v2.train.Checkpoint")


class Checkpoints:
    """Finds what a checkpoint was given under a name; it keeps that for good."""

    def __init__(self, source: Source, classes: Classes, versions: VersionTable) -> None:
        self.source = source
        self.classes = classes
        self.versions = versions

    def held(self, attribute: ast.Attribute) -> ast.expr | None:
        """The argument behind `checkpoint.<name>`; None for anything else."""
        made = self.made(attribute.value)
        return self.argument(made, attribute.attr) if made is not None else None

    def argument(self, made: ast.Call, name: str) -> ast.expr | None:
        """What a call of `Checkpoint` was given under a name that nothing sets later."""
        if any(keyword.arg is None for keyword in made.keywords):
            return None
        stores = self.classes.stores.get(name, [])
        if any(self.made(store.attribute.value) is made for store in stores):
            return None
        return next((k.value for k in made.keywords if k.arg == name), None)

    def made(self, node: ast.expr | None) -> ast.Call | None:
        """The call of `Checkpoint` that made what the expression holds."""
        return self._made(node, frozenset())

    def _made(self, node: ast.expr | None, seen: frozenset[ast.expr]) -> ast.Call | None:
        if isinstance(node, ast.Call):
            return node if qualified(self.source, node.func) in CHECKPOINTS else None
        if node is None or node in seen:
            return None
        values = held_values(self.classes, self.versions, node)
        return self._made(values[0], seen | {node}) if len(values) == 1 else None
