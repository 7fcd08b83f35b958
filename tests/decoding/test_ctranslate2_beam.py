"""Beam search of CTranslate2 against our own, on random models."""

import _bisect
import math
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from nat.configuration.runnable import cannot_translate
from nat.data.batch import source_tensor
from nat.data.vocabulary import EOS, NEVER_WRITTEN
from nat.decoding.beam_search import BeamSearch
from nat.decoding.ctranslate2_beam import CTranslate2Beam
from nat.decoding.engines import ctranslate2
from nat.decoding.engines.ctranslate2 import loads_cublas
from nat.decoding.forced import forced_tokens
from tests.decoding.test_decode_corpus import CONFIGURATION, engine, must_agree, texts
from tests.messages import told
from tests.repository import configured
from tests.tiny import make_model

ROOMY = {"longest_ratio": 0.0, "longest_margin": 30}
"""A limit that does not depend on the source."""


@pytest.fixture
def model() -> Any:
    """A model that ends most sentences; what is never written has next to no probability."""
    made = make_model(dtype=torch.float32, pre_norm=True)
    with torch.no_grad():
        # the first number of every state is 1
        made.decoder_norm.weight[0], made.decoder_norm.bias[0] = 0, 1
        for token in NEVER_WRITTEN:
            made.embedding.weight[token] = 0
            made.embedding.weight[token, 0] = -12
        made.embedding.weight[EOS, 0] = 1
    return made


@pytest.mark.parametrize("length_penalty", [0.0, 1.0])
@pytest.mark.parametrize("beam", [1, 5])
def test_translations_are_those_of_our_search(model: Any, beam: int, length_penalty: float) -> None:
    source = source_tensor(texts([3, 9, 1, 12, 30, 7, 2, 4, 6, 8, 10, 5]))
    options: dict[str, Any] = {"beam": beam, "length_penalty": length_penalty, **ROOMY}
    ours = BeamSearch(**options)(model, source)
    its = CTranslate2Beam(**options)(model, source, engine(model, "float32"))
    # our search ends a sentence at the limit, the engine does not
    ended = [pair for pair in zip(its, ours, strict=True) if len(pair[1].tokens) < 30]
    assert len(ended) > 9
    if beam > 1 and length_penalty:
        assert all(each.tokens for _, each in ended)
    must_agree(*zip(*ended, strict=True), 1e-3)


def test_symbols_that_are_never_written_are_suppressed() -> None:
    model = make_model(dtype=torch.float32)
    with torch.no_grad():
        model.embedding.weight[4] *= 4  # MASK
    source = source_tensor(texts([3, 9, 1, 12]))
    written = CTranslate2Beam(beam=3)(model, source, engine(model, "float32"))
    encoded = model.encode(source)
    scores = forced_tokens(model, encoded, [each.tokens for each in written]).sum(1)
    for one, score in zip(written, scores.tolist(), strict=True):
        assert not set(one.tokens) & set(NEVER_WRITTEN)
        length = len(one.tokens) + 1
        assert one.score * length > score - 1e-3  # what is suppressed has no share


def test_a_translation_is_no_longer_than_its_source_allows() -> None:
    model = make_model(dtype=torch.float32)
    method = CTranslate2Beam(beam=2, longest_ratio=1.5, longest_margin=2)
    written = method(model, source_tensor(texts([2, 4, 9])), engine(model, "float32"))
    limits = [5, 8, 15]
    lengths = [len(each.tokens) for each in written]
    assert all(map(int.__le__, lengths, limits)) and any(map(int.__eq__, lengths, limits))
    assert all(math.isfinite(each.score) for each in written)


def test_float16_needs_a_gpu(model: Any) -> None:
    with told("float16", "float32", "int8"):
        engine(model, "float16")
    on_demo = cannot_translate(CONFIGURATION, "ctranslate2-float16-beam5")
    assert on_demo == "not run: float16 needs a GPU, and jobs of scale demo ask for none"
    assert not cannot_translate(CONFIGURATION, "ctranslate2-int8-beam5")
    assert not cannot_translate(configured("paper"), "ctranslate2-float16-beam5")


def test_cublas_is_found_in_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctranslate2, "CUBLAS", "libof-no-system.so.12")
    assert not loads_cublas()
    library = tmp_path / "nvidia/cublas/lib/libof-no-system.so.12"
    library.parent.mkdir(parents=True)
    shutil.copy(_bisect.__file__, library)  # any shared library
    monkeypatch.syspath_prepend(tmp_path)
    assert loads_cublas()


@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_threads_share_a_batch_or_a_sentence(model: Any, precision: str, threads: int) -> None:
    source = source_tensor(texts([3, 9, 1, 12, 30, 7, 2]))
    method = CTranslate2Beam(beam=3, **ROOMY)
    before = torch.get_num_threads()
    expected = method(model, source, engine(model, precision))
    try:
        torch.set_num_threads(threads)
        shared, alone = engine(model, precision), engine(model, precision, alone=True)
    finally:
        torch.set_num_threads(before)
    assert (shared.parts, alone.parts) == (threads, 1)
    assert shared.model.num_translators == threads
    for each in (shared, alone):
        must_agree(method(model, source, each), expected, 1e-3)
    assert method(model, source[:1], shared)[0].tokens == expected[0].tokens
