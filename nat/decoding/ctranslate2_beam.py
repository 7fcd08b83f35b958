"""Beam search of CTranslate2, on a model that was converted for it."""

import ctypes
import importlib.util
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from ctranslate2 import Translator, get_cuda_device_count
from torch import Tensor

from nat.checksums import remedy, verified_folder
from nat.data.vocabulary import EOS, NEVER_WRITTEN, PAD, SIDES
from nat.decoding.beams import LeftToRightSearch
from nat.decoding.hypothesis import Hypothesis
from nat.decoding.options import Ctranslate2BeamOptions
from nat.errors import UserError
from nat.files import read_json
from nat.transformer.model import Transformer

CUBLAS = "libcublas.so.12"
"""What the package from PyPI loads on a GPU; PyTorch may bring another version."""

_OUT_OF_MEMORY = "out of memory"


class Engine:
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


class CTranslate2Beam(LeftToRightSearch, Ctranslate2BeamOptions):
    """Beam search of CTranslate2, with the options and the score of `nat.decoding.beams.Beams`.

    There are two differences. The engine removes the symbols that are never written before the
    softmax, not after it, so its probabilities are higher by their share. And it stops at the
    maximal length without an EOS: of the hypotheses that it then has, the best that ended is
    returned, or the best one if none has. The steps of a hypothesis, which the engine does not
    tell, are counted as one for each token and its EOS.
    """

    def __call__(self, model: Transformer, source: Tensor, engine: Engine) -> list[Hypothesis]:
        """Translate source sentences [B, S] (tokens, EOS, padding on the right).

        Args:
            model: only its positions are used: they limit the length of a translation.
            source: the sentences.
            engine: with the converted model.

        Raises:
            torch.OutOfMemoryError: if the batch does not fit the memory of a GPU.
        """
        lengths = source.ne(PAD).sum(1) - 1
        limits = self.longest(lengths).clamp(max=model.longest_target).tolist()
        sentences = [
            engine.words([token for token in row if token not in (PAD, EOS)])
            for row in source.tolist()
        ]
        results = self._search(engine, sentences, max(limits))
        # The engine has one limit for a batch: those that went beyond their own are done again.
        beyond: dict[int, list[int]] = {}
        for row, (result, limit) in enumerate(zip(results, limits, strict=True)):
            if limit < max(limits) and max(map(len, result.hypotheses)) > limit:
                beyond.setdefault(limit, []).append(row)
        for limit, rows in beyond.items():
            again = self._search(engine, [sentences[row] for row in rows], limit)
            for row, result in zip(rows, again, strict=True):
                results[row] = result
        return [
            self._best(engine, result, limit) for result, limit in zip(results, limits, strict=True)
        ]

    def _search(self, engine: Engine, sentences: list[list[str]], limit: int) -> list[Any]:
        """Results of sentences whose translations have at most `limit` tokens and an EOS."""
        with noting_out_of_memory():
            found: list[Any] = engine.translator.translate_batch(
                sentences,
                max_batch_size=math.ceil(len(sentences) / engine.parts),
                beam_size=self.beam,
                num_hypotheses=self.beam,
                length_penalty=self.length_penalty,
                suppress_sequences=[
                    [engine.symbols[token]] for token in NEVER_WRITTEN if token != EOS
                ],
                max_input_length=0,
                min_decoding_length=0,
                max_decoding_length=limit + 1,
                return_end_token=True,
                return_scores=True,
            )
        return found

    def _best(self, engine: Engine, result: Any, limit: int) -> Hypothesis:
        """The best hypothesis that ended."""
        found = [engine.ids(words) for words in result.hypotheses]
        best = next((row for row, tokens in enumerate(found) if tokens[-1:] == [EOS]), 0)
        tokens = found[best]
        tokens = tokens[:-1] if tokens[-1:] == [EOS] else tokens[:limit]
        return Hypothesis(tokens, float(result.scores[best]), len(tokens) + 1)


def runs_on_gpu() -> bool:
    """Whether the engine finds a GPU and the library of NVIDIA that it needs there."""
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


METHOD = CTranslate2Beam
