"""Failures of engines, which raise errors of many kinds for files that are damaged."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from nat.checksums import is_of_memory, remedy
from nat.errors import UserError


@contextmanager
def running(engine: str, folder: Path) -> Iterator[None]:
    """Open a converted model, or compute with it, and say so if the engine cannot.

    Raises:
        torch.OutOfMemoryError: if a batch does not fit the memory of a GPU.
        UserError: for any other error of the engine.
    """
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        if is_of_memory(error):
            raise torch.OutOfMemoryError(str(error)) from error
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise UserError(f"{engine} cannot run {folder} ({reason}); {remedy(folder)}") from error
