"""What the benchmarks share: the memory settings of the workflow, and how numbers are shown."""

import os
import statistics
import sys
from collections.abc import Sequence

FAST_MEMORY = {
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": "100000000000",
    "MALLOC_TOP_PAD_": "268435456",
}
"""Allocator settings (glibc) of every job of the workflow, see nat/workflow/graph.py."""


def restart_with_fast_memory() -> None:
    """Start this program again on one thread and with `FAST_MEMORY`, unless it has them."""
    if any(os.environ.get(key) != value for key, value in FAST_MEMORY.items()):
        os.environ.update(FAST_MEMORY, OMP_NUM_THREADS="1")
        os.execv(sys.executable, [sys.executable, "-W", "ignore", *sys.argv])


def quartiles(values: Sequence[float]) -> list[float]:
    """First, second and third quartile."""
    if len(values) == 1:
        return [values[0]] * 3
    return statistics.quantiles(values, n=4, method="inclusive")


def shown(found: Sequence[float], digits: int = 2) -> str:
    """A median with its quartiles."""
    low, median, high = found
    return f"{median:.{digits}f} ({low:.{digits}f}, {high:.{digits}f})"
