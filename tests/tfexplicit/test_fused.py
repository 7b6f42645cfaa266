"""Fused ops: equal to the formula, still when a leaf is frozen, and few nodes per leaf."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx
from tfexplicit import ways
from tfexplicit.rules import all_rules

SHAPES = {"kernel": (4, 3), "bias": (3,)}
STEPS = 20

Parts = dict[str, dict[str, Any]]


def around_a_kernel() -> list[tx.Rule]:
    """What may stand before and after a rule that has a fused op."""
    return [
        tx.Chain(tx.ClipByGlobalNorm(0.3), tx.AdamW(0.01, weight_decay=0.1)),
        tx.Chain(tx.ClipByNorm(0.1), tx.Chain(tx.WeightDecay(0.1), tx.SGD(0.1, momentum=0.9))),
        tx.Chain(tx.LossScale(4.0), tx.Adam(0.01), tx.DecoupledWeightDecay(where="**/kernel")),
        tx.Chain(tx.AccumulateGrads(3), tx.Adam(0.01)),
        tx.Chain(tx.AccumulateGrads(3), tx.SGD(0.01, momentum=0.9)),
        tx.MixedPrecision(tx.Chain(tx.SkipNonFinite(), tx.Adadelta(0.1))),
        tx.DecayedFirst(tx.Adam(0.01), 0.1),
        tx.Partition({"**/kernel": tx.Adam(0.01), "**": tx.Lion(0.01)}),
    ]


def rules_with_a_kernel() -> dict[str, tx.Rule]:
    every = [rule for cls in all_rules.values() for rule in cls.variants()]
    leaf = tf.Variable(tf.zeros([3]))
    alone = [
        rule
        for rule in every
        if "learning_rate" in rule.hyperparameters() and rule.fused("w", leaf) is not None
    ]
    return {str(number): rule for number, rule in enumerate([*alone, *around_a_kernel()])}


RULES = rules_with_a_kernel()


@pytest.fixture(autouse=True)
def _fused_ops_for_small_leaves_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ways, "FROM_BYTES", 0)


def nested(by_path: dict[str, Any]) -> Any:
    found: dict[str, Any] = {}
    for path, value in by_path.items():
        layer, name = path.split("/")
        found.setdefault(layer, {})[name] = value
    return found


def trained(dtype: str, layers: str) -> tuple[Parts, Any, list[str]]:
    """All rules side by side: the model, its state, and the ops of the step's graph."""
    rng = np.random.default_rng(1)
    shapes = {f"{layer}/{name}": shape for layer in layers for name, shape in SHAPES.items()}
    model = {
        number: {path: tf.Variable(rng.normal(size=s), dtype=dtype) for path, s in shapes.items()}
        for number in RULES
    }
    whole = {number: nested(leaves) for number, leaves in model.items()}
    state = tx.setup({f"{number}/**": rule for number, rule in RULES.items()}, whole)

    @tf.function(autograph=False)
    def step(grads: Any) -> None:
        tx.update(state, whole, dict.fromkeys(RULES, nested(grads)))

    for number in range(STEPS):
        grads = {path: tf.constant(rng.normal(size=shape), dtype) for path, shape in shapes.items()}
        if number == 8:
            tx.adjust(state, learning_rate=0.02)
            frozen = {rule: state[f"{rule}/a/bias"] for rule in RULES}
            for rule, part in frozen.items():
                tx.adjust(state[f"{rule}/{layers[-1]}"], learning_rate=0.03)
                tx.freeze(part)
            before = {rule: still(model, state, rule) for rule in RULES}
        if 8 <= number < 12:
            grads["a/bias"] = grads["a/bias"] * np.nan
        step(grads)
        if number == 11:
            for rule, part in frozen.items():
                for old, new in zip(before[rule], still(model, state, rule), strict=True):
                    np.testing.assert_array_equal(old, new, err_msg=repr(RULES[rule]))
                tx.thaw(part)
        if number == 14:
            # Of leaves that are stepped together, some alone.
            last = {rule: {layers[-1]: parts[layers[-1]]} for rule, parts in whole.items()}
            own = {layers[-1]: nested(grads)[layers[-1]]}
            tx.update(state, last, dict.fromkeys(RULES, own))
    return model, state, ops_of(step.get_concrete_function(grads))


def still(model: Parts, state: Any, rule: str) -> list[Any]:
    """The numbers of a leaf that is frozen."""
    arrays = [model[rule]["a/bias"], *state[f"{rule}/a/bias"].slots.values()]
    return [array.numpy() for array in arrays]


def ops_of(function: Any) -> list[str]:
    graph = function.graph.as_graph_def()
    inner = [node for body in graph.library.function for node in body.node_def]
    return [node.op for node in [*graph.node, *inner]]


@pytest.mark.parametrize(
    # Adam's op takes `1 - beta_2` in float32, which shows in the velocity.
    ("dtype", "values", "slots"),
    [("float64", 1e-12, 1e-12), pytest.param("float32", 1e-6, 2e-5, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("layers", ["a", "ab"], ids=["alone", "in stacks"])
def test_a_fused_op_makes_the_step_of_the_formula(
    dtype: str, values: float, slots: float, layers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A leaf is frozen for some steps in which its gradient is NaN; then all goes on."""
    monkeypatch.setattr(ways, "FEWEST_ROWS", 2)
    if layers == "a":
        _count_as_large_and_keep_from_xla(monkeypatch)
    model, state, ops = trained(dtype, layers)
    monkeypatch.setenv("TFEXPLICIT_STEP", "formula")
    other_model, other_state, other_ops = trained(dtype, layers)
    assert len({op for op in ops if op.startswith("ResourceApply")}) >= 6
    assert not any(op.startswith("ResourceApply") for op in other_ops)
    for number, rule in RULES.items():
        for path, leaf in model[number].items():
            close(leaf, other_model[number][path], values, rule)
            other = other_state[f"{number}/{path}"].slots
            for slot, array in state[f"{number}/{path}"].slots.items():
                close(array, other[slot], slots, rule)


def _count_as_large_and_keep_from_xla(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ways, "SMALL_BYTES", -1)
    monkeypatch.setattr(ways, "_xla_makes_fewer_passes", lambda rule, arrays: False)


def close(ours: Any, theirs: Any, tolerance: float, rule: tx.Rule) -> None:
    scale = np.max(np.abs(theirs.numpy()))
    np.testing.assert_allclose(
        ours.numpy(), theirs.numpy(), rtol=0, atol=tolerance * scale, err_msg=repr(rule)
    )


def nodes_of_a_step(rule: tx.Rule, leaves: int) -> list[str]:
    model = [tf.Variable(tf.ones([3])) for _ in range(leaves)]
    state = tx.setup(rule, model)

    @tf.function(autograph=False)
    def step(grads: Any) -> None:
        tx.update(state, model, grads)

    return ops_of(step.get_concrete_function([tf.ones([3])] * leaves))


def test_a_leaf_adds_few_nodes_to_the_graph_and_no_pass_over_memory() -> None:
    # Not enough to share the variables of their slots.
    few, more = (nodes_of_a_step(tx.Adam(), leaves) for leaves in (2, 7))
    added = {op: (more.count(op) - few.count(op)) / 5 for op in set(more)}
    assert {op: count for op, count in added.items() if count} == {
        # The gradient and three variables; the gradient in each branch of the condition.
        "Placeholder": 4,
        "ResourceApplyAdam": 1,
        # Done while some leaf is frozen only.
        "MulNoNan": 1,
        # What the condition gives, in both of its branches.
        "Identity": 3,
    }


def test_nothing_goes_from_the_device_to_the_host() -> None:
    ops = nodes_of_a_step(tx.Chain(tx.ClipByGlobalNorm(1.0), tx.AdamW()), 2)
    assert not {"PyFunc", "EagerPyFunc", "HostRecv", "Print", "Assert"} & set(ops)


def test_the_slots_of_a_keras_optimizer_are_stepped_by_the_op() -> None:
    model = keras.Sequential([keras.layers.Input([3]), keras.layers.Dense(2)])
    optimizer = keras.optimizers.Adam(0.1)
    state = tx.setup(optimizer, model)

    @tf.function(autograph=False)
    def step() -> None:
        tx.update(state, model, [tf.ones([3, 2]), tf.ones([2])])

    step()
    assert ops_of(step.get_concrete_function()).count("ResourceApplyAdam") == 2
    np.testing.assert_allclose(optimizer._velocities[0], np.full([3, 2], 0.001), rtol=2e-5)


@pytest.mark.parametrize("rule", [tx.Adafactor(0.1), tx.SGD(0.1, momentum=0.9)], ids=repr)
def test_a_large_leaf_that_cannot_rest_is_skipped_while_it_is_frozen(
    rule: tx.Rule, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A choice between old and new would cost a pass over each of its arrays."""
    _count_as_large_and_keep_from_xla(monkeypatch)
    model = [tf.Variable(tf.ones([3])) for _ in range(2)]
    state = tx.setup(rule, model)

    @tf.function(autograph=False)
    def step() -> None:
        tx.update(state, model, [tf.ones([3])] * 2)

    ops = ops_of(step.get_concrete_function())
    assert ops.count("If") == 2
    assert "SelectV2" not in ops
    tx.freeze(state, "1")
    step()
    assert not np.array_equal(model[0], np.ones(3))
    np.testing.assert_array_equal(model[1], np.ones(3))


def test_xla_gets_the_formula() -> None:
    model = [tf.Variable(tf.ones([3]))]
    state = tx.setup(tx.Adam(), model)
    ops = set()

    @tf.function(autograph=False, jit_compile=True)
    def step() -> None:
        tx.update(state, model, [tf.ones([3])])
        ops.update(op.type for op in tf.compat.v1.get_default_graph().get_operations())

    step()
    assert "SelectV2" in ops
    assert not {"ResourceApplyAdam", "If", "StatelessIf"} & ops


def test_the_formula_is_forced_from_the_next_step_on(monkeypatch: pytest.MonkeyPatch) -> None:
    model = [tf.Variable(tf.ones([3])), tf.Variable(tf.ones([], tf.float16))]
    state = tx.setup(tx.Adam(), model)
    assert str(state).endswith(
        "0  (3,)  float32  momentum velocity fused\n  1  ()    float16  momentum velocity"
    )
    monkeypatch.setenv("TFEXPLICIT_STEP", "formula")
    tx.update(state, model, [tf.ones([3]), None])
    assert "fused" not in str(state)
    # Rounded as Keras rounds it, which the op does not.
    assert state["0"].slots["velocity"].numpy()[0] == np.float32(1 - 0.999)
    monkeypatch.setenv("TFEXPLICIT_STEP", "quick")
    message = "TFEXPLICIT_STEP must be \"formula\" or unset, got 'quick'"
    with pytest.raises(ValueError, match=message):
        tx.update(state, model, [tf.ones([3]), None])


def test_a_formula_of_ones_own_is_not_stepped_by_the_op_that_it_inherits() -> None:
    class Half(tx.Adam):
        def apply(self, slots: Any, leaf: Any, grad: Any, step: Any) -> tuple[Any, Any]:
            return grad / 2, slots

    class Same(tx.Adam):
        pass

    class NoDecay(tx.DecoupledWeightDecay):
        def step(self, at: Any) -> tuple[Any, Any]:
            return at, {}

    model = [tf.Variable(tf.ones([3])) for _ in range(3)]
    rules = {"0": Half(), "1": tx.Chain(tx.SGD(0.5), NoDecay(0.5)), "2": Same()}
    state = tx.setup(rules, model)
    tx.update(state, model, [tf.ones([3])] * 3)
    for leaf in model[:2]:
        np.testing.assert_array_equal(leaf, np.full(3, 0.5))
    assert str(state).count("fused") == 1


@pytest.mark.parametrize("rule", [tx.Adam(0.1), tx.Lion(0.1), tx.SGD(0.1)], ids=repr)
def test_a_state_of_tensors_can_step_variables(rule: tx.Rule) -> None:
    """Its slots are not assigned to: they have to come out of the step."""
    model, grads = [tf.Variable(tf.ones([3]))], [tf.ones([3])]
    state, _ = tx.updated(tx.setup(rule, model), model, grads)
    pure_state, (value,) = tx.updated(state, model, grads)
    new_state, _ = tx.update(state, model, grads)
    np.testing.assert_allclose(model[0], value, rtol=1e-6)
    assert new_state.step == 2
    for name, slot in new_state["0"].slots.items():
        np.testing.assert_allclose(slot, pure_state["0"].slots[name], rtol=1e-6)
