"""Small leaves share the variables of their slots, and nothing that a user sees tells."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx
from tfexplicit import ways

LEAVES = 20


@pytest.fixture(autouse=True)
def _stacks_of_few_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ways, "FROM_BYTES", 0)
    # Of twenty leaves of 24 bytes: eight, eight and, too few to share, four.
    monkeypatch.setattr(ways, "STACK_BYTES", 200)


def new_model() -> list[Any]:
    rng = np.random.default_rng(0)
    return [tf.Variable(rng.normal(size=[2, 3]), dtype=tf.float32) for _ in range(LEAVES)]


def some_grads(number: int = 0) -> list[Any]:
    rng = np.random.default_rng(number)
    return [tf.constant(rng.normal(size=[2, 3]), tf.float32) for _ in range(LEAVES)]


def trained(steps: int = 2) -> tuple[Any, list[Any]]:
    model = new_model()
    state = tx.setup(tx.Adam(0.01), model)
    for number in range(steps):
        tx.update(state, model, some_grads(number))
    return state, model


def unshared(monkeypatch: pytest.MonkeyPatch, steps: int = 2) -> tuple[Any, list[Any]]:
    with monkeypatch.context() as patched:
        patched.setattr(ways, "FEWEST_ROWS", 1000)
        return trained(steps)


def same_numbers(one: Any, other: Any) -> None:
    for path in one:
        for name, slot in one[path].slots.items():
            np.testing.assert_array_equal(slot, other[path].slots[name], err_msg=path)


def test_the_graph_of_a_step_has_one_op_for_a_leaf_and_one_for_a_stack() -> None:
    state, model = trained(0)

    @tf.function(autograph=False)
    def step(grads: Any) -> None:
        tx.update(state, model, grads)

    graph = step.get_concrete_function(some_grads()).graph.as_graph_def()
    ops = [node.op for node in graph.node]
    inner = [node.op for body in graph.library.function for node in body.node_def]
    assert ops.count("AssignAddVariableOp") == 16
    assert ops.count("ResourceApplyAdam") == 4
    assert inner.count("ResourceApplyAdam") == 2


@pytest.mark.parametrize("rule", [tx.Lion(0.1), tx.RMSprop(0.1), tx.Adagrad(0.1)], ids=repr)
def test_leaves_of_a_rule_without_an_op_go_by_the_formula_together(rule: tx.Rule) -> None:
    model, plain_model = new_model(), new_model()
    state = tx.setup(rule, model)
    plain = tx.setup(rule, dict(enumerate(plain_model)))
    assert str(state).count("shared") == 16
    for number in range(3):
        tx.update(state, model, some_grads(number))
        with pytest.MonkeyPatch.context() as patched:
            patched.setenv("TFEXPLICIT_STEP", "formula")
            tx.update(plain, dict(enumerate(plain_model)), dict(enumerate(some_grads(number))))
    for leaf, other in zip(model, plain_model, strict=True):
        # TensorFlow may take products of arrays in another order than those with a number.
        np.testing.assert_allclose(leaf, other, rtol=0, atol=2e-7)


def test_a_slot_reads_and_is_assigned_as_a_variable_is() -> None:
    state, _ = trained()
    slot, next_one = (state[path].slots["momentum"] for path in ("3", "4"))
    before = next_one.numpy()
    assert slot.shape == (2, 3)
    assert slot.dtype == tf.float32
    slot.assign(tf.ones([2, 3]))
    np.testing.assert_array_equal(slot, np.ones([2, 3]))
    np.testing.assert_array_equal(tf.reduce_sum(slot), 6)
    slot.assign_add(tf.ones([2, 3]))
    slot.assign_sub(3 * slot[0])
    np.testing.assert_array_equal(-slot + 1.0, np.full([2, 3], 5.0))
    np.testing.assert_array_equal(next_one, before)
    assert len(list(slot)) == len(slot) == 2
    for other in ([2, 2], [1, 3], []):
        with pytest.raises(ValueError, match=r"slot has shape \(2, 3\), got a value of shape"):
            slot.assign(tf.ones(other))


def test_the_printed_state_says_who_shares() -> None:
    state, _ = trained()
    lines = str(state).splitlines()[2:]
    assert [line.endswith("momentum velocity fused, shared") for line in lines] == [True] * 16 + [
        False
    ] * 4


def test_the_numbers_are_those_of_leaves_that_do_not_share(monkeypatch: Any) -> None:
    state, model = trained(4)
    other, other_model = unshared(monkeypatch, 4)
    same_numbers(state, other)
    # Subtracted in an op of its own, which rounds once more.
    np.testing.assert_allclose(model, other_model, rtol=0, atol=1e-6)


def test_a_checkpoint_fits_whether_they_share_or_not(tmp_path: Path, monkeypatch: Any) -> None:
    state, model = trained()
    other, other_model = unshared(monkeypatch, 0)
    saved = tf.train.Checkpoint(model=model, state=state).save(str(tmp_path / "shared"))
    tf.train.Checkpoint(model=other_model, state=other).restore(saved).assert_consumed()
    same_numbers(other, state)
    tx.update(other, other_model, some_grads(9))
    saved = tf.train.Checkpoint(model=other_model, state=other).save(str(tmp_path / "own"))
    tf.train.Checkpoint(model=model, state=state).restore(saved).assert_consumed()
    same_numbers(state, other)


def test_a_checkpoint_restored_before_setup_fills_the_rows(tmp_path: Path) -> None:
    state, _ = trained()
    saved = tf.train.Checkpoint(state=state).save(str(tmp_path / "state"))
    later = tf.train.Checkpoint()
    later.restore(saved)
    later.state = tx.setup(tx.Adam(0.1), new_model())
    same_numbers(later.state, state)


def test_a_copy_goes_its_own_way_and_reset_begins_anew() -> None:
    state, model = trained()
    twin = copy.deepcopy(state)
    assert twin == state
    tx.update(state, model, some_grads(5))
    assert twin != state
    numbers = tx.state_dict(state)
    tx.reset(state["7"])
    np.testing.assert_array_equal(state["7"].slots["velocity"], np.zeros([2, 3]))
    np.testing.assert_array_equal(state["8"].slots["velocity"], twin_after(twin, model))
    tx.load_state_dict(state, numbers)
    np.testing.assert_array_equal(
        state["7"].slots["velocity"], numbers["leaves"]["7"]["slots"]["velocity"]
    )


def twin_after(twin: Any, model: list[Any]) -> Any:
    """The same step with the copy, which tells whether the rows of others were touched."""
    tx.update(twin, model, some_grads(5))
    return twin["8"].slots["velocity"].numpy()


@pytest.mark.parametrize("jit_compile", [False, True])
def test_frozen_left_out_and_unlike_leaves_in_a_function_traced_before(jit_compile: bool) -> None:
    state, model = trained(1)
    pure = state.as_tensors()
    values = [tf.identity(leaf) for leaf in model]
    step = tf.function(
        lambda grads: tx.update(state, model, grads) and None,
        autograph=False,
        jit_compile=jit_compile,
    )
    for number in range(4):
        grads = some_grads(10 + number)
        if number == 1:
            tx.freeze(state, "2")
            tx.adjust(state["5"], learning_rate=0.03)
            pure = tx.adjusted(with_frozen(state, pure)["5"], learning_rate=0.03).state
        step(grads)
        pure, values = tx.updated(pure, values, grads)
    # The op rounds otherwise than the formula.
    np.testing.assert_allclose(model, values, rtol=0, atol=1e-6)
    for path in state:
        for name, slot in state[path].slots.items():
            np.testing.assert_allclose(slot, pure[path].slots[name], rtol=3e-5, atol=1e-7)


def with_frozen(state: Any, pure: Any) -> Any:
    """The state of tensors with what is frozen in the other."""
    frozen = tf.convert_to_tensor(state.groups[0].frozen)
    return pure.with_groups(pure.step, [replace(pure.groups[0], frozen=frozen)])


def test_leaves_without_a_gradient_stay() -> None:
    state, model = trained(1)
    before = [model[3].numpy(), state["3"].slots["momentum"].numpy()]
    grads = some_grads()
    grads[3] = None
    tx.update(state, model, grads)
    np.testing.assert_array_equal(before[0], model[3])
    np.testing.assert_array_equal(before[1], state["3"].slots["momentum"])


@pytest.mark.parametrize("resting", ["a", "b"])
def test_of_leaves_that_are_stepped_together_some_may_rest(resting: str) -> None:
    """Beside a large one, whose steps without frozen leaves are traced by themselves."""
    model = {f"{'ab'[n % 2]}/{n}": tf.Variable(tf.zeros([2, 3])) for n in range(10)}
    model["b/large"] = tf.Variable(tf.zeros([1000, 10]))
    waiting = tx.Partition({f"{resting}/**": tx.AccumulateGrads(2), "**": tx.ClipByNorm(9.0)})
    state = tx.setup(tx.Chain(waiting, tx.SGD(0.1, momentum=0.9)), model)
    for _ in range(3):
        tx.update(state, model, {path: tf.ones_like(leaf) for path, leaf in model.items()})
    for path, leaf in model.items():
        if path != "b/large":
            expected = -0.1 if path.startswith(resting) else -0.561
            np.testing.assert_allclose(leaf, np.full([2, 3], expected), rtol=1e-6, err_msg=path)


@pytest.mark.parametrize("rule", [tx.Adam(0.1), tx.SGD(0.1, momentum=0.9)], ids=repr)
def test_a_graph_of_tensorflow_1_steps_them_one_by_one(rule: tx.Rule) -> None:
    eager = new_model()
    tx.update(tx.setup(rule, eager), eager, some_grads())
    with tf.Graph().as_default():
        model = new_model()
        tx.update(tx.setup(rule, model), model, some_grads())
        graph = tf.compat.v1.get_default_graph()
        assigns = [op for op in graph.get_operations() if op.type.startswith("AssignSub")]
        with tf.compat.v1.Session() as session:
            session.run(tf.compat.v1.global_variables_initializer())
            session.run(assigns)
            values = session.run(model)
    np.testing.assert_allclose(values, eager, rtol=0, atol=1e-6)


def test_keras_saves_and_loads_it(tmp_path: Path) -> None:
    def built() -> Any:
        layers = [keras.layers.Dense(3, use_bias=False) for _ in range(9)]
        model = keras.Sequential([keras.layers.Input([3]), *layers])
        model.compile(tx.KerasOptimizer(tx.Adam(0.1)), "mse")
        return model

    model = built()
    model.fit(np.ones([4, 3]), np.ones([4, 3]), verbose=0)
    model.save(tmp_path / "model.keras")
    tf.saved_model.save(model, str(tmp_path / "saved"))
    loaded = keras.models.load_model(tmp_path / "model.keras")
    one, other = model.optimizer.opt_state, loaded.optimizer.opt_state
    for (_, a), (_, b) in zip(one_by_one(one), one_by_one(other), strict=True):
        np.testing.assert_array_equal(a, b)


def one_by_one(state: Any) -> list[tuple[str, Any]]:
    return [(name, slot) for path in state for name, slot in state[path].slots.items()]


def test_a_saved_model_steps_as_the_program_does(tmp_path: Path) -> None:
    class Program(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.leaves = new_model()
            self.opt_state = tx.setup(tx.Adam(0.1), self.leaves)

        @tf.function(autograph=False)
        def step(self) -> Any:
            tx.update(self.opt_state, self.leaves, some_grads())
            return tf.identity(self.leaves[0])

    program = Program()
    program.step()
    tf.saved_model.save(program, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    np.testing.assert_allclose(loaded.step(), program.step(), rtol=1e-6)
