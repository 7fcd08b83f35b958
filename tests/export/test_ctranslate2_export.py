"""Models of CTranslate2: equal probabilities, whatever the architecture."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from ctranslate2 import Translator

from nat.data.batch import source_tensor
from nat.data.vocabulary import UNK
from nat.decoding.forced import forced_tokens
from nat.export.ctranslate2 import quantise, specification
from nat.export.formats import convert
from tests.decoding.test_decode_corpus import VOCABULARIES, texts
from tests.tiny import make_model


@pytest.mark.parametrize(
    "architecture",
    [
        {},
        {"pre_norm": True, "activation": "gelu"},
        {"positions": "learned", "scale_embeddings": False},
        {"positions": "learned_apart"},
        {"encoder_layers": 3, "decoder_layers": 1, "pre_norm": True},
    ],
)
def test_scores_are_those_of_the_model(tmp_path: Path, architecture: dict[str, Any]) -> None:
    model, words = make_model(dtype=torch.float32, **architecture), VOCABULARIES.target.symbols
    sources = [text.tolist() for text in texts([3, 9, 1, 30])]
    targets = [text.tolist() for text in texts([5, 7, 0, 20])]
    sources[0][1] = targets[0][2] = UNK
    convert("ctranslate2", model, VOCABULARIES, tmp_path / "made")
    translator = Translator(str(tmp_path / "made/float32"), compute_type="float32", intra_threads=1)
    written = translator.score_batch(
        *([[words[token] for token in text] for text in side] for side in (sources, targets))
    )
    expected = forced_tokens(model, model.encode(source_tensor(sources)), targets).sum(1)
    for one, score in zip(written, expected.tolist(), strict=True):
        assert sum(one.log_probs) == pytest.approx(score, abs=1e-3)
        assert len(one.log_probs) == len(one.tokens)  # with EOS


def test_weights_in_int8_are_the_same_on_all_processors() -> None:
    model = make_model(dtype=torch.float32)
    with torch.no_grad():
        model.encoder_layers[0].feed_forward.inner.weight[3] = 0
    exact, rounded = (specification(model, VOCABULARIES) for _ in range(2))
    quantise(rounded)
    expected, written = exact.variables(), rounded.variables()
    scaled = [name for name in expected if isinstance(written.get(f"{name}_scale"), np.ndarray)]
    assert len(scaled) == 3 + 4 * 2 + 7 * 2  # matrices of 2 + 2 layers, embeddings, projection
    for name in scaled:
        scale = written[f"{name}_scale"][:, None]
        assert written[name].dtype == np.int8
        # pairs of products with inputs of 8 bits fit in the 16 bits of processors without VNNI
        assert np.abs(written[name].astype(int)).max() * 255 * 2 < 2**15
        assert np.abs(written[name] / scale - expected[name]).max() <= 0.501 / scale.min()
