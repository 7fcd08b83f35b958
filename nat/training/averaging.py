"""The weights that a training keeps, and their mean."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import torch
from torch import Tensor

from nat.checksums import remedy
from nat.errors import UserError
from nat.training.model_file import reading, write_tensors

_NAME = re.compile(r"weights_(\d+)\.pt")


def weights_path(folder: Path, update: int) -> Path:
    """Path of the weights after `update` updates."""
    return folder / f"weights_{update}.pt"


def kept_path(folder: Path, update: int) -> Path:
    """Path of the weights after `update` updates that other systems start from."""
    return folder / f"kept_{update}.pt"


def save_weights(path: Path, weights: dict[str, Tensor]) -> None:
    """Write weights atomically."""
    write_tensors(path, {name: value.detach().cpu() for name, value in weights.items()})


def remove_weights_except(folder: Path, updates: Iterable[int]) -> None:
    """Remove the weights of all other updates."""
    kept = set(updates)
    for path in folder.glob("weights_*.pt"):
        found = _NAME.fullmatch(path.name)
        if found is not None and int(found[1]) not in kept:
            path.unlink(missing_ok=True)


def average(paths: Sequence[Path]) -> dict[str, Tensor]:
    """The mean of each weight over several files, summed in float64, in the weights' own type.

    Raises:
        UserError: as `reading`, and if the files do not contain the same weights.
    """
    sums: dict[str, Tensor] = {}
    types: dict[str, torch.dtype] = {}
    for path in paths:
        with reading(path):
            weights = torch.load(path, map_location="cpu", weights_only=True)
        if not sums:
            types = {name: value.dtype for name, value in weights.items()}
            sums = {name: value.double() for name, value in weights.items()}
        elif weights.keys() != sums.keys():
            raise UserError(f"{path} holds other weights than {paths[0]}; {remedy(path)}")
        else:
            for name, value in weights.items():
                sums[name] += value
    return {name: (value / len(paths)).to(types[name]) for name, value in sums.items()}
