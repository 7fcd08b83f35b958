"""Memory that a piece of work takes, measured in a process of its own."""

import ctypes
import gc
import importlib
import multiprocessing
import re
import resource
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

_CLEAR = Path("/proc/self/clear_refs")
_POPULATE_READ = 22
"""MADV_POPULATE_READ of madvise(2)."""


def peak_of(work: Callable[[], object], packages: Sequence[str] = ()) -> int | None:
    """Resident memory that a piece of work takes at its peak, in bytes; None if it is not known.

    It is done in a copy of this process, so nothing may run in threads yet. What is in memory then
    is not counted, nor are packages and all shared libraries, which the copy imports first. Only
    Linux tells; if the work fails, its error is written to standard error.
    """
    if not _CLEAR.exists():
        return None
    fork = multiprocessing.get_context("fork")
    answer = fork.SimpleQueue()

    def measure() -> None:
        libc = ctypes.CDLL(None)
        for package in packages:
            importlib.import_module(package)
        _map_libraries(libc)
        # memory that nothing uses goes back to the system, so that work that takes it again counts
        gc.collect()
        if hasattr(libc, "malloc_trim"):  # of the GNU C library
            libc.malloc_trim(0)
        with suppress(OSError):  # where it is refused, the peak is at least that so far
            _CLEAR.write_text("5")  # the peak counts from here
        before = largest()
        work()
        answer.put(max(largest() - before, 0))

    process = fork.Process(target=measure)
    process.start()
    process.join()
    return None if answer.empty() else int(answer.get())


def _map_libraries(libc: ctypes.CDLL) -> None:
    """Map all pages of loaded shared libraries, which a copy of a process maps as it uses them.

    That is some tens of megabytes for a product of matrices, depending on the system.
    """
    for line in Path("/proc/self/maps").read_text().splitlines():
        library = re.match(r"(\w+)-(\w+) r.*/[^/]*\.so[^/]*$", line)
        if library is not None:
            start, end = (int(each, 16) for each in library.groups())
            # refused before Linux 5.14, where they count
            libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), _POPULATE_READ)


def largest() -> int:
    """The largest resident memory of this process so far, in bytes; on Linux."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
