"""CTranslate2, with a model that `nat.export.ctranslate2` wrote."""

import ctypes
import importlib.util
import os
from pathlib import Path
from typing import Any

import numpy as np
import torch
from ctranslate2 import Device, Encoder, StorageView, Translator, get_cuda_device_count
from torch import Tensor

from nat.checksums import verified_folder
from nat.data.vocabulary import SIDES
from nat.decoding.engines import PROJECTION, running
from nat.errors import UserError
from nat.files import read_json
from nat.transformer.linear import has_bfloat16_products

CUBLAS = "libcublas.so.12"
"""The library that the package from PyPI loads on a GPU; PyTorch may bring another version."""


class CTranslate2Engine:
    """A converted model in CTranslate2, with as many threads as PyTorch uses.

    It runs on a processor where the engine finds no GPU. There, each thread translates a part of a
    batch on its own, as most products of matrices in a search are too small to be shared; all of
    them work on sentences that come `alone`, and on frames.

    Attributes:
        model: the engine's own object, a `Translator`, or an `Encoder` of frames.
        parts: how many parts of a batch are translated in parallel.
        source_symbols: of a translator, in the order of their ids.
        ids: of the symbols of its target.
        projection: of the states of an encoder, [V, D], on the processor.
    """

    def __init__(
        self, folder: Path, precision: str, device: torch.device, alone: bool = False
    ) -> None:
        verified_folder(folder)
        on_gpu = device.type == "cuda" and runs_on_gpu()
        if precision == "float16" and not on_gpu:
            raise UserError(
                "CTranslate2 has float16 on GPUs only, and finds none with cuBLAS 12; translate "
                "with a decoding in float32 or int8"
            )
        # else its products of matrices take the threads that Snakemake writes there: all of the job
        os.environ.pop("MKL_NUM_THREADS", None)
        encodes, threads = (folder / PROJECTION).exists(), torch.get_num_threads()
        own = folder / ("int8" if precision == "int8" else "float32")
        if not encodes:
            source, target = (own / f"{side}_vocabulary.json" for side in SIDES)
            if not source.exists():
                source = target = own / "shared_vocabulary.json"
            self.source_symbols: list[str] = read_json(source)
            self.ids = {symbol: number for number, symbol in enumerate(read_json(target))}
        self.folder, self.parts = folder, 1 if encodes or alone or on_gpu else threads
        with running(folder):
            self.model: Any = (Encoder if encodes else Translator)(
                str(own),
                device="cuda" if on_gpu else "cpu",
                compute_type=precision,
                inter_threads=self.parts,
                intra_threads=threads // self.parts,
            )
            if encodes:
                self.projection = torch.from_numpy(np.load(folder / PROJECTION, allow_pickle=False))
        if encodes and precision == "int8" and has_bfloat16_products(torch.device("cpu")):
            self.projection = self.projection.bfloat16()

    def states(self, frames: Tensor, lengths: Tensor) -> Tensor:
        """Last states of ids [B, T] of which the first `lengths` [B] count, [B, T, D].

        Raises:
            torch.OutOfMemoryError: if the batch does not fit the memory of a GPU.
        """
        given = (
            StorageView.from_array(np.ascontiguousarray(ids.cpu().numpy(), dtype=np.int32))
            for ids in (frames, lengths)
        )
        with running(self.folder):
            last = self.model.forward_batch(*given).last_hidden_state.to_device(Device.cpu)
        return torch.from_numpy(np.array(last))


ENGINE = CTranslate2Engine


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
