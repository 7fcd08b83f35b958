"""A CTC model without a decoder: frames of source tokens, seen by one stack, here and elsewhere."""

import json
from typing import Any

import pytest
import torch

from nat.data.batch import source_tensor
from nat.data.vocabulary import MASK, PAD
from nat.decoding.ctc import CtcDecoding
from nat.decoding.ctranslate2_ctc import CTranslate2Ctc
from tests.decoding.test_decode_corpus import engine, must_agree, texts
from tests.tiny import make_model

SINGLE: dict[str, Any] = {"decoder_layers": 0, "decoder": {"copy": "repeated", "upsample": 3.0}}
SOURCE = source_tensor(texts([3, 9, 1, 12, 5, 0, 11]))


def frames_of(model: Any, source: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Last states of the frames [B, T, D], and padding [B, T]."""
    encoded = model.encode(source)
    padding = model.upsampled_padding(encoded)
    canvas = torch.where(padding, PAD, MASK)
    return model.decode(canvas, padding, encoded, causal=False), padding


def test_frames_see_the_whole_source_and_nothing_else() -> None:
    model = make_model(**SINGLE)
    states, padding = frames_of(model, SOURCE)
    changed = SOURCE.clone()
    changed[1, 8] = 7 if changed[1, 8] != 7 else 8
    different = (frames_of(model, changed)[0] - states).abs().amax(2) > 1e-9
    assert different[1][~padding[1]].all() and not different[0].any()


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"pre_norm": True, "activation": "gelu"},
        {"positions": "learned_apart", "scale_embeddings": False},
        {"decoder": {"copy": "repeated", "upsample": 1.5, "count_source_end": True}},
    ],
    ids=lambda changed: json.dumps(changed),
)
def test_ctranslate2_computes_the_same(changed: dict[str, Any]) -> None:
    model = make_model(dtype=torch.float32, **{**SINGLE, **changed})
    opened = engine(model, "float32")
    for penalty in (0.0, -1.0):  # untrained models rarely prefer blank
        method = CTranslate2Ctc(blank_penalty=penalty)
        ours = CtcDecoding(blank_penalty=penalty)(model, SOURCE)
        must_agree(method(model, SOURCE, opened), ours, 1e-3)
    its, ours = CTranslate2Ctc()(model, SOURCE, opened), CtcDecoding()(model, SOURCE)
    rounded = CTranslate2Ctc(precision="int8")(model, SOURCE, engine(model, "int8"))
    for one, other in zip(rounded, ours, strict=True):
        assert one.score == pytest.approx(other.score, abs=0.1)
    assert any(one.score != other.score for one, other in zip(rounded, its, strict=True))
