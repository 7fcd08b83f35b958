"""Models of CTranslate2: equal probabilities, whatever the architecture."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from ctranslate2 import Translator
from test_decode_corpus import VOCABULARIES, texts

from nat.data.batch import source_tensor
from nat.data.vocabulary import UNK
from nat.decoding.forced import forced_scores
from nat.errors import UserError
from nat.export.ctranslate2 import write_ctranslate2


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
def test_scores_are_those_of_the_model(
    make_model: Callable[..., Any], tmp_path: Path, architecture: dict[str, Any]
) -> None:
    model, words = make_model(dtype=torch.float32, **architecture), VOCABULARIES.target.symbols
    sources = [text.tolist() for text in texts([3, 9, 1, 30])]
    targets = [text.tolist() for text in texts([5, 7, 0, 20])]
    sources[0][1] = targets[0][2] = UNK
    write_ctranslate2(model, VOCABULARIES, tmp_path / "made")
    translator = Translator(str(tmp_path / "made"), compute_type="float32", intra_threads=1)
    found = translator.score_batch(
        *([[words[token] for token in text] for text in side] for side in (sources, targets))
    )
    expected = forced_scores(model, model.encode(source_tensor(sources)), targets)
    for one, score in zip(found, expected.tolist(), strict=True):
        assert sum(one.log_probs) == pytest.approx(score, abs=1e-3)
        assert len(one.log_probs) == len(one.tokens)  # with EOS


@pytest.mark.parametrize(
    "changed", [{"decoder": {"causal_attention": True}}, {"latent": {"dim": 3}}]
)
def test_a_model_that_the_engine_cannot_run_is_refused(
    make_model: Callable[..., Any], tmp_path: Path, changed: dict[str, Any]
) -> None:
    with pytest.raises(UserError, match="keys 'decoder' and 'latent'"):
        write_ctranslate2(make_model(**changed), VOCABULARIES, tmp_path / "made")
    assert not (tmp_path / "made").exists()
