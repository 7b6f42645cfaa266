"""`scale_loss`: multiply a loss with the scale that `LossScale` divides the gradients by."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from tfexplicit.arguments import expect_state
from tfexplicit.arrays import read
from tfexplicit.composite import means
from tfexplicit.replicas import in_replicas
from tfexplicit.state import AnyState, OptState, located
from tfexplicit.unbuilt import catch_up
from tfexplicit.unconverted import unconverted


@unconverted
def scale_loss(opt_state: AnyState, loss: Any) -> Any:
    """The loss to differentiate: `tape.gradient(tx.scale_loss(opt_state, loss), ...)`.

    Call it inside the tape. The result has the shape and dtype of `loss`. Without a `LossScale` in
    the state it is the loss itself, as in Keras, so that one loop serves both. Where the state is
    of a `LossScaleOptimizer` of Keras 3, that scales; one of `tf_keras` gets its gradients unscaled
    from `update`, so only `minimize` scales for it.

    Raises:
        TypeError: not a state.
        ValueError: parts of the model have scales of their own, so no single loss will do.
    """
    expect_state("scale_loss", opt_state, "tx.scale_loss(opt_state, loss)")
    state = located(opt_state)[0]
    if hasattr(state.own_stepper, "scale_loss"):
        return state.own_stepper.scale_loss(loss)
    scale = _scale_of(state)
    return loss if scale is None else loss * tf.cast(scale, tf.convert_to_tensor(loss).dtype)


def scales_loss(state: OptState) -> bool:
    """True if gradients are to be taken of a scaled loss."""
    own = state.own_stepper
    by_keras = hasattr(own, "inner_optimizer") or getattr(own, "loss_scale_factor", None)
    return bool(by_keras) or _scale_of(state) is not None


def _scale_of(state: OptState) -> Any:
    if not in_replicas():
        # The loss may just have built the model: its state, which holds the scale, is made now.
        catch_up(state)
    scales = [
        cell
        for group in state.groups
        for name, cell in group.shared.items()
        if means(name, "loss_scale")
    ]
    if len(scales) > 1:
        raise ValueError(
            "scale_loss: parts of the model have loss scales of their own. Write one for all: "
            "tx.Chain(tx.LossScale(), tx.Partition({...}))."
        )
    return read(scales[0]) if scales else None
