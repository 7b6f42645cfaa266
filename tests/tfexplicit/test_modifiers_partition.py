"""`Partition`: a rule for each part, within a chain too."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf

import tfexplicit as tx


def model() -> dict[str, Any]:
    return {"encoder": {"w": tf.Variable(0.0), "b": tf.Variable(0.0)}, "head": tf.Variable(0.0)}


GRADS = {"encoder": {"w": tf.constant(2.0), "b": tf.constant(3.0)}, "head": tf.constant(6.0)}


def values(net: dict[str, Any]) -> list[float]:
    return [float(leaf.numpy()) for leaf in tx.trainables(net)]


def test_the_first_glob_that_matches_counts() -> None:
    net = model()
    rule = tx.Partition({"encoder/b": tx.SGD(0.5), "encoder": tx.SGD(1.0), "**": tx.Adam(0.1)})
    state = tx.setup(rule, net)
    tx.update(state, net, GRADS)
    assert values(net) == pytest.approx([-2.0, -1.5, -0.1], rel=1e-5)
    assert list(state["head"].slots) == ["adam/momentum", "adam/velocity"]
    assert not state["encoder/w"].slots


def test_it_trains_as_a_mapping_given_to_setup() -> None:
    rules = {"encoder/**": tx.Adam(0.1), "**": tx.Chain(tx.ClipByGlobalNorm(0.5), tx.SGD(0.5))}
    one, other = model(), model()
    states = tx.setup(rules, one), tx.setup(tx.Partition(rules), other)
    for _ in range(3):
        tx.update(states[0], one, GRADS)
        tx.update(states[1], other, GRADS)
    assert values(one) == pytest.approx(values(other), rel=1e-6)


def test_a_chain_around_it_clips_over_all_leaves_and_one_inside_over_its_own() -> None:
    net = model()
    parts = {"head": tx.Chain(), "**": tx.Chain(tx.ClipByGlobalNorm(1e3), tx.SGD(0.5))}
    state = tx.setup(tx.Chain(tx.ClipByGlobalNorm(0.7), tx.Partition(parts)), net)
    tx.update(state, net, GRADS)  # The norm of 2, 3, 6 is 7.
    assert values(net) == pytest.approx([-0.1, -0.15, -0.6])

    net = model()
    parts = {"head": tx.SGD(1.0), "**": tx.Chain(tx.ClipByGlobalNorm(1.0))}
    state = tx.setup(tx.Partition(parts), net)
    tx.update(state, net, GRADS)
    assert values(net) == pytest.approx([-2 / 13**0.5, -3 / 13**0.5, -6.0])


def test_a_function_chooses_by_name() -> None:
    net = model()
    rules = {"slow": tx.SGD(0.5), "fast": tx.SGD(1.0)}
    state = tx.setup(
        tx.Partition(rules, by=lambda path, leaf: "slow" if path == "head" else "fast"), net
    )
    tx.adjust(state, **{"slow/learning_rate": 0.25})
    tx.update(state, net, GRADS)
    assert values(net) == [-2.0, -3.0, -1.5]
    with pytest.raises(ValueError, match="no rule here has a hyperparameter 'slow/learning_rate'"):
        tx.adjust(state["encoder"], **{"slow/learning_rate": 0.5})


def test_parts_that_are_stepped_alone_leave_the_others_scalars() -> None:
    net = model()
    rule = tx.Partition({"head": tx.SkipNonFinite(), "**": tx.SkipNonFinite()})
    state = tx.setup(rule, net)
    tx.update(state["head"], net["head"], tf.constant(float("nan")))
    (counts,) = [group.shared for group in state.groups if group.shared]
    assert counts["skip_non_finite/total"].numpy() == 1
    assert counts["skip_non_finite_1/total"].numpy() == 0


def test_another_partition_of_the_same_rules_is_another_rule() -> None:
    net = model()
    state = tx.setup(tx.Partition({"head": tx.SGD(1.0), "**": tx.SGD(0.5)}), net)
    tx.adjust(state, tx.Partition({"head": tx.SGD(2.0), "**": tx.SGD(0.5)}))
    tx.update(state, net, GRADS)
    assert values(net) == [-1.0, -1.5, -12.0]
    tx.adjust(state, tx.Partition({"encoder/w": tx.SGD(2.0), "**": tx.SGD(0.5)}))
    tx.update(state, net, GRADS)
    assert values(net) == [-5.0, -3.0, -15.0]


def test_a_part_that_has_no_leaf_is_mentioned() -> None:
    with pytest.warns(
        UserWarning, match="sgd/learning_rate of Partition.* concerns no leaf"
    ) as all_:
        tx.setup(tx.Partition({"enc0der": tx.SGD(), "**": tx.Adam()}), model())
    assert "encoder/w, encoder/b, head" in str(all_[0].message)
    with pytest.warns(UserWarning, match="weight_decay of WeightDecay.* concerns no leaf"):
        tx.setup(tx.WeightDecay(where="w"), model())


def test_what_it_cannot_place_it_names() -> None:
    with pytest.raises(ValueError, match=r"Partition: no rule for 'head'; the globs are 'encoder'"):
        tx.setup(tx.Partition({"encoder": tx.SGD()}), model())
    with pytest.raises(ValueError, match="`by` returned 'x' for 'encoder/w'; the rules are 'y'"):
        tx.setup(tx.Partition({"y": tx.SGD()}, by=lambda path, leaf: "x"), model())
    with pytest.raises(TypeError, match=r"the value of '\*\*' must be a tfexplicit rule"):
        tx.Partition({"**": 0.1})  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="expected a mapping"):
        tx.Partition(tx.SGD())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no rule in the mapping"):
        tx.Partition({})
