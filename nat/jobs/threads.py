"""Threads of a job on a processor."""

import os

from nat.job import JobConfiguration


def threads(configuration: JobConfiguration) -> int:
    """Threads of PyTorch: what OpenMP is told for its outermost level, else those of a job."""
    given = os.environ.get("OMP_NUM_THREADS") or str(configuration.settings.threads)
    return int(given.partition(",")[0])
