"""Comparing two trajectories: what is equal, what is rounding, and what is named as different."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from tfexplicit_codemod.errors import CannotVerify
from tfexplicit_codemod.verify.compare import compare
from tfexplicit_codemod.verify.digest import digest_of, merged_rows
from tfexplicit_codemod.verify.records import Leaf, Trajectory, Update, read_trajectory
from tfexplicit_codemod.verify.verdict import compare_and_report

RNG = np.random.default_rng(0)
KERNEL = RNG.normal(size=(5, 4)).astype(np.float32)
BIAS = RNG.normal(size=(4,)).astype(np.float32)


def leaf(name: str, values: np.ndarray, before: np.ndarray | None = None) -> Leaf:
    digest = digest_of(values, values if before is None else before)
    return Leaf(name, values.shape, str(values.dtype), *digest)


def update(
    index: int, kernel: np.ndarray = KERNEL, bias: np.ndarray = BIAS, gradient: float = 1.0
) -> Update:
    return Update(index, 0, gradient, 0, (leaf("kernel", kernel), leaf("bias", bias)))


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
    assert comparison.largest.index == 2
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
    assert first.index == 2
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
    assert not compare(THREE, at_once).equal
    assert compare(THREE, after_rounding).equal


def test_gradients_are_judged_while_the_leaves_are_still_equal() -> None:
    first = compare(THREE, trajectory(update(1), update(2, gradient=1.1))).first
    assert first is not None
    assert first.index == 2
    assert "gradients" in first.what


def test_other_leaves_or_missing_gradients_differ() -> None:
    fewer = replace(update(2), leaves=update(2).leaves[:1])
    without = replace(update(2), without_gradient=1)
    other_shape = update(2, bias=BIAS[:3])
    for wrong in (fewer, without, other_shape):
        first = compare(THREE, trajectory(update(1), wrong)).first
        assert first is not None
        assert first.index == 2
        assert first.relative == math.inf


def test_half_precision_is_measured_in_its_own_rounding() -> None:
    half = KERNEL.astype(np.float16)
    other = np.nextafter(half, np.float16(np.inf))
    assert compare(trajectory(update(1, half)), trajectory(update(1, other))).equal
    assert not compare(
        trajectory(update(1, half)), trajectory(update(1, half * np.float16(1.1)))
    ).equal


@pytest.mark.parametrize("length", [1, 5])
def test_another_number_of_updates_is_no_verdict(length: int) -> None:
    other = trajectory(*(update(index) for index in range(1, length + 1)))
    with pytest.raises(CannotVerify, match=rf"made 3 updates .* made {length}\."):
        compare_and_report(Console(quiet=True), THREE, other)


def test_the_report_names_the_difference(capsys: pytest.CaptureFixture[str]) -> None:
    wrong = trajectory(update(1), update(2), update(3, bias=BIAS * np.float32(2)))
    assert compare_and_report(Console(width=80), THREE, wrong) == 1
    out = capsys.readouterr().out
    assert "in update 3 the norm of leaf bias is" in out
    assert compare_and_report(Console(width=80), THREE, THREE) == 0
    assert "3 updates of 2 leaves are equal bit for bit" in capsys.readouterr().out


def test_a_record_cut_off_by_a_crash_keeps_what_is_whole(tmp_path: Path) -> None:
    lines = [
        {"kind": "group", "group": 0, "leaves": [["w", [2], "float32"]]},
        *(
            {"kind": "update", "index": index, "group": 0, "gradient_norm": 1.0}
            | {"without_gradient": 0, "leaves": [[7, 1.0, 1.0, math.nan, 1, 0, 0, 0, 0]]}
            for index in (2, 1)
        ),
    ]
    record = tmp_path / "record"
    record.write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"kind": "upd')
    trajectory = read_trajectory(record)
    assert [update.index for update in trajectory.updates] == [1, 2]
    assert not trajectory.ended


def one_update(values: np.ndarray, before: np.ndarray) -> Trajectory:
    return trajectory(Update(1, 0, 1.0, 0, (leaf("table", values, before),)))


def test_a_wrong_step_of_a_few_rows_of_a_large_leaf_is_found() -> None:
    before = RNG.normal(size=(20000, 16)).astype(np.float32)
    step = np.zeros_like(before)
    step[1:4] = 1e-3 * RNG.normal(size=(3, 16))
    good = one_update(before - step, before)
    for wrong in (before + step, before - 2 * step, before - np.float32(1.01) * step):
        comparison = compare(good, one_update(wrong, before))
        assert comparison.first is not None
        assert comparison.first.what.endswith("what was added to leaf table")
    assert compare(good, one_update(off_by_rounding(before - step), before)).equal


def test_training_with_nan_is_compared_by_its_other_values() -> None:
    before = np.append(KERNEL.reshape(-1), np.float32([np.nan, np.inf]))
    good = one_update(before * np.float32(0.9), before)
    nan = replace(good.updates[0], gradient_norm=math.nan)
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
    assert numbers == [5.0, -1.0, 3.0, 1, 4.0, 4.0, 1, 4.0]
    assert crc != digest_of(before, before)[0]
    assert digest_of(np.complex64([3 + 4j]), np.complex64([0]))[1] == 5.0
    empty = np.zeros((0, 3), np.float32)
    assert set(digest_of(empty, empty)[1:]) == {0}


def test_rows_with_the_same_index_are_added_before_the_norm() -> None:
    rows = np.array([[1.0, 0.0], [2.0, 2.0], [3.0, 0.0]], np.float32)
    merged = merged_rows(rows, np.array([7, 2, 7]))
    assert sorted(merged.tolist()) == [[2.0, 2.0], [4.0, 0.0]]
