"""Arrays of numpy in files; a file that cannot be read is told with how it is made again."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tokenize import TokenError

import numpy as np

from nat.checksums import check_memory, remedy, unreadable, verified
from nat.data.archive import DAMAGED
from nat.errors import UserError


def read_arrays(path: Path | str) -> dict[str, np.ndarray]:
    """The arrays of a file `.npz`, by names; a `UserError` if it is damaged or too large."""
    with _read(path), np.load(verified(path), allow_pickle=False) as arrays:
        return dict(arrays)


def mapped_array(path: Path | str) -> np.ndarray:
    """The array of a file `.npy` as a memory map; raises as `read_arrays`."""
    with _read(path):
        return np.asarray(np.load(verified(path), mmap_mode="r", allow_pickle=False))


@contextmanager
def _read(path: Path | str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise unreadable(path, error) from error
    except (*DAMAGED, MemoryError, RuntimeError, SyntaxError, TokenError, TypeError) as error:
        # the last ones of a member that seems to be encrypted, of the header of an array, and of
        # one array in place of several; numpy's own words advise to load what may do harm
        check_memory(path, error)
        raise UserError(f"{path} is damaged, or holds no arrays; {remedy(path)}") from error
