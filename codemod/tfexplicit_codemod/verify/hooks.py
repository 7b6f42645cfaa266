"""Where updates happen in each package: the one place that every update of it goes through."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

from tfexplicit_codemod.verify.imports import Hook
from tfexplicit_codemod.verify.recorder import Recorder
from tfexplicit_codemod.verify.seeds import keep_sums_in_order, seed_numpy, seed_tensorflow
from tfexplicit_codemod.verify.wrapped_methods import wrap_methods


def hooks_for(recorder: Recorder) -> dict[str, Hook]:
    """What to do after the program has imported each package."""
    return {
        "numpy": seed_numpy,
        "tensorflow": functools.partial(_prepare_tensorflow, recorder),
        "keras": functools.partial(_record_keras, recorder),
        "tf_keras": functools.partial(_record_tf_keras, recorder),
        "tfexplicit": functools.partial(_record_tfexplicit, recorder),
    }


def _prepare_tensorflow(recorder: Recorder, tensorflow: ModuleType) -> None:
    seed_tensorflow(tensorflow)
    keep_sums_in_order(tensorflow)
    record_tensorflow(recorder, tensorflow)


def record_tensorflow(recorder: Recorder, tensorflow: ModuleType) -> None:
    """What updates in graphs and their losses need."""
    function_class = type(tensorflow.function(lambda: None))
    _turn_jit_compile_off(recorder, function_class)
    function_class.__call__ = _ending_at_the_limit(recorder, function_class.__call__)
    tape = tensorflow.GradientTape
    remembering = _remembering_the_loss(recorder, tape.gradient)
    # Steps are often converted by AutoGraph, with whatever they call.
    tape.gradient = tensorflow.autograph.experimental.do_not_convert(remembering)


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


def _ending_at_the_limit(recorder: Recorder, call: Callable[..., Any]) -> Any:
    """An update in a graph cannot end the program, so the caller of the graph does."""

    @functools.wraps(call)
    def called(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return call(self, *args, **kwargs)
        finally:
            recorder.limit.end_if_reached()

    return called


def _remembering_the_loss(recorder: Recorder, gradient: Callable[..., Any]) -> Any:
    @functools.wraps(gradient)
    def remembered(self: Any, target: Any, sources: Any, *args: Any, **kwargs: Any) -> Any:
        recorder.losses.saw_gradient(target, sources)
        return gradient(self, target, sources, *args, **kwargs)

    return remembered


def _record_keras(recorder: Recorder, keras: ModuleType) -> None:
    # `minimize` and `fit` end in one of these.
    _record_methods(recorder, [keras.optimizers.Optimizer], ("apply_gradients", "apply"))
    _know_weights(recorder, keras.layers.Layer)


def _record_tf_keras(recorder: Recorder, tf_keras: ModuleType) -> None:
    optimizers = tf_keras.optimizers
    bases = [optimizers.Optimizer, optimizers.legacy.Optimizer]
    _record_methods(recorder, bases, ("apply_gradients",))
    _know_weights(recorder, tf_keras.layers.Layer)


def _record_methods(recorder: Recorder, optimizers: list[Any], names: tuple[str, ...]) -> None:
    """Those of subclasses too, which may change the gradients, or step by themselves."""
    bases = {base for cls in optimizers for base in cls.__mro__ if vars(base).keys() & {*names}}

    def recording(method: Callable[..., Any], name: str) -> Any:
        make = _recording_pairs if name == "apply_gradients" else _recording_lists
        return make(recorder, method)

    wrap_methods(bases, names, recording)


# AutoGraph may convert what these two return, so that it also converts an update of the user's own.
def _recording_lists(recorder: Recorder, apply: Callable[..., Any]) -> Any:
    @_unconverted
    def update_of(self: Any, gradients: list[Any], leaves: list[Any] | None) -> Any:
        if leaves is None:
            leaves = self._trainable_variables if self.built else []
        return recorder.around_update(leaves, gradients, self)

    @functools.wraps(apply)
    def recorded(self: Any, grads: Any, trainable_variables: Any = None) -> Any:
        gradients = list(grads)
        leaves = None if trainable_variables is None else list(trainable_variables)
        with update_of(self, gradients, leaves):
            return apply(self, gradients, leaves)

    return recorded


def _recording_pairs(recorder: Recorder, apply_gradients: Callable[..., Any]) -> Any:
    @_unconverted
    def update_of(self: Any, pairs: list[Any]) -> Any:
        leaves, gradients = [leaf for _, leaf in pairs], [gradient for gradient, _ in pairs]
        return recorder.around_update(leaves, gradients, self)

    @functools.wraps(apply_gradients)
    def recorded(self: Any, grads_and_vars: Any, *args: Any, **kwargs: Any) -> Any:
        pairs = list(grads_and_vars)
        with update_of(self, pairs):
            return apply_gradients(self, pairs, *args, **kwargs)

    return recorded


def _unconverted(function: Callable[..., Any]) -> Any:
    import tensorflow as tf

    return tf.autograph.experimental.do_not_convert(function)


def _know_weights(recorder: Recorder, layer_class: Any) -> None:
    add_weight = layer_class.add_weight

    @functools.wraps(add_weight)
    def known(self: Any, *args: Any, **kwargs: Any) -> Any:
        variable = add_weight(self, *args, **kwargs)
        recorder.variables.add_weight(variable)
        return variable

    layer_class.add_weight = known


def _record_tfexplicit(recorder: Recorder, tfexplicit: ModuleType) -> None:
    from tfexplicit.observers import observers

    observers.append(recorder.around_update)
