"""Keras 3, imported without a draw from Python's random numbers.

Keras brings in rich, which draws one when it is imported. A program of `tf_keras` that has set a
seed must train as before where only the import of this package is new.
"""

from __future__ import annotations

import random

_numbers = random.getstate()
import keras as keras  # noqa: E402

random.setstate(_numbers)
