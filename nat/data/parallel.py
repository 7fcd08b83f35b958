"""Parallel processing of a stream in order, with little of it in memory."""

import multiprocessing
from collections import deque
from collections.abc import Callable, Generator, Iterable
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

CHUNK = 2000  # items in a task of a process
_AHEAD = 4  # chunks per process that may be queued


def in_order(
    work: Callable[[list[Item]], list[Result]], items: Iterable[Item], processes: int
) -> Generator[Result, None, None]:
    """Yield the results of `work` for chunks of `items`, one after the other.

    Args:
        work: maps a list of items to results; a function of a module, so that it can be pickled.
        items: not read further ahead than the processes need.
        processes: with 1, no process is started.
    """
    source = iter(items)
    chunks = iter(lambda: list(islice(source, CHUNK)), [])
    if processes <= 1:
        for chunk in chunks:
            yield from work(chunk)
        return
    # a fork of a process with threads may wait for ever for a lock that one of them held
    with multiprocessing.get_context("forkserver").Pool(processes) as pool:
        waiting = deque(
            pool.apply_async(work, (chunk,)) for chunk in islice(chunks, _AHEAD * processes)
        )
        while waiting:
            yield from waiting.popleft().get()
            waiting.extend(pool.apply_async(work, (chunk,)) for chunk in islice(chunks, 1))
