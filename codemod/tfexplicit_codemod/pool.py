"""Work spread over processes, in order; one item that kills its process costs only itself."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_work: Callable[[Any], Any]


def mapped(
    make_work: Callable[[], Callable[[Item], Result]],
    items: Sequence[Item],
    jobs: int,
    crashed: Callable[[Item], Result],
) -> Iterator[Result]:
    """The result of each item, in their order; `crashed(item)` where its process was killed.

    Each process calls `make_work` once, so that what the work remembers need not be pickled.
    """
    pool = _pool(make_work, jobs)
    try:
        futures: list[Future[Result]] = [pool.submit(_run, item) for item in items]
        for item, future in zip(items, futures, strict=True):
            try:
                yield future.result()
            except BrokenProcessPool:
                # Which item did it is unknown, so each that has no result has a process of its own.
                yield _alone(make_work, item, crashed)
    finally:
        pool.shutdown(cancel_futures=True)


def _alone(
    make_work: Callable[[], Callable[[Item], Result]],
    item: Item,
    crashed: Callable[[Item], Result],
) -> Result:
    with _pool(make_work, jobs=1) as pool:
        try:
            result: Result = pool.submit(_run, item).result()
            return result
        except BrokenProcessPool:
            return crashed(item)


def _pool(make_work: Callable[[], Any], jobs: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(jobs, initializer=_start, initargs=(make_work,))


def _start(make_work: Callable[[], Any]) -> None:
    """In the new process. Ctrl-C reaches the whole group: the parent answers it, and this process,
    which writes nothing, ends without a word."""
    global _work
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _work = make_work()


def _run(item: Any) -> Any:
    return _work(item)
