"""Engines other than PyTorch that run a converted model: a module for each, with its `ENGINE`."""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from nat.checksums import is_of_memory, remedy
from nat.errors import UserError
from nat.extras import extras_named

PROJECTION = "projection.npy"
"""The output layer of an encoder in CTranslate2, in the folder of the model."""

BLANK_PENALTY = "blank_penalty"
"""An input of a decoder's graph in ONNX if the canvas is upsampled."""


def engine_module(name: str) -> Any:
    """The module of an engine, whose package is an extra."""
    with extras_named():
        return importlib.import_module(f"{__name__}.{name}")


@contextmanager
def running(folder: Path) -> Iterator[None]:
    """Open a converted model, or compute with it, and say so if the engine cannot.

    Raises:
        torch.OutOfMemoryError: if a batch does not fit the memory of a GPU.
        UserError: for any other error of the engine.
    """
    try:
        yield
    except Exception as error:
        if is_of_memory(error):
            raise torch.OutOfMemoryError(str(error)) from error
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise UserError(f"its engine cannot run {folder} ({reason}); {remedy(folder)}") from error
