"""One process at a time in a folder.

A job survives a Snakemake that was killed, and on a cluster, for a while, a node that was given up.
Without a lock, it and its successor would write in the same folder.
"""

import errno
import fcntl
import math
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from nat.errors import UserError, refusal

SECONDS_FOR_OTHERS = 300
"""How long a Slurm job waits for another process in its folder."""

_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)


@contextmanager
def alone(folder: Path, doing: str, say: Callable[[str], None] = print) -> Iterator[None]:
    """Hold the lock of a folder, which is made if it is not there.

    What is locked is a file beside it, `.NAME.lock`, since NFS locks only what is open for writing.
    The operating system releases it when the process ends for any reason. On file systems without
    locks nothing is checked.

    Args:
        folder: may be renamed or removed by whoever holds the lock.
        doing: what the process does, for messages, as in `training in FOLDER`.
        say: shows the message that a job waits.

    Raises:
        UserError: if another process holds the lock (in a Slurm job, after waiting for it), or if
            the file system refuses the file.
    """
    patience = SECONDS_FOR_OTHERS if "SLURM_JOB_ID" in os.environ else 0
    try:
        handle = _locked(
            folder, patience, lambda: say(f"waits for another process that is still {doing}")
        )
    except BlockingIOError as error:
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
        _release(folder, handle)


@contextmanager
def in_turn(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder that is there, after waiting for others for as long as they take.

    On file systems without locks nobody waits, nor where this process cannot write the lock: what
    is there can still be read, and a write tells the reason itself.
    """
    try:
        handle = _locked(folder, math.inf, lambda: None)
    except OSError:
        yield
        return
    try:
        yield
    finally:
        _release(folder, handle)


def lock_of(folder: Path) -> Path:
    """The file that is locked where a folder is."""
    return folder.with_name(f".{folder.name.removeprefix('.')}.lock")


def hold(file: Path, holder: str, where: str) -> None:
    """Hold the lock of a file until this process ends, for whatever reason.

    The file, which is made if it is not there, says who holds it.

    Args:
        file: in a folder that is there.
        holder: what this process is, for messages.
        where: what is locked, as in `at work in this folder`.

    Raises:
        UserError: if another process holds the lock.
    """
    handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        _lock(handle)
    except BlockingIOError as error:
        other = os.read(handle, 1000).decode()
        os.close(handle)
        raise UserError(
            f"another {holder} ({other}) is {where}; wait for its end or stop it, then run again"
        ) from error
    os.ftruncate(handle, 0)
    os.write(handle, f"process {os.getpid()} on {socket.gethostname()}".encode())


def _locked(folder: Path, patience: float, tell: Callable[[], None]) -> int:
    """Open and lock the file of a folder; `BlockingIOError` if another holds it for too long."""
    until = time.monotonic() + patience
    told = False
    while True:
        handle = os.open(lock_of(folder), os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(handle)
            if _is_at(lock_of(folder), handle):
                return handle
        except BlockingIOError:
            if time.monotonic() >= until:
                os.close(handle)
                raise
            if not told:
                tell()
                told = True
            time.sleep(1)
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _lock(handle: int) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise


def _release(folder: Path, handle: int) -> None:
    lock_of(folder).unlink(missing_ok=True)
    os.close(handle)


def _is_at(file: Path, handle: int) -> bool:
    """Whether an open file is the one of this name, which whoever held the lock removes."""
    try:
        return os.path.samestat(file.stat(), os.fstat(handle))
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ESTALE):
            raise
        return False
