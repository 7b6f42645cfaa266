"""A contender in a process of its own: it measures its start, then steps when it is asked to."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from contender import Contender, all_contenders
from workloads import workload_named

# A step that is shorter is repeated until it takes so long.
SHORTEST = 0.02
STATUS = Path("/proc/self/status")


def serve(pipe: Connection, contender: str, rule: str, workload: str) -> None:
    """Sends what the start took, then the seconds of a step for each message, until the end."""
    # What the frameworks say of the machine would hide the figures.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    stepping = all_contenders()[contender]()
    try:
        pipe.send(_start(stepping, rule, workload))
    except Exception as error:
        pipe.send({"failed": f"{type(error).__name__}: {error}"[:300]})
        return
    times = max(1, round(SHORTEST / _seconds(stepping.step)))
    while pipe.recv():
        start = time.perf_counter()
        for _ in range(times):
            stepping.step()
        pipe.send((time.perf_counter() - start) / times)


def _start(stepping: Contender, rule: str, workload: str) -> dict[str, Any]:
    stepping.prepare(rule, workload_named(workload))
    first_call = _seconds(stepping.step)
    stepping.step()
    return {
        "first_call_seconds": first_call,
        "graph_nodes": stepping.graph_nodes(),
        "step_memory_bytes": _peak_memory(stepping.step),
    }


def _seconds(step: Callable[[], None]) -> float:
    start = time.perf_counter()
    step()
    return time.perf_counter() - start


def _peak_memory(step: Callable[[], None]) -> int | None:
    """What a step takes beyond all that is there before it; None where Linux does not say."""
    if not sys.platform.startswith("linux"):
        return None
    gc.collect()
    # Memory that is free but kept would hide what the step takes.
    ctypes.CDLL(None).malloc_trim(0)
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    step()
    return max(0, _status("VmHWM") - before)


def _status(field: str) -> int:
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) * 1024
