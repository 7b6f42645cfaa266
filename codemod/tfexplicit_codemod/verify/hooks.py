"""Where updates happen in each package: the one place that every update of it goes through."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

from tfexplicit_codemod.verify.imports import Hook
from tfexplicit_codemod.verify.recorder import Recorder
from tfexplicit_codemod.verify.seeds import seed_tensorflow


def hooks_for(recorder: Recorder) -> dict[str, Hook]:
    """What to do after the program has imported each package."""
    return {
        "tensorflow": functools.partial(_make_deterministic, recorder),
        "keras": functools.partial(_record_keras, recorder),
        "tf_keras": functools.partial(_record_tf_keras, recorder),
        "tfexplicit": functools.partial(_record_tfexplicit, recorder),
    }


def _make_deterministic(recorder: Recorder, tensorflow: ModuleType) -> None:
    seed_tensorflow(tensorflow)
    _turn_jit_compile_off(recorder, type(tensorflow.function(lambda: None)))


def _turn_jit_compile_off(recorder: Recorder, function_class: Any) -> None:
    """Makes every `tf.function` run uncompiled: XLA cannot call Python, so not record either."""
    initialise = function_class.__init__

    @functools.wraps(initialise)
    def without_jit_compile(self: Any, *args: Any, **kwargs: Any) -> None:
        if kwargs.get("jit_compile"):
            kwargs["jit_compile"] = None
            recorder.note("jit_compile=True was turned off in both runs: XLA cannot be recorded")
        initialise(self, *args, **kwargs)

    function_class.__init__ = without_jit_compile


def _record_keras(recorder: Recorder, keras: ModuleType) -> None:
    optimizers = keras.optimizers
    # `apply_gradients`, `minimize` and `fit` all end in `apply`.
    for optimizer in (optimizers.Optimizer, optimizers.LossScaleOptimizer):
        optimizer.apply = _recording_lists(recorder, optimizer.apply)


def _recording_lists(recorder: Recorder, apply: Callable[..., Any]) -> Any:
    @functools.wraps(apply)
    def recorded(self: Any, grads: Any, trainable_variables: Any = None) -> Any:
        gradients = list(grads)
        if trainable_variables is None:
            leaves = self._trainable_variables if self.built else []
        else:
            leaves = trainable_variables = list(trainable_variables)
        with recorder.around_update(leaves, gradients):
            return apply(self, gradients, trainable_variables)

    return recorded


def _record_tf_keras(recorder: Recorder, tf_keras: ModuleType) -> None:
    optimizers = tf_keras.optimizers
    for optimizer in (optimizers.Optimizer, optimizers.legacy.Optimizer):
        optimizer.apply_gradients = _recording_pairs(recorder, optimizer.apply_gradients)


def _recording_pairs(recorder: Recorder, apply_gradients: Callable[..., Any]) -> Any:
    @functools.wraps(apply_gradients)
    def recorded(self: Any, grads_and_vars: Any, *args: Any, **kwargs: Any) -> Any:
        pairs = list(grads_and_vars)
        leaves, gradients = [leaf for _, leaf in pairs], [gradient for gradient, _ in pairs]
        with recorder.around_update(leaves, gradients):
            return apply_gradients(self, pairs, *args, **kwargs)

    return recorded


def _record_tfexplicit(recorder: Recorder, tfexplicit: ModuleType) -> None:
    from tfexplicit.observers import observers

    observers.append(recorder.around_update)
