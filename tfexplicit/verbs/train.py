"""`train`: the explicit loop, for those who need no more than the usual one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from tfexplicit import implicit
from tfexplicit.arguments import expect_state_and_model
from tfexplicit.rebuild import has_replaced_leaves
from tfexplicit.rule import Rule
from tfexplicit.state import AnyState
from tfexplicit.tree import parse
from tfexplicit.unconverted import unconverted
from tfexplicit.verbs.scale_loss import scale_loss
from tfexplicit.verbs.update import update
from tfexplicit.verbs.value_and_grad import differentiated


@dataclass(frozen=True)
class TrainStep:
    """What a callback gets after a step: numbers from before it, the model after it.

    `step` counts the steps of this call of `train` from 1, `batch` those of the epoch.
    """

    step: int
    epoch: int
    batch: int
    loss: float
    metrics: dict[str, float]
    model: Any
    opt_state: AnyState


@dataclass(frozen=True)
class TrainLog:
    """The loss of every step, and the metrics by name: float64 arrays of shape `[steps]`."""

    loss: np.ndarray[Any, Any]
    metrics: dict[str, np.ndarray[Any, Any]]


Callback = Callable[[TrainStep], Any]


@unconverted
def train(
    loss_fn: Callable[..., Any],
    model: Any,
    data: Iterable[Any],
    opt_state: AnyState | Rule,
    *,
    epochs: int = 1,
    callbacks: Sequence[Callback] = (),
    progress: bool = True,
    jit_compile: bool = False,
) -> TrainLog:
    """Step once for every batch of `data`, in a compiled function, and show a progress bar.

    A `LossScale` in the state scales the loss on the way.

    Args:
        loss_fn: called as `loss_fn(model, *batch)` for a batch that is a tuple, else as
            `loss_fn(model, batch)`. Returns a scalar, or `(scalar, metrics)`, scalars by
            name.
        model: variables only; what can be trained by `update` in place.
        data: gives batches, anew for every epoch: a `tf.data.Dataset`, a list, ...
        opt_state: from `setup`, or a part of it. Deprecated: a rule, which keeps the state.
        epochs: how many times to go through `data`.
        callbacks: functions of a `TrainStep`, called after each step; one that returns True ends
            the training.
        progress: False shows no bar.
        jit_compile: compile the step with XLA.

    Returns:
        The loss before every step, and the metrics, as arrays.

    Raises:
        TypeError: arguments in another order, a model with leaves that cannot be stepped in place,
            or a loss function that returns something else.
        ValueError: a loss that is no scalar, an epoch without a batch, or several replicas.
        FloatingPointError: a loss that is not finite. Model and state are as before that batch.
        KeyboardInterrupt: passed on; model and state are as after the last whole step.
    """
    # Not with the package: it takes a while to import.
    from tqdm.auto import tqdm

    if isinstance(opt_state, Rule):
        opt_state = implicit.state_for_training(opt_state, model)
    _check(loss_fn, model, data, opt_state)
    step = tf.function(
        _step_with(loss_fn, model, opt_state), reduce_retracing=True, jit_compile=jit_compile
    )
    losses: list[float] = []
    metrics: dict[str, list[float]] = {}
    with tqdm(_batches(data, epochs), disable=not progress, unit="step") as bar:
        for count, (epoch, number, batch) in enumerate(bar, start=1):
            loss, aux = _numbers(*step(*batch))
            if not math.isfinite(loss):
                raise FloatingPointError(
                    f"train: the loss is {loss} at batch {number} of epoch {epoch} (step {count}). "
                    "Model and state are as they were before this batch."
                )
            losses.append(loss)
            for name, value in aux.items():
                metrics.setdefault(name, []).append(value)
            bar.set_postfix(epoch=epoch, loss=f"{loss:.4g}", refresh=False)
            done = TrainStep(count, epoch, number, loss, aux, model, opt_state)
            # Not `any`, which would not call the ones after the first that ends it.
            if True in [callback(done) for callback in callbacks]:
                break
    return TrainLog(np.asarray(losses), {name: np.asarray(each) for name, each in metrics.items()})


def _check(loss_fn: Any, model: Any, data: Any, opt_state: Any) -> None:
    line = "tx.train(loss_fn, model, data, opt_state)"
    if not callable(loss_fn):
        raise TypeError(
            "train: the first argument must be a function from the model and a batch to the loss, "
            f"got {loss_fn!r}. Write {line}."
        )
    if not (hasattr(data, "__iter__") or hasattr(data, "__getitem__")):
        raise TypeError(
            "train: the third argument must give batches, such as a tf.data.Dataset or a list, got "
            f"{type(data).__name__}. Write {line}."
        )
    expect_state_and_model("train", opt_state, model, line)
    if has_replaced_leaves(parse(model)):
        raise TypeError(
            "train steps variables in place, and this model has tensors that a step must replace. "
            "Write the loop with opt_state, model = tx.update(opt_state, model, grads)."
        )
    if tf.distribute.get_strategy().num_replicas_in_sync > 1:
        raise ValueError(
            "train runs on one device. Write the step with tx.update, and run it with strategy.run."
        )


def _batches(data: Iterable[Any], epochs: int) -> Iterator[tuple[int, int, tuple[Any, ...]]]:
    for epoch in range(1, epochs + 1):
        number = 0
        for number, batch in enumerate(data, start=1):
            yield epoch, number, batch if isinstance(batch, tuple) else (batch,)
        if number == 0:
            raise ValueError(
                f"train: the data gave no batch in epoch {epoch}"
                + (
                    ". An iterator can be gone through once: give a list or a tf.data.Dataset."
                    if epoch > 1
                    else "."
                )
            )


def _step_with(loss_fn: Callable[..., Any], model: Any, opt_state: AnyState) -> Callable[..., Any]:
    with_metrics = _with_metrics(loss_fn)

    def scaled(*args: Any) -> tuple[Any, Any]:
        loss, metrics = with_metrics(*args)
        return scale_loss(opt_state, loss), (loss, metrics)

    def step(*batch: Any) -> tuple[Any, Any]:
        (_, (loss, aux)), grads = differentiated(scaled, True, model, batch, {})

        def apply() -> Any:
            update(opt_state, model, grads)
            return tf.constant(True)

        tf.cond(tf.math.is_finite(loss), apply, lambda: tf.constant(False))
        return loss, aux

    return step


def _with_metrics(loss_fn: Callable[..., Any]) -> Callable[..., Any]:
    def with_metrics(*args: Any) -> tuple[Any, Any]:
        result = loss_fn(*args)
        if not isinstance(result, tuple):
            _check_scalar(result)
            return result, {}
        if len(result) != 2 or not isinstance(result[1], Mapping):
            raise TypeError(
                "train: the loss function must return a scalar or (scalar, {name: scalar}), got "
                f"a tuple of {', '.join(type(part).__name__ for part in result)}."
            )
        _check_scalar(result[0])
        return result

    return with_metrics


def _check_scalar(loss: Any) -> None:
    if getattr(loss, "shape", None) is not None and loss.shape.rank not in (0, None):
        raise ValueError(
            f"train: the loss must be a scalar, got shape {tuple(loss.shape)}. Write "
            "tf.reduce_mean(...)."
        )


def _numbers(loss: Any, aux: Mapping[str, Any]) -> tuple[float, dict[str, float]]:
    return float(loss), {name: float(value) for name, value in aux.items()}
