"""The name of a state: after its optimizer, and never one in use."""

from __future__ import annotations

from pathlib import Path

import pytest
from tfexplicit_codemod.analysis.naming import state_name
from tfexplicit_codemod.engine import migrate_source


@pytest.mark.parametrize(
    ("optimizer", "state"),
    [
        ("optimizer", "opt_state"),
        ("opt", "opt_state"),
        ("optim", "opt_state"),
        ("optimiser", "opt_state"),
        ("_optimizer", "_opt_state"),
        ("d_optimizer", "d_opt_state"),
        ("G_optimizer", "G_opt_state"),
        ("optimizer_d", "d_opt_state"),
        ("opt_gen", "gen_opt_state"),
        ("actor_opt", "actor_opt_state"),
        ("optimizer1", "opt_state1"),
        ("optimizer_2", "opt_state_2"),
        ("adam", "adam_opt_state"),
        ("adopted", "adopted_opt_state"),
    ],
)
def test_state_is_named_after_its_optimizer(optimizer: str, state: str) -> None:
    assert state_name(optimizer, ()) == state


def test_a_name_in_use_gets_a_number() -> None:
    assert state_name("opt", {"opt_state"}) == "opt_state_1"
    assert state_name("opt", {"opt_state", "opt_state_1"}) == "opt_state_2"


DOCUMENTED = """\
import tensorflow as tf
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
opt = tf.keras.optimizers.SGD(0.1)
def step(optimizer, grads):
    \'\'\'One step of the optimizer: plain.

    optimizer: what steps, \\\\alpha of
        optimizer_name: too.
    optimizer (keras.Optimizer): what steps.
    optimizer : what steps.
    :param optimizer: what steps.
    :type optimizer: Optimizer
    \'\'\'
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
step(opt, grads)
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_docstring_documents_the_parameter_by_its_new_name(newline: str) -> None:
    result = migrate_source(DOCUMENTED.replace("\n", newline).encode(), Path("a.py"))
    assert result.after is not None
    docstring = DOCUMENTED.split("'''")[1]
    for before in ("    optimizer:", "    optimizer ", "param optimizer", "type optimizer"):
        docstring = docstring.replace(before, before.replace("optimizer", "opt_state"))
    assert docstring.replace("\n", newline) in result.after.decode()
    assert docstring.count("opt_state") == 5
