"""Comparing two trajectories: what is equal, what is rounding, and what is named as different."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tfexplicit_codemod.verify.compare import compare
from tfexplicit_codemod.verify.digest import digest_of, merged_rows
from tfexplicit_codemod.verify.hints import hints_for
from tfexplicit_codemod.verify.records import (
    Gradient,
    Leaf,
    Trajectory,
    Update,
    read_record,
    read_trajectory,
)

RNG = np.random.default_rng(0)
KERNEL = RNG.normal(size=(5, 4)).astype(np.float32)
BIAS = RNG.normal(size=(4,)).astype(np.float32)


def leaf(name: str, values: np.ndarray, before: np.ndarray | None = None) -> Leaf:
    digest = digest_of(values, values if before is None else before)
    return Leaf(name, 1, values.shape, str(values.dtype), *digest)


def update(
    index: int, kernel: np.ndarray = KERNEL, bias: np.ndarray = BIAS, gradient: float = 1.0
) -> Update:
    gradients = (Gradient(gradient, 0.0), Gradient(0.0, 0.0))
    return Update(index, gradients, (leaf("kernel", kernel), leaf("bias", bias)))


def trajectory(*updates: Update) -> Trajectory:
    return Trajectory(list(updates))


THREE = trajectory(update(1), update(2), update(3))


def off_by_rounding(values: np.ndarray) -> np.ndarray:
    return np.nextafter(values, np.float32(np.inf))


def test_equal_bytes_are_equal_bit_for_bit() -> None:
    comparison = compare(THREE, THREE)
    assert comparison.equal
    assert comparison.bit_for_bit
    assert (comparison.updates, comparison.leaves) == (3, 2)


def test_rounding_is_equal_but_not_bit_for_bit_and_says_how_much() -> None:
    other = trajectory(update(1), update(2, kernel=off_by_rounding(KERNEL)), update(3))
    comparison = compare(THREE, other)
    assert comparison.equal
    assert not comparison.bit_for_bit
    assert comparison.largest is not None
    assert comparison.largest.place == "update 2"
    assert 0 < comparison.largest.relative < 1e-6


@pytest.mark.parametrize(
    "wrong",
    [KERNEL * np.float32(1 + 1e-5), KERNEL[::-1], np.full_like(KERNEL, np.nan), KERNEL * 0],
    ids=["scaled by 1e-5", "reversed", "nan", "zero"],
)
def test_more_than_rounding_is_named_with_update_and_leaf(wrong: np.ndarray) -> None:
    other = trajectory(update(1), update(2, kernel=wrong), update(3, kernel=wrong))
    first = compare(THREE, other).first
    assert first is not None
    assert first.place == "update 2"
    assert "kernel" in first.what
    assert first.relative > 5e-6


def test_the_leaf_that_differs_most_is_named() -> None:
    other = trajectory(update(1, kernel=KERNEL * np.float32(1.001), bias=BIAS * np.float32(2)))
    first = compare(THREE, other).first
    assert first is not None
    assert "bias" in first.what


def test_later_updates_may_carry_more_rounding_than_the_first_that_differs() -> None:
    drifted = KERNEL * np.float32(1 + 1e-5)
    at_once = trajectory(update(1, kernel=drifted))
    after_rounding = trajectory(
        update(1, kernel=off_by_rounding(KERNEL)), update(2, kernel=drifted)
    )
    assert not compare(trajectory(update(1)), at_once).equal
    assert compare(trajectory(update(1), update(2)), after_rounding).equal


def test_gradients_are_judged_while_the_leaves_are_still_equal() -> None:
    first = compare(THREE, trajectory(update(1), update(2, gradient=1.1))).first
    assert first is not None
    assert first.place == "update 2"
    assert first.what == "norm of the gradient of leaf kernel"


def test_other_leaves_or_missing_gradients_differ() -> None:
    fewer = replace(update(2), leaves=update(2).leaves[:1])
    without = replace(update(2), gradients=(None, *update(2).gradients[1:]))
    other_shape = update(2, bias=BIAS[:3])
    for wrong in (fewer, without, other_shape):
        first = compare(THREE, trajectory(update(1), wrong)).first
        assert first is not None
        assert first.place == "update 2"
        assert first.relative == math.inf


def test_half_precision_is_measured_in_its_own_rounding() -> None:
    half = KERNEL.astype(np.float16)
    other = np.nextafter(half, np.float16(np.inf))
    assert compare(trajectory(update(1, half)), trajectory(update(1, other))).equal
    assert not compare(
        trajectory(update(1, half)), trajectory(update(1, half * np.float16(1.1)))
    ).equal


@pytest.mark.parametrize(
    ("length", "said"),
    [
        (1, "in update 2 the update of kernel and 1 more is made before and missing after"),
        (5, "in update 4 the update of kernel and 1 more is missing before and made after"),
    ],
)
def test_a_missing_or_extra_update_is_a_difference(length: int, said: str) -> None:
    other = trajectory(*(update(index) for index in range(1, length + 1)))
    assert str(compare(THREE, other).first) == said


def test_a_larger_tolerance_takes_more_for_rounding() -> None:
    other = trajectory(update(1), update(2), update(3, kernel=KERNEL * np.float32(1.001)))
    assert not compare(THREE, other).equal
    assert not compare(THREE, other, tolerance=1e-4).equal
    assert compare(THREE, other, tolerance=1e-2).equal


def test_leaves_in_another_order_are_the_same_leaves() -> None:
    turned = [
        replace(each, leaves=each.leaves[::-1], gradients=each.gradients[::-1])
        for each in THREE.updates
    ]
    assert compare(THREE, trajectory(*turned)).bit_for_bit


def test_the_last_values_are_compared() -> None:
    same, other, gone = leaf("kernel", KERNEL), leaf("kernel", KERNEL * 2), leaf("bias", BIAS)
    before = Trajectory(THREE.updates, values=[same, gone])
    assert compare(before, Trajectory(THREE.updates, values=[same])).bit_for_bit
    first = compare(before, Trajectory(THREE.updates, values=[other])).first
    assert first is not None
    assert (first.place, first.what) == ("the end", "norm of leaf kernel")


def test_a_record_cut_off_by_a_crash_keeps_what_is_whole(tmp_path: Path) -> None:
    group = {"kind": "group", "group": 0, "leaves": [["w", 1, [2], "float32"]], "state": []}
    lines = [
        group | {"owner": [1, "SGD"]},
        *(
            {"kind": "update", "index": index, "group": 0, "loss": None, "gradients": [None]}
            | {"state": [], "leaves": [[7, 1.0, 1.0, math.nan, 1, 0, 0, 0, 0, 0]]}
            for index in (2, 1)
        ),
    ]
    record = tmp_path / "record"
    record.write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"kind": "upd')
    trajectory = read_record(record, "")
    assert [update.index for update in trajectory.updates] == [1, 2]
    assert not trajectory.ended


def test_processes_are_told_apart_by_name_and_start(tmp_path: Path) -> None:
    names = {10: "Process-10", 11: "Process-2", 12: "eval.py --fast", 13: "eval.py --fast", 14: ""}
    group = {"kind": "group", "group": 0, "leaves": [], "state": [], "owner": [1, "SGD"]}
    update = {"kind": "update", "index": 1, "group": 0, "loss": None, "gradients": []}
    for pid, name in names.items():
        process = {"kind": "process", "name": name, "started": -pid}
        lines = [process, group, update | {"leaves": [], "state": []}]
        (tmp_path / f"{pid}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    places = [update.place for update in read_trajectory(tmp_path, 14).updates]
    assert places == [
        *("update 1", "update 1 of Process-2", "update 1 of Process-10"),
        *("update 1 of eval.py --fast", "update 1 of eval.py --fast, run 2"),
    ]


def one_update(values: np.ndarray, before: np.ndarray) -> Trajectory:
    return trajectory(Update(1, (Gradient(1.0, 0.0),), (leaf("table", values, before),)))


def test_a_wrong_step_of_a_few_rows_of_a_large_leaf_is_found() -> None:
    before = RNG.normal(size=(20000, 16)).astype(np.float32)
    step = np.zeros_like(before)
    step[1:4] = 1e-3 * RNG.normal(size=(3, 16))
    good = one_update(before - step, before)
    other_rows = before - np.roll(step, 1, axis=0)
    for wrong in (before + step, before - 2 * step, before - np.float32(1.01) * step, other_rows):
        comparison = compare(good, one_update(wrong, before))
        assert comparison.first is not None
        assert comparison.first.what.endswith("what was added to leaf table")
    assert compare(good, one_update(off_by_rounding(before - step), before)).equal


def test_training_with_nan_is_compared_by_its_other_values() -> None:
    before = np.append(KERNEL.reshape(-1), np.float32([np.nan, np.inf]))
    good = one_update(before * np.float32(0.9), before)
    nan = replace(good.updates[0], gradients=(Gradient(math.nan, math.nan),))
    assert compare(trajectory(nan), trajectory(nan)).bit_for_bit
    wrong = before * np.float32(0.9)
    wrong[1] *= 1.1
    assert not compare(good, one_update(wrong, before)).equal
    wrong[1] = np.nan
    comparison = compare(good, one_update(wrong, before))
    assert comparison.first is not None
    assert comparison.first.what == "number of NaN and infinite values of leaf table"


def test_digests() -> None:
    before, after = np.float32([[3.0, -8.0, np.inf]]), np.float32([[3.0, -4.0, np.nan]])
    with np.errstate(all="raise"):
        crc, *numbers = digest_of(after, before)
    assert abs(numbers.pop(6)) == 4.0  # with a sign that is the same every time
    assert numbers == [5.0, -1.0, 3.0, 1, 4.0, 4.0, 1, 4.0]
    assert crc != digest_of(before, before)[0]
    assert digest_of(np.complex64([3 + 4j]), np.complex64([0]))[1] == 5.0
    empty = np.zeros((0, 3), np.float32)
    assert set(digest_of(empty, empty)[1:]) == {0}


def test_rows_with_the_same_index_are_added_before_the_norm() -> None:
    rows = np.array([[1.0, 0.0], [2.0, 2.0], [3.0, 0.0]], np.float32)
    merged = merged_rows(rows, np.array([7, 2, 7]))
    assert sorted(merged.tolist()) == [[2.0, 2.0], [4.0, 0.0]]


def test_a_small_gradient_that_differs_is_not_hidden_by_a_large_one() -> None:
    one, other = (
        replace(update(1, bias=bias), gradients=(Gradient(1.0, 0.0), Gradient(small, 0.0)))
        for bias, small in ((BIAS, 1e-6), (BIAS + 1, 2e-6))
    )
    before, after = trajectory(one), trajectory(other)
    hints = hints_for(before, after, compare(before, after))
    assert hints == [
        "The norm of the gradients is equal, but those of single leaves differ already."
    ]
