"""Prefix beam search, compared with a search through everything."""

import itertools
import math
from collections import defaultdict
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from nat.data.batch import source_tensor
from nat.data.vocabulary import BLANK, BOS, EOS, MASK, PAD, UNK
from nat.decoding.ctc import Ctc
from nat.decoding.ctc_beam import CtcBeam
from nat.decoding.prefixes import Prefixes
from nat.errors import UserError
from nat.language_model.ngram import estimate
from nat.language_model.scorer import LanguageModel, LanguageModelOptions
from nat.registry import build

SYMBOLS = 8
WRITTEN = (UNK, 6, 7)


class Frames:
    """Stands for a model of given logits, [B, T, 8]; the embedding is the identity."""

    def __init__(self, logits: Tensor, lengths: list[int]) -> None:
        self.padding = torch.arange(logits.size(1)) >= torch.tensor(lengths)[:, None]
        self.logits = logits.masked_fill(self.padding[:, :, None], torch.nan)
        self.embedding = SimpleNamespace(weight=torch.eye(SYMBOLS, dtype=logits.dtype))

    def encode(self, source: Tensor) -> None:
        return None

    def upsampled_padding(self, encoded: Any) -> Tensor:
        return self.padding

    def decode(self, tokens: Tensor, padding: Tensor, encoded: Any, causal: bool) -> Tensor:
        assert tokens.masked_select(~padding).eq(MASK).all() and not causal
        return self.logits


def frames(lengths: list[int], seed: int = 0, scale: float = 1.0) -> Any:
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(
        len(lengths), max(lengths), SYMBOLS, generator=generator, dtype=torch.float64
    )
    return Frames(scale * logits, lengths)


@pytest.fixture(scope="module")
def language_model() -> LanguageModel:
    sentences = [[6, 7, 7], [7], [], [6, 6, UNK], [7, 6, 7, 6], [7, 7], [6, 7, 7]]
    tokens = np.array([word for sentence in sentences for word in sentence])
    lengths = np.array([len(sentence) for sentence in sentences])
    return LanguageModel(estimate(tokens, lengths, SYMBOLS, 3)[0])


def options(weight: float | None) -> LanguageModelOptions | None:
    return None if weight is None else LanguageModelOptions("at-base", 3, weight)


def likelihoods(logits: Tensor) -> dict[tuple[int, ...], float]:
    """Probability of each translation, from the definition: the sum over its alignments."""
    probabilities = logits.softmax(1).tolist()
    found: dict[tuple[int, ...], float] = defaultdict(float)
    for labels in itertools.product((BLANK, *WRITTEN), repeat=len(logits)):
        merged = [label for label, _ in itertools.groupby(labels)]
        weight = math.prod(row[label] for row, label in zip(probabilities, labels, strict=True))
        found[tuple(label for label in merged if label != BLANK)] += weight
    return found


@pytest.mark.parametrize("weight", [None, 0.4, 3.0])
@pytest.mark.parametrize("bonus", [0.0, 2.2, -1.0])
@pytest.mark.parametrize("kind", ["tokens", "log_tokens"])
def test_the_best_of_all_translations_is_found(
    language_model: LanguageModel, weight: float | None, bonus: float, kind: Any
) -> None:
    lengths = [4, 1, 3]
    consulted = None if weight is None else language_model
    for seed in range(3):
        model = frames(lengths, seed, scale=1.0 + seed)
        decoding = CtcBeam(130, 10, options(weight), bonus, kind)
        found = decoding(model, source_tensor([[6]] * 3), consulted)
        for row, length in enumerate(lengths):
            scored = {
                tokens: math.log(probability)
                + (weight or 0) * language_model.score(tokens)
                + bonus * (len(tokens) if kind == "tokens" else math.log(max(1, len(tokens))))
                for tokens, probability in likelihoods(model.logits[row, :length]).items()
            }
            best = max(scored, key=lambda tokens: scored[tokens])
            assert tuple(found[row].tokens) == best
            assert found[row].score == pytest.approx(scored[best], abs=1e-5)
            assert found[row].steps == 1


def test_what_a_frame_may_not_begin_it_may_still_repeat() -> None:
    # one symbol per frame: 6, then 7; what 6 has in the second frame belongs to [6] all the same,
    # with or without a blank before it
    logits = torch.full((1, 2, SYMBOLS), -30.0, dtype=torch.float64)
    logits[0, 0, [6, BLANK]] = torch.tensor([0.6, 0.4], dtype=torch.float64).log()
    logits[0, 1, [7, 6, BLANK]] = torch.tensor([0.4, 0.35, 0.25], dtype=torch.float64).log()
    (found,) = CtcBeam(9, 1)(Frames(logits, [2]), source_tensor([[6]]))  # type: ignore[arg-type]
    assert found.tokens == [6]
    assert math.exp(found.score) == pytest.approx(0.6 * 0.35 + 0.6 * 0.25 + 0.4 * 0.35, abs=1e-6)


def test_special_symbols_are_never_written_but_keep_their_probability() -> None:
    model = frames([4])
    for special in (PAD, BOS, EOS, MASK):
        model.logits[..., special] = 9.0
    found = likelihoods(model.logits[0])
    best = max(found, key=lambda tokens: found[tokens])
    (hypothesis,) = CtcBeam(300, 99)(model, source_tensor([[6]]))
    assert tuple(hypothesis.tokens) == best
    assert hypothesis.score == pytest.approx(math.log(found[best]))


def test_a_certain_silence_is_an_empty_translation(language_model: LanguageModel) -> None:
    logits = torch.zeros(2, 3, SYMBOLS)
    logits[:, :, BLANK] = 40.0
    decoding = CtcBeam(3, 2, options(0.4), 2.2)
    for found in decoding(Frames(logits, [3, 2]), source_tensor([[6]] * 2), language_model):  # type: ignore[arg-type]
        assert found.tokens == []
        assert found.score == pytest.approx(0.4 * language_model.score([]), abs=1e-4)


def test_a_small_beam_keeps_the_best_prefixes(language_model: LanguageModel) -> None:
    model, source = frames([6] * 4, 5, 2.0), source_tensor([[6]] * 4)

    def total(beam: int) -> float:
        decoding = CtcBeam(beam, 3, options(0.4), 2.2)
        return sum(found.score for found in decoding(model, source, language_model))

    exact = total(500)
    assert total(1) < total(8) <= exact + 1e-9
    assert total(8) == pytest.approx(exact, abs=1.0)
    likely = likelihoods(model.logits[0])
    (alone, *_), (greedy, *_) = CtcBeam(30, 3)(model, source), Ctc()(model, source)
    assert likely[tuple(alone.tokens)] > likely[tuple(greedy.tokens)]


def test_equal_prefixes_are_never_kept_twice() -> None:
    logs = frames([8], 3).logits[0].log_softmax(1).numpy()
    words = np.array(WRITTEN)
    scores, symbols = logs[:, words], np.arange(len(words))
    prefixes = Prefixes(words, 12, None, 0.0, 0.0)
    for frame in range(8):
        again = scores[frame, prefixes.last]
        prefixes.advance(symbols, scores[frame], logs[frame, BLANK], again)
        kept = [tuple(tokens) for tokens in prefixes.prefixes()]
        assert len(kept) == len(set(kept))
    assert len(kept) == 12


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_sentence_is_the_same_alone_and_in_a_batch(
    make_model: Callable[..., Any], dtype: torch.dtype
) -> None:
    model = make_model(seed=7, dtype=dtype, decoder={"copy": "soft", "upsample": 3.0})
    sentences = [[6, 7, 8, 9], [20], [11] * 12, [9, 8]]
    decoding = CtcBeam(5, 6, None, 1.0)
    for text, found in zip(sentences, decoding(model, source_tensor(sentences)), strict=True):
        (alone,) = decoding(model, source_tensor([text]))
        assert found.tokens == alone.tokens and found.tokens
        assert found.score == pytest.approx(alone.score, abs=1e-4)


def test_senseless_options_are_refused() -> None:
    for wrong, words in (
        ({"beam": 0}, "beam"),
        ({"language_model": {"system": "at-base", "weight": 0}}, "language_model.weight"),
        ({"language_model": {"order": 3}}, "'system' at 'language_model'"),
        ({"language_model": {"system": "at-base", "odrer": 3}}, "'odrer' at 'language_model'"),
    ):
        with pytest.raises(UserError, match=words):
            build("decoding", {"method": "ctc_beam", **wrong})
