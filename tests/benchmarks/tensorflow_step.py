"""A contender that steps TensorFlow variables, in a `tf.function` or eagerly."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

from contender import Contender
from workloads import Workload

# Takes the gradients of the variables that it was made for.
Update = Callable[[list[Any]], object]


class TensorFlowContender(Contender):
    """`traced` and `jit_compile` say how the step runs, `keras_variables` what the leaves are."""

    traced: ClassVar[bool] = True
    jit_compile: ClassVar[bool] = False
    keras_variables: ClassVar[bool] = False

    @abstractmethod
    def update_of(self, rule: str, variables: list[Any]) -> Update:
        """The optimizer's slots are made, and an update is not traced yet."""

    def prepare(self, rule: str, workload: Workload) -> None:
        import tensorflow as tf

        make = self._training if workload.kind == "training" else self._update_alone
        self._step = make(rule, workload)
        if self.traced:
            self._step = tf.function(self._step, jit_compile=self.jit_compile, autograph=False)

    def _update_alone(self, rule: str, workload: Workload) -> Any:
        import keras
        import tensorflow as tf

        make = keras.Variable if self.keras_variables else tf.Variable
        variables = [make(value) for value in workload.values()]
        gradients = _Gradients(workload, self.traced)
        rows = tf.constant(workload.rows()) if workload.kind == "sparse" else None
        shape = tf.constant(workload.shapes[0])
        update = self.update_of(rule, variables)

        def step() -> None:
            if rows is None:
                update(gradients())
            else:
                update([tf.IndexedSlices(gradients()[0], rows, shape)])

        return step

    def _training(self, rule: str, workload: Workload) -> Any:
        import tensorflow as tf
        from models import MODELS

        model, loss_of = MODELS[workload.name]()
        variables = model.trainable_variables
        update = self.update_of(rule, variables)

        def step() -> object:
            with tf.GradientTape() as tape:
                loss = loss_of(model)
            update(tape.gradient(loss, [variable.value for variable in variables]))
            return loss

        return step

    def step(self) -> None:
        self._step()

    def graph_nodes(self) -> int | None:
        if not self.traced:
            return None
        definition = self._step.get_concrete_function().graph.as_graph_def()
        inner = sum(len(function.node_def) for function in definition.library.function)
        return len(definition.node) + inner


class _Gradients:
    """They come out of ops of the step, as those of a backward pass do.

    Thousands of tensors captured one by one would cost each contender milliseconds a call.
    """

    def __init__(self, workload: Workload, traced: bool) -> None:
        import tensorflow as tf

        self.shapes = [gradient.shape for gradient in workload.gradients()]
        by_shape: dict[Any, list[Any]] = {}
        for gradient in workload.gradients():
            by_shape.setdefault(gradient.shape, []).append(gradient)
        self.stacked = {shape: tf.stack(alike) for shape, alike in by_shape.items()}
        self.ready = None if traced else self._unstacked()

    def __call__(self) -> list[Any]:
        return self._unstacked() if self.ready is None else self.ready

    def _unstacked(self) -> list[Any]:
        import tensorflow as tf

        of_shape = {shape: iter(tf.unstack(each)) for shape, each in self.stacked.items()}
        return [next(of_shape[shape]) for shape in self.shapes]
