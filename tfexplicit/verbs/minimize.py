"""`minimize`: loss, gradients and update in one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexplicit.arguments import expect_state_and_model
from tfexplicit.rebuild import has_replaced_leaves
from tfexplicit.signatures import takes_argument
from tfexplicit.state import AnyState
from tfexplicit.tree import parse
from tfexplicit.unconverted import unconverted
from tfexplicit.verbs.scale_loss import scale_loss
from tfexplicit.verbs.update import update
from tfexplicit.verbs.value_and_grad import differentiated


def minimize(loss_fn: Callable[..., Any], opt_state: AnyState, model: Any) -> Any:
    """One step downhill; the loss before it. A `LossScale` in the state scales it on the way.

    Args:
        loss_fn: called as `loss_fn(model)`, or as `loss_fn()` if it takes no argument.
        opt_state: from `setup`, or a part of it.
        model: variables only, since nothing but the loss is returned.
    """
    _check(opt_state, model)
    takes_model = _takes_model(loss_fn)

    def scaled(model: Any) -> tuple[Any, Any]:
        loss = loss_fn(model) if takes_model else loss_fn()
        return scale_loss(opt_state, loss), loss

    (_, loss), grads = differentiated(scaled, True, model, (), {})
    update(opt_state, model, grads)
    return loss


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
