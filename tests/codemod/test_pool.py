"""Work spread over processes."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

from tfexplicit_codemod.pool import mapped


def work(item: int) -> int:
    if item < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.01 * (item % 3))
    return item * item


def make_work() -> Callable[[int], int]:
    return work


def crashed(item: int) -> int:
    return item


def test_results_come_in_order() -> None:
    assert list(mapped(make_work, range(20), 2, crashed)) == [item * item for item in range(20)]


def test_bug_06_an_item_that_kills_its_process_costs_only_itself() -> None:
    items = [1, 2, -3, 4, 5, -6, 7]
    assert list(mapped(make_work, items, 2, crashed)) == [1, 4, -3, 16, 25, -6, 49]


def test_what_is_not_asked_for_is_not_waited_for() -> None:
    results = mapped(make_work, [2] * 10_000, 2, crashed)
    assert next(results) == 4
    started = time.monotonic()
    results.close()  # type: ignore[attr-defined]
    assert time.monotonic() - started < 10
