"""Arrays of numpy in files; one that cannot be read is told with how it is made again."""

from pathlib import Path

import numpy as np

from nat.checksums import reading


def read_arrays(path: Path | str) -> dict[str, np.ndarray]:
    """The arrays of a file `.npz`, by names; raises as `reading`."""
    with reading(path), np.load(path, allow_pickle=False) as arrays:
        return dict(arrays)


def mapped_array(path: Path | str) -> np.ndarray:
    """The array of a file `.npy` as a memory map; raises as `reading`."""
    with reading(path):
        return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
