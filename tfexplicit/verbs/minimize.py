"""`minimize`: loss, gradients and update in one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexplicit.arguments import expect_state_and_model
from tfexplicit.gradients import in_leaf_order
from tfexplicit.rebuild import has_replaced_leaves
from tfexplicit.signatures import takes_argument
from tfexplicit.state import AnyState, located
from tfexplicit.tree import parse
from tfexplicit.unconverted import unconverted
from tfexplicit.verbs.scale_loss import scale_loss, scales_loss
from tfexplicit.verbs.trainables import trainables
from tfexplicit.verbs.update import update
from tfexplicit.verbs.value_and_grad import differentiated


def minimize(loss_fn: Any, opt_state: AnyState, model: Any, tape: Any = None) -> Any:
    """One step downhill; the loss before it.

    A `LossScale` in the state scales the loss on the way, and so does a `LossScaleOptimizer` of
    Keras that was set up.

    Args:
        loss_fn: called as `loss_fn(model)`, or as `loss_fn()` if it takes no argument. With `tape`
            the loss itself, a tensor.
        opt_state: from `setup`, or a part of it.
        model: variables only, since nothing but the loss is returned.
        tape: a `tf.GradientTape` that has recorded the loss. Where the loss is scaled, it must not
            be recording any more.

    Raises:
        TypeError: a loss that is no function, without its tape; or a model with tensors.
    """
    _check(opt_state, model)
    if tape is not None:
        _update(opt_state, model, _gradients(tape, loss_fn, opt_state, model))
        return loss_fn
    takes_model = _takes_model(loss_fn)

    def scaled(model: Any) -> tuple[Any, Any]:
        loss = loss_fn(model) if takes_model else loss_fn()
        return _scaled(opt_state, loss), loss

    (_, loss), grads = differentiated(scaled, True, model, (), {})
    _update(opt_state, model, grads)
    return loss


def _gradients(tape: Any, loss: Any, opt_state: AnyState, model: Any) -> Any:
    if scales_loss(located(opt_state)[0]):
        with tape:
            loss = _scaled(opt_state, loss)
    return tape.gradient(loss, trainables(model))


def _scaled(opt_state: AnyState, loss: Any) -> Any:
    own = located(opt_state)[0].own_stepper
    scale = getattr(own, "get_scaled_loss", None)
    return scale_loss(opt_state, loss) if scale is None else scale(loss)


def _update(opt_state: AnyState, model: Any, grads: Any) -> None:
    """The optimizer of `tf_keras` that scales the loss has the gradients unscaled before it steps;
    all others do that themselves."""
    unscale = getattr(located(opt_state)[0].own_stepper, "get_unscaled_gradients", None)
    if unscale is not None:
        grads = unscale(in_leaf_order(parse(model), grads))
    update(opt_state, model, grads)


@unconverted
def _check(opt_state: Any, model: Any) -> None:
    expect_state_and_model("minimize", opt_state, model, "tx.minimize(loss_fn, opt_state, model)")
    if has_replaced_leaves(parse(model)):
        raise TypeError(
            "minimize returns the loss alone, and this model has tensors that a step must replace. "
            "Write loss, grads = tx.value_and_grad(loss_fn)(model), then "
            "opt_state, model = tx.update(opt_state, model, grads)."
        )


@unconverted
def _takes_model(loss_fn: Callable[..., Any]) -> bool:
    if not callable(loss_fn):
        raise TypeError(
            f"minimize: the loss must be a function of the model, got {type(loss_fn).__name__}. "
            "Write tx.minimize(loss_fn, opt_state, model)."
        )
    return takes_argument(loss_fn)
