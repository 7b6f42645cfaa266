"""Moves TensorFlow and Keras training code from implicit to explicit optimiser state.

The command is `tfexplicit`; `transform` is the same rewrite as a function on the text of a module.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfexplicit_codemod.source_text import CannotTransform, Transformed, transform

__all__ = ["CannotTransform", "Transformed", "transform"]


def __getattr__(name: str) -> object:
    # The command starts without what only a caller of these needs.
    if name in __all__:
        from tfexplicit_codemod import source_text

        return getattr(source_text, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
