"""Moves TensorFlow and Keras training code from implicit to explicit optimiser state.

The command is `tfexplicit`; `transform` is the same rewrite as a function on the text of a module.
"""

from tfexplicit_codemod.library import CannotTransform, Transformed, transform

__all__ = ["CannotTransform", "Transformed", "transform"]
