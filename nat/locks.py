"""One process at a time in a folder.

A job survives a Snakemake that was killed, and on a cluster, for a while, a node that was given up.
Without a lock, it and its successor would write in the same folder.
"""

import errno
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from nat.errors import UserError

SECONDS_FOR_OTHERS = 300
"""How long a Slurm job waits for another process in its folder."""

_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EBADF, errno.ENOSYS)


@contextmanager
def alone(folder: Path, doing: str, say: Callable[[str], None] = print) -> Iterator[None]:
    """Hold the lock of a folder.

    The operating system releases it when the process ends for any reason. On file systems without
    locks nothing is checked.

    Args:
        folder: that exists; it may be renamed meanwhile.
        doing: what the process does, for messages, as in `training in FOLDER`.
        say: shows the message that a job waits.

    Raises:
        UserError: if another process holds the lock; in a Slurm job, after waiting for it.
    """
    handle = os.open(folder, os.O_RDONLY)
    patience = SECONDS_FOR_OTHERS if "SLURM_JOB_ID" in os.environ else 0
    try:
        try:
            _lock(handle, patience, lambda: say(f"waits for another process that is still {doing}"))
        except BlockingIOError as error:
            raise UserError(
                f"another process is {doing}, perhaps one that a killed run left behind; wait for "
                "its end or stop it, then run again"
            ) from error
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
        yield
    finally:
        os.close(handle)


def _lock(handle: int, patience: float, tell: Callable[[], None]) -> None:
    """Lock a folder; raises `BlockingIOError` if another process has not released it in time."""
    until = time.monotonic() + patience
    told = False
    while True:
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                raise
        if not told:
            tell()
            told = True
        time.sleep(1)
