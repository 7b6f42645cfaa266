"""Wrong arguments: each error names what came, what was expected, and the line to write."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import keras
import pytest
import tensorflow as tf

import tfexplicit as tx

W = tf.Variable([1.0, 2.0], name="w")
G = tf.constant([1.0, 1.0])


def model() -> Any:
    return keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1, name="dense")])


def stranger() -> Any:
    state = tx.setup(tx.SGD(), model())
    other = model()
    return tx.update(state, other, [tf.ones(v.shape) for v in other.trainable_variables])


class StepAlone(tx.Rule):
    def apply(self, slots: Any, leaf: Any, grad: Any, step: Any) -> Any:
        return grad


class OtherSlots(tx.Rule):
    def init(self, leaf: Any) -> Any:
        return {"a": leaf}

    def apply(self, slots: Any, leaf: Any, grad: Any, step: Any) -> Any:
        return grad, {"b": grad}


def built_keras_optimizer() -> Any:
    optimizer = tx.KerasOptimizer(tx.SGD())
    optimizer.build(model().trainable_variables)
    return optimizer


CASES: dict[str, tuple[Any, type[Exception], str]] = {
    "rule for state": (
        lambda: tx.update(tx.SGD(), [W], [G]),  # type: ignore[arg-type]
        TypeError,
        r"expected the state, got SGD.*opt_state = tx\.setup\(optimizer, model\) once",
    ),
    "keras optimizer for state": (
        lambda: tx.update(keras.optimizers.Adam(), [W], [G]),  # type: ignore[arg-type]
        TypeError,
        r"expected the state, got Adam.*opt_state = tx\.setup\(optimizer, model\) once",
    ),
    "model for state": (
        lambda: tx.update([W], [W], [G]),  # type: ignore[arg-type]
        TypeError,
        "expected the state.*got the model",
    ),
    "swapped in update": (
        lambda: tx.update([W], tx.setup(tx.SGD(), [W]), [G]),  # type: ignore[arg-type]
        TypeError,
        r"swapped\. Write tx\.update\(opt_state, model, grads\)",
    ),
    "rule for model": (
        lambda: tx.update(tx.setup(tx.SGD(), [W]), tx.SGD(), [G]),
        TypeError,
        "expected the model",
    ),
    "class for rule": (lambda: tx.setup(tx.Adam, [W]), TypeError, r"class Adam; write Adam\(\)"),
    "swapped in setup": (
        lambda: tx.setup([W], tx.SGD()),
        TypeError,
        r"swapped\. Write opt_state = tx\.setup",
    ),
    "number for rule": (lambda: tx.setup(0.1, [W]), TypeError, "must be a tfexplicit rule"),
    "state for rule": (
        lambda: tx.setup(tx.setup(tx.SGD(), [W]), [W]),
        TypeError,
        "got a state",
    ),
    "unknown keras name": (lambda: tx.setup("adamm", [W]), ValueError, "adamm"),
    "steps": (
        lambda: tx.setup(tx.SGD(), [W], steps="local"),  # type: ignore[arg-type]
        ValueError,
        '"global" or "leaf", got \'local\'',
    ),
    "function gives no rule": (
        lambda: tx.setup(lambda path, leaf: None, [W]),
        TypeError,
        "the rule for '0' must be",
    ),
    "another model": (
        stranger,
        ValueError,
        r"'dense/kernel' is another variable.*tx\.setup\(rule, model\)",
    ),
    "unknown leaf": (
        lambda: tx.update(tx.setup(tx.SGD(), {"w": W}), {"v": tf.Variable(1.0)}, [G[0]]),
        ValueError,
        "no leaf 'v'",
    ),
    "other shape": (
        lambda: tx.update(tx.setup(tx.SGD(), {"w": G}), {"w": tf.ones(3)}, [tf.ones(3)]),
        ValueError,
        r"'w' has shape \(3,\).*\(2,\)",
    ),
    "negative rate": (
        lambda: tx.Adam(-0.1),
        ValueError,
        "Adam: `learning_rate` must be at least 0, got -0.1",
    ),
    "rate of text": (
        lambda: tx.SGD("0.1"),
        TypeError,
        "SGD: `learning_rate` must be a number.*got str: '0.1'",
    ),
    "beta": (lambda: tx.Adam(beta_1=1.5), ValueError, "`beta_1` must be between 0 and 1, got 1.5"),
    "rate of bool": (lambda: tx.SGD(True), TypeError, "`learning_rate` must be a number"),
    "rate of vector": (lambda: tx.SGD(G), ValueError, r"must be a scalar, got shape \(2,\)"),
    "model for rate": (lambda: tx.Adam(model()), TypeError, "must be a number.*got Sequential"),
    "clip of zero": (lambda: tx.ClipByNorm(0), ValueError, "`clipnorm` must be above 0, got 0"),
    "chain of names": (
        lambda: tx.Chain(tx.SGD(), "adam"),  # type: ignore[arg-type]
        TypeError,
        "Chain: argument 2 must be a tfexplicit rule",
    ),
    "keras optimizer on tensors": (
        lambda: tx.setup(keras.optimizers.Adam(), {"w": G}),
        TypeError,
        "steps variables, and 'w' is a",
    ),
    "what update returned where the state belongs": (
        lambda: tx.update((tx.setup(tx.SGD(), [W]), [W]), [W], [G]),  # type: ignore[arg-type]
        TypeError,
        r"got the pair that tx\.update returned",
    ),
    "a hyperparameter set on the state": (
        lambda: setattr(tx.setup(tx.SGD(), [W]), "learning_rate", 0.1),
        AttributeError,
        r"Write tx\.adjust\(opt_state, learning_rate=",
    ),
    "minimize a tensor": (
        lambda: tx.minimize(G, tx.setup(tx.SGD(), [W]), [W]),  # type: ignore[arg-type]
        TypeError,
        "loss must be a function",
    ),
    "minimize without state": (
        lambda: tx.minimize(lambda m: m[0], tx.SGD(), [W]),  # type: ignore[arg-type]
        TypeError,
        "minimize: expected the state",
    ),
    "model for rule": (
        lambda: tx.setup(model(), model()),
        TypeError,
        r"expected the rule, got the model Sequential\. Write opt_state = tx\.setup\(tx\.Adam\(\)",
    ),
    "state for model in trainables": (
        lambda: tx.trainables(tx.setup(tx.SGD(), [W])),
        TypeError,
        r"expected the model, got the state\. Write tx\.trainables\(model\)",
    ),
    "state for model in params": (
        lambda: tx.params(tx.setup(tx.SGD(), [W])),
        TypeError,
        r"expected the model, got the state",
    ),
    "rule for model in destructure": (
        lambda: tx.destructure(tx.SGD()),
        TypeError,
        r"expected the model, got SGD",
    ),
    "swapped in ema_params": (
        lambda: tx.ema_params([W], tx.setup(tx.SGD(), [W])),  # type: ignore[arg-type]
        TypeError,
        r"swapped\. Write tx\.ema_params\(opt_state, model\)\.",
    ),
    "a layer where a path belongs": (
        lambda: tx.setup(tx.SGD(), [W])[model()],  # type: ignore[index]
        TypeError,
        r"goes by its path, such as opt_state\['0'\]",
    ),
    "the old call on a state": (
        lambda: tx.setup(tx.SGD(), [W]).apply_gradients([(G, W)]),
        AttributeError,
        r"Write tx\.update\(opt_state, model, grads\)",
    ),
    "the learning rate of a state": (
        lambda: tx.setup(tx.SGD(), [W]).learning_rate,
        AttributeError,
        r'Write opt_state\.hyper\["learning_rate"\]',
    ),
    "the count of a state set": (
        lambda: setattr(tx.setup(tx.SGD(), [W]), "step", 3),
        AttributeError,
        r"Write opt_state\.step\.assign",
    ),
    "train with a loss per example": (
        lambda: tx.train(lambda m, x: m[0] * x, [W], [G], tx.setup(tx.SGD(), [W]), progress=False),
        ValueError,
        r"must be a scalar, got shape \(2,\)\. Write tf\.reduce_mean",
    ),
    "a rule of one's own that returns the step alone": (
        lambda: tx.update(tx.setup(StepAlone(), [W]), [W], [G]),
        TypeError,
        r"StepAlone\.apply must return \(what to subtract, slots\).*got \w*Tensor",
    ),
    "a rule of one's own that renames its slots": (
        lambda: tx.update(tx.setup(OtherSlots(), [W]), [W], [G]),
        ValueError,
        r"OtherSlots\.apply must return the slots that init has made, \['a'\], got \['b'\]",
    ),
    "loss scale after the rule": (
        lambda: tx.update(tx.setup(tx.Chain(tx.Adam(), tx.LossScale()), [W]), [W], [G]),
        ValueError,
        r"LossScale at '0': a rule before it.*Write tx\.Chain\(tx\.LossScale\(\), tx\.Adam",
    ),
    "train in another order": (
        lambda: tx.train(model(), [(G, G)], lambda m: m, tx.setup(tx.SGD(), [W])),  # type: ignore[arg-type]
        TypeError,
        r"must give batches.*got function\. Write tx\.train\(loss_fn, model, data, opt_state\)",
    ),
    "train with the name of a loss": (
        lambda: tx.train("mse", [W], [(G, G)], tx.setup(tx.SGD(), [W])),  # type: ignore[arg-type]
        TypeError,
        "first argument must be a function.*got 'mse'",
    ),
    "train with a Keras optimizer": (
        lambda: tx.train(lambda m, x: m[0], [W], [G], tf.keras.optimizers.SGD()),  # type: ignore[arg-type]
        TypeError,
        r"expected the state, got SGD.*then tx\.train\(loss_fn, model, data, opt_state\)",
    ),
    "gradient of a number": (
        lambda: tx.grad(lambda m: 3.0)([W]),
        TypeError,
        r"returned float: 3\.0, and gradients are of a scalar tensor",
    ),
    "minimize a number": (
        lambda: tx.minimize(lambda m: 3.0, tx.setup(tx.SGD(), [W]), [W]),
        TypeError,
        "returned float",
    ),
    "an argument of setup given to a rule": (
        lambda: tx.Adam(sparse="lazy"),  # type: ignore[call-arg]
        TypeError,
        r"no argument `sparse`\. It is one of tx\.setup: "
        r"tx\.setup\(tx\.Adam\(\.\.\.\), model, sparse='lazy'\)",
    ),
    "optimizer of compile for state": (
        lambda: tx.freeze(built_keras_optimizer()),
        TypeError,
        r"freeze: expected the state, got KerasOptimizer.*write optimizer\.opt_state",
    ),
    "pickle": (
        lambda: pickle.dumps(tx.setup(tx.SGD(), [W])),
        TypeError,
        r"Pickle its numbers, tx\.state_dict\(opt_state\)",
    ),
    "swapped in load_state_dict": (
        lambda: tx.load_state_dict({}, tx.setup(tx.SGD(), [W])),  # type: ignore[arg-type]
        TypeError,
        r"swapped\. Write tx\.load_state_dict\(opt_state, numbers\)",
    ),
    "a file where the numbers belong": (
        lambda: tx.load_state_dict(tx.setup(tx.SGD(), [W]), "state.npz"),  # type: ignore[arg-type]
        TypeError,
        r"expected the nested dict that tx\.state_dict returned, got str",
    ),
    "schedule for adjust": (
        lambda: tx.adjust(tx.setup(tx.SGD(), [W]), learning_rate=lambda step: 0.1),
        TypeError,
        r"must be a number or a scalar tensor, got function.*give the whole rule",
    ),
    "minimize tensors": (
        lambda: tx.minimize(lambda m: m[0][0], tx.setup(tx.SGD(), [G]), [G]),
        TypeError,
        "returns the loss alone",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_wrong_arguments_are_refused(case: str) -> None:
    action, error, message = CASES[case]
    with pytest.raises(error, match=message):
        action()


def test_a_glob_that_matches_nothing_is_a_warning() -> None:
    with pytest.warns(UserWarning, match=r"no leaf matches 'dens/\*\*'.*'dense/kernel'"):
        tx.setup({"dens/**": tx.Adam(), "**": tx.SGD()}, model())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tx.setup({"dense/kernel": tx.Adam(), "**/bias": tx.Adam(), "**": tx.SGD()}, model())
        tx.setup({"dense/**": tx.Adam()}, keras.Sequential([keras.layers.Dense(1, name="dense")]))
