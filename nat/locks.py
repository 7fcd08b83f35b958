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
"""How long a Slurm job waits for another process in its folder."""

_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)


@contextmanager
def alone(folder: Path, doing: str, say: Callable[[str], None] = print) -> Iterator[None]:
    """Hold the lock of a folder, which is made if it is not there.

    What is locked is a file beside it, `.NAME.lock`. The operating system releases it when the
    process ends for any reason. On file systems without locks nothing is checked.

    Args:
        folder: may be renamed or removed by whoever holds the lock.
        doing: what the process does, for messages, as in `training in FOLDER`.
        say: shows the message that a job waits.

    Raises:
        UserError: if another process holds the lock (in a Slurm job, after waiting for it), or if
            the file system refuses the file.
    """
    lock = _lock(folder)
    try:
        try:
            _acquire(lock, 0)
        except Timeout:
            if "SLURM_JOB_ID" not in os.environ:
                raise
            say(f"waits for another process that is still {doing}")
            _acquire(lock, SECONDS_FOR_OTHERS)
    except Timeout as error:
        raise UserError(
            f"another process is {doing}, perhaps one that a killed run left behind; wait for "
            "its end or stop it, then run again"
        ) from error
    except OSError as error:
        raise UserError(f"cannot write in {folder.parent}: {refusal(error)}") from error
    try:
        with suppress(FileExistsError):
            folder.mkdir()
        yield
    finally:
        _release(lock)


@contextmanager
def in_turn(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder that is there, after waiting for others for as long as they take.

    On file systems without locks nobody waits, nor where this process cannot write the lock: what
    is there can still be read, and a write tells the reason itself.
    """
    lock = _lock(folder)
    with suppress(OSError):
        _acquire(lock, -1)
    try:
        yield
    finally:
        _release(lock)


def taken(file: Path) -> FileLock | None:
    """Take the lock of a file until it is released or the process ends; None if another has it."""
    lock = FileLock(file, fallback_to_soft=False)
    try:
        _acquire(lock, 0)
    except Timeout:
        return None
    return lock


def lock_of(folder: Path) -> Path:
    """The file that is locked where a folder is."""
    return folder.with_name(f".{folder.name.removeprefix('.')}.lock")


def _lock(folder: Path) -> FileLock:
    # without `fallback_to_soft`, the mere existence of a file would count where there are no locks,
    # also of one that a killed process has left
    return FileLock(lock_of(folder), fallback_to_soft=False)


def _acquire(lock: FileLock, seconds: float) -> None:
    """Acquire a lock, unless the file system has none; `Timeout` if another holds it longer."""
    try:
        lock.acquire(timeout=seconds, poll_interval=1)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise


def _release(lock: FileLock) -> None:
    """Release a lock, if it is held, and remove its file; whoever waits for it makes another."""
    if lock.is_locked:
        Path(lock.lock_file).unlink(missing_ok=True)
        lock.release()
