"""One process at a time in a folder.

A job survives a Snakemake that was killed, and on a cluster, for a while, a node that was given up.
Without a lock, it and its successor would write in the same folder.
"""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from nat.errors import UserError, refusal

SECONDS_FOR_OTHERS = 300
"""Seconds that a Slurm job waits for another process in its folder."""


@contextmanager
def alone(folder: Path, doing: str, say: Callable[[str], None] = print) -> Iterator[None]:
    """Hold the lock of a folder, which is made if it is not there, and may be renamed or removed.

    What is locked is a file beside it, `.NAME.lock`. The operating system releases it when the
    process ends for any reason. On file systems without locks nothing is checked.

    Args:
        folder: of the lock.
        doing: activity for messages, as in `training in FOLDER`.
        say: shows the message that a job waits.

    Raises:
        UserError: if another process holds the lock (in a Slurm job, after waiting for it).
    """
    lock, waits = lock_of(folder), "SLURM_JOB_ID" in os.environ
    try:
        held = acquired(lock, 0)
        if not held and waits:
            say(f"waits for another process that is still {doing}")
            held = acquired(lock, SECONDS_FOR_OTHERS)
        if held:
            folder.mkdir(exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot write in {folder.parent}: {refusal(error)}") from error
    if not held:
        raise UserError(
            f"another process is {doing}, perhaps one that a killed run left behind; wait for its "
            "end or stop it, then run again"
        )
    try:
        yield
    finally:
        _release(lock)


@contextmanager
def in_turn(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder that is there, after waiting for others for as long as they take.

    Where there are no locks, or this process cannot write one, nobody waits: what is there can
    still be read, and a write tells the reason itself.
    """
    lock = lock_of(folder)
    with suppress(OSError):
        acquired(lock, -1)
    try:
        yield
    finally:
        _release(lock)


def lock_of(folder: Path) -> FileLock:
    """The lock of a folder."""
    path = folder.with_name(f".{folder.name.removeprefix('.')}.lock")
    # without `fallback_to_soft`, the mere existence of a file would count where there are no locks,
    # also of one that a killed process has left
    return FileLock(path, fallback_to_soft=False)


def acquired(lock: FileLock, seconds: float) -> bool:
    """Acquire a lock; return False if another process holds it for longer than so many seconds.

    On a file system without locks it counts as acquired.
    """
    try:
        lock.acquire(timeout=seconds, poll_interval=1)
    except Timeout:
        return False
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):
            raise
    return True


def _release(lock: FileLock) -> None:
    """Release a lock, if it is held, and remove its file; whoever waits for it makes another."""
    if lock.is_locked:
        Path(lock.lock_file).unlink(missing_ok=True)
        lock.release()
