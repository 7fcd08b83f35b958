"""CTranslate2, with a model that `nat.export.ctranslate2` wrote."""

import ctypes
import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from ctranslate2 import Device, Encoder, StorageView, Translator, get_cuda_device_count
from torch import Tensor

from nat.checksums import remedy, verified_folder
from nat.data.vocabulary import SIDES
from nat.errors import UserError
from nat.files import read_json
from nat.transformer.linear import has_bfloat16_products

PROJECTION = "projection.npy"
"""In the folder of a model that is an encoder."""

CUBLAS = "libcublas.so.12"
"""The library that the package from PyPI loads on a GPU; PyTorch may bring another version."""

_OUT_OF_MEMORY = "out of memory"


class SearchEngine:
    """A converted model in CTranslate2, with as many threads as PyTorch uses.

    On a processor, each thread translates a part of a batch on its own, as most products of
    matrices in a search are too small to be shared.

    Args:
        folder: written by `nat.export.ctranslate2`.
        precision: of the weights.
        device: `cpu` or `cuda`.
        alone: sentences come one at a time, so all threads work on each.

    Attributes:
        translator: the engine's own object.
        parts: how many parts of a batch are translated in parallel.
        source_symbols: of the source vocabulary, in the order of their ids.
        symbols: of the target vocabulary, likewise.

    Raises:
        UserError: if the folder is missing or damaged.
    """

    def __init__(
        self, folder: Path, precision: str, device: str = "cpu", *, alone: bool = False
    ) -> None:
        verified_folder(folder)
        own = folder_of(folder, precision)
        source, target = (own / f"{side}_vocabulary.json" for side in SIDES)
        if not source.exists():
            source = target = own / "shared_vocabulary.json"
        self.source_symbols: list[str] = read_json(source)
        self.symbols: list[str] = read_json(target)
        self._ids = {symbol: number for number, symbol in enumerate(self.symbols)}
        self.parts = 1 if alone or device != "cpu" else torch.get_num_threads()
        self.translator = opened(Translator, folder, precision, device, self.parts)

    def words(self, tokens: list[int]) -> list[str]:
        """Source symbols of ids."""
        return [self.source_symbols[token] for token in tokens]

    def ids(self, words: list[str]) -> list[int]:
        """Ids of target symbols."""
        return [self._ids[word] for word in words]


class EncoderEngine:
    """A converted encoder in CTranslate2, with as many threads as PyTorch uses.

    Args:
        folder: written by `nat.export.ctranslate2`.
        precision: of the weights.
        device: `cpu` or `cuda`.

    Attributes:
        source_symbols: of the source vocabulary, in the order of their ids.
        symbols: of the target vocabulary, likewise.
        projection: [V, D], on the processor.

    Raises:
        UserError: if the folder is missing or damaged.
    """

    def __init__(self, folder: Path, precision: str, device: str = "cpu") -> None:
        verified_folder(folder)
        self.source_symbols: list[str] = read_json(folder_of(folder, precision) / "vocabulary.json")
        self.symbols: list[str] = read_json(folder / "labels.json")
        self.projection = torch.from_numpy(np.load(folder / PROJECTION))
        if precision == "int8" and has_bfloat16_products(torch.device("cpu")):
            self.projection = self.projection.bfloat16()
        self._encoder = opened(Encoder, folder, precision, device)

    def states(self, frames: Tensor, lengths: Tensor) -> Tensor:
        """Last states of ids [B, T] of which the first `lengths` [B] count, [B, T, D].

        Raises:
            torch.OutOfMemoryError: if the batch does not fit the memory of a GPU.
        """
        given = (
            StorageView.from_array(np.ascontiguousarray(ids.cpu().numpy(), dtype=np.int32))
            for ids in (frames, lengths)
        )
        with noting_out_of_memory():
            last = self._encoder.forward_batch(*given).last_hidden_state.to_device(Device.cpu)
        return torch.from_numpy(np.array(last))


def folder_of(folder: Path, precision: str) -> Path:
    """The folder of a converted model that is opened at a precision."""
    return folder / ("int8" if precision == "int8" else "float32")


def opened(kind: Any, folder: Path, precision: str, device: str, parts: int = 1) -> Any:
    """A converted model, of a class of the engine's Python package, with PyTorch's threads.

    So many parts of a batch can be translated in parallel; each has its share of the threads.

    Raises:
        UserError: if the files are not those of such a model, or for float16 on a processor.
    """
    if precision == "float16" and device == "cpu":
        raise UserError(
            "CTranslate2 has float16 on GPUs only, and finds none with cuBLAS 12; translate "
            "with a decoding in float32 or int8"
        )
    # else its products of matrices take the threads that Snakemake writes there: all of the job
    os.environ.pop("MKL_NUM_THREADS", None)
    own = folder_of(folder, precision)
    try:
        return kind(
            str(own),
            device=device,
            compute_type=precision,
            inter_threads=parts,
            intra_threads=torch.get_num_threads() // parts,
        )
    except (RuntimeError, ValueError) as error:
        raise UserError(
            f"CTranslate2 cannot open {own} ({error}); {remedy(own / 'model.bin')}"
        ) from error


@contextmanager
def noting_out_of_memory() -> Iterator[None]:
    """Use the engine on a GPU, and raise PyTorch's error if a batch does not fit its memory.

    Raises:
        torch.OutOfMemoryError: see above.
    """
    try:
        yield
    except RuntimeError as error:
        if _OUT_OF_MEMORY in str(error):
            raise torch.OutOfMemoryError(str(error)) from error
        raise


def runs_on_gpu() -> bool:
    """Return True if the engine finds a GPU and the library of NVIDIA that it needs there."""
    return bool(get_cuda_device_count()) and loads_cublas()


def loads_cublas() -> bool:
    """Load the library, from its package or the system; whether it is there.

    The engine asks for it by its name alone, and gets the one that is loaded.
    """
    packages = importlib.util.find_spec("nvidia")  # a folder of many packages, each with some
    folders = [] if packages is None else packages.submodule_search_locations or []
    for path in [*(f"{folder}/cublas/lib/{CUBLAS}" for folder in folders), CUBLAS]:
        try:
            ctypes.CDLL(path)
        except OSError:
            continue
        return True
    return False
