"""Threads of a job on a processor."""

import os

from nat.errors import UserError
from nat.job import JobConfiguration


def threads(configuration: JobConfiguration) -> int:
    """Threads of PyTorch: what OpenMP is told for its outermost level, else those of a job.

    Raises:
        UserError: if the variable is no number.
    """
    given = os.environ.get("OMP_NUM_THREADS") or str(configuration.settings.threads)
    found = given.partition(",")[0].strip()
    if not found.isdecimal() or int(found) == 0:
        raise UserError(f"OMP_NUM_THREADS is '{given}'; give a number of threads above 0")
    return int(found)
