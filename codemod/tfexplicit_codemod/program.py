"""What the engine migrates: a program, whatever file it stands in."""

from __future__ import annotations

from typing import Protocol

from tfexplicit_codemod.edits import Edits


class Program(Protocol):
    """The text that is analysed, and the file that holds it."""

    @property
    def before(self) -> bytes:
        """The file as it is."""

    @property
    def text(self) -> str:
        """The program as Python reads it."""

    def rewritten(self, edits: Edits) -> bytes:
        """The file after these edits of the text.

        Raises `SyntaxError` where it would not parse, and what `rewrite.apply` raises.
        """
