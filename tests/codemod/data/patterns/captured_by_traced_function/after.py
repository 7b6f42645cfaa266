"""A script: the functions come first, what they capture comes last."""
from __future__ import annotations

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf
import tfexplicit as tx


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = f(model(x)) + sum(model.losses)
    grads = tape.gradient(loss, tx.trainables(model))
    # one step
    tx.update(opt_state, model, grads)  # in place
    return loss


if __name__ == "__main__":
    model = make()
    # the optimizer
    optimizer = tx.RMSprop(1e-3)  # rate from the paper
    opt_state = tx.setup(optimizer, model)

    # train
    for x in data:
        step(x)
