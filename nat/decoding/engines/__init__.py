"""Engines other than PyTorch that run a converted model, a module for each."""

import importlib
from pathlib import Path
from typing import Any, Protocol

import torch

from nat.extras import extras_named

PROJECTION = "projection.npy"
"""The output layer of an encoder in CTranslate2, in the folder of the model."""

BLANK_PENALTY = "blank_penalty"
"""An input of a decoder's graph in ONNX if the canvas is upsampled."""


class Engine(Protocol):
    """A converted model, with its vocabularies in the order of their ids."""

    source_symbols: list[str]
    symbols: list[str]


def engine_module(name: str) -> Any:
    """The module of an engine, whose package is an extra."""
    with extras_named():
        return importlib.import_module(f"{__name__}.{name}")


def opened(folder: Path, precision: str, device: torch.device, *, alone: bool = False) -> Engine:
    """Open a converted model, in a folder of the engine's name.

    ONNX Runtime always runs on a processor, CTranslate2 where it finds no GPU. If sentences come
    `alone`, one at a time, all threads work on each.

    Raises:
        UserError: if the folder is missing or damaged.
    """
    engine: Engine = engine_module(folder.name).opened(folder, precision, device, alone)
    return engine
