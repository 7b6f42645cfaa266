"""Runs the contenders of one workload and one rule in turns, so that all meet the same machine."""

from __future__ import annotations

import multiprocessing
import statistics
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from contender import Contender
from contenders.keras_function import contender as keras
from contenders.limit import contender as limit
from machine import available_memory
from worker import serve
from workloads import Workload

LONGEST_START = 900  # seconds
PROCESS = 2**30  # bytes of a framework that is imported
Result = dict[str, Any]


@dataclass
class Running:
    """A contender that has started, and its steps."""

    name: str
    pipe: Connection
    started: Result
    seconds: list[float]


def compared(
    workload: Workload, rule: str, contenders: list[type[Contender]], rounds: int
) -> Iterator[Result]:
    """The figures of each contender; the limit and Keras are measured with every group."""
    shown = set()
    for group in _groups(workload, contenders):
        results = _measured(workload, rule, group, rounds)
        by_name = {result["contender"]: result for result in results}
        for result in results:
            if result["contender"] not in shown:
                shown.add(result["contender"])
                yield _with_ratios(result, workload, by_name)


def _groups(workload: Workload, contenders: list[type[Contender]]) -> list[list[type[Contender]]]:
    """As many at once as the memory holds, with the two that all are compared with."""
    # Parameters, gradients and two slots, and half of that again at a step.
    each = PROCESS + 6 * 4 * workload.parameters
    number = max(1, int(0.8 * available_memory()) // each - 2)
    always = [each for each in contenders if each in (limit, keras)]
    others = [each for each in contenders if each not in always]
    starts = range(0, len(others), number)
    return [[*always, *others[start : start + number]] for start in starts] or [always]


def _measured(
    workload: Workload, rule: str, contenders: list[type[Contender]], rounds: int
) -> list[Result]:
    with ExitStack() as stack:
        everyone = [_started(stack, each.name, rule, workload.name) for each in contenders]
        running = [each for each in everyone if "failed" not in each.started]
        for _ in range(rounds):
            for each in running:
                each.pipe.send(True)
                each.seconds.append(each.pipe.recv())
        for each in running:
            each.pipe.send(False)
    return [
        {"workload": workload.name, "rule": rule, "contender": each.name, **each.started}
        | ({"seconds": statistics.median(each.seconds)} if each.seconds else {})
        for each in everyone
    ]


def _started(stack: ExitStack, name: str, rule: str, workload: str) -> Running:
    """One at a time, since tracing and compiling use all cores."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs, name, rule, workload))
    process.start()
    theirs.close()
    stack.callback(process.join)
    stack.callback(ours.close)
    try:
        started = ours.recv() if ours.poll(LONGEST_START) else {"failed": "took too long to start"}
    except EOFError:
        started = {"failed": "its process was killed"}
    if "failed" in started:
        process.terminate()
    return Running(name, ours, started, [])


def _with_ratios(result: Result, workload: Workload, group: dict[str, Result]) -> Result:
    seconds = result.get("seconds")
    by_keras = group.get(keras.name, {}).get("seconds")
    by_limit = group.get(limit.name, {}).get("seconds")
    memory = result.get("step_memory_bytes")
    return result | {
        "times_keras": _ratio(by_keras, seconds),
        "share_of_limit": _ratio(by_limit, seconds),
        "step_memory_of_parameters": _ratio(memory, 4 * workload.parameters),
    }


def _ratio(figure: float | None, divisor: float | None) -> float | None:
    return None if figure is None or not divisor else figure / divisor
