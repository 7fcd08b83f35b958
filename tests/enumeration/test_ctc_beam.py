"""Prefix beam search, compared with a search through everything."""

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from nat.data.batch import source_tensor
from nat.data.vocabulary import BLANK, EOS, NEVER_WRITTEN, UNK
from nat.decoding.ctc_beam import CtcBeam
from nat.language_model.ngram import LanguageModel, estimate
from tests.scripted import Scripted

SYMBOLS = 8
WRITTEN = (UNK, 6, 7)


def frames(lengths: list[int], seed: int = 0, scale: float = 1.0) -> Any:
    generator = torch.Generator().manual_seed(seed)
    shape = len(lengths), max(lengths), SYMBOLS
    logits = torch.randn(shape, generator=generator, dtype=torch.float64)
    return Scripted(scale * logits, frames=lengths)


@pytest.fixture(scope="module")
def language_model() -> LanguageModel:
    sentences = [[6, 7, 7], [7], [], [6, 6, UNK], [7, 6, 7, 6], [7, 7], [6, 7, 7]]
    tokens = np.array([word for sentence in sentences for word in sentence])
    lengths = np.array([len(sentence) for sentence in sentences])
    return estimate(tokens, lengths, SYMBOLS, 3)


def options(weight: float | None) -> Any:
    return weight and {"system": "at-base", "decoding": "beam5", "order": 3, "weight": weight}


def score_of(model: LanguageModel, words: Sequence[int]) -> float:
    """Log-probability of a sentence and its end, nats."""
    state, total = np.array([model.begin]), 0.0
    for word in (*words, EOS):
        score, state = model.step(state, np.array([word]))
        total += float(score[0])
    return total


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
        decoding = CtcBeam(
            beam=130, symbols=10, language_model=options(weight), word_bonus=bonus, bonus=kind
        )
        found = decoding(model, source_tensor([[6]] * 3), consulted)
        for row, length in enumerate(lengths):
            scored = {
                tokens: math.log(probability)
                + (weight or 0) * score_of(language_model, tokens)
                + bonus * (len(tokens) if kind == "tokens" else math.log(max(1, len(tokens))))
                for tokens, probability in likelihoods(model.logits[row, :length]).items()
            }
            best = max(scored, key=lambda tokens: scored[tokens])
            assert tuple(found[row].tokens) == best
            assert found[row].score == pytest.approx(scored[best], abs=1e-5)
            assert found[row].steps == 1


def test_a_certain_silence_is_an_empty_translation(language_model: LanguageModel) -> None:
    logits = torch.zeros(2, 3, SYMBOLS)
    logits[:, :, BLANK] = 40.0
    decoding = CtcBeam(beam=3, symbols=2, language_model=options(0.4), word_bonus=2.2)
    for found in decoding(
        Scripted(logits, frames=[3, 2]), source_tensor([[6]] * 2), language_model
    ):
        assert found.tokens == []
        assert found.score == pytest.approx(0.4 * score_of(language_model, []), abs=1e-4)


def definition(
    frames: np.ndarray, beam: int, symbols: int, lm: LanguageModel, alpha: float, bonus: Any
) -> tuple[list[int], float]:
    """The same search in dictionaries: every extension of every prefix is ranked.

    Args:
        frames: log-probabilities, [T, V].
        bonus: of a number of tokens, nats.
    """
    words = [word for word in range(frames.shape[1]) if word not in NEVER_WRITTEN]

    @cache
    def spoken(prefix: tuple[int, ...]) -> tuple[float, np.ndarray]:
        if not prefix:
            return 0.0, np.array([lm.begin])
        before, state = spoken(prefix[:-1])
        found, state = lm.step(state, np.array(prefix[-1:]))
        return before + float(found[0]), state

    def merit(prefix: tuple[int, ...], end: float = 0.0) -> float:
        return alpha * (spoken(prefix)[0] + end) + bonus(len(prefix))

    def lm_end(prefix: tuple[int, ...]) -> float:
        return float(lm.step(spoken(prefix)[1], np.array([EOS]))[0][0])

    kept = {(): (0.0, -math.inf)}  # prefix: ends in a blank, ends in its last token
    for frame in frames:
        best = sorted(words, key=lambda word: -frame[word])[:symbols]
        new: dict[tuple[int, ...], tuple[float, float]] = {}

        def add(prefix: tuple[int, ...], blank: float, token: float, new: Any = new) -> None:
            before = new.get(prefix, (-math.inf, -math.inf))
            new[prefix] = np.logaddexp(before[0], blank), np.logaddexp(before[1], token)

        for prefix, (blank, token) in kept.items():
            total = np.logaddexp(blank, token)
            add(prefix, total + frame[BLANK], token + frame[prefix[-1]] if prefix else -math.inf)
            for word in words:
                longer = (*prefix, word)
                if word in best or longer in kept:
                    of = blank if prefix and word == prefix[-1] else total
                    add(longer, -math.inf, of + frame[word])
        ranks = {prefix: np.logaddexp(*ends) + merit(prefix) for prefix, ends in new.items()}
        kept = {prefix: new[prefix] for prefix in sorted(new, key=lambda p: -ranks[p])[:beam]}
    ranks = {
        prefix: np.logaddexp(*ends) + merit(prefix, lm_end(prefix)) for prefix, ends in kept.items()
    }
    chosen = max(ranks, key=lambda prefix: ranks[prefix])
    return list(chosen), float(ranks[chosen])


@pytest.mark.parametrize("beam", [1, 2, 5, 20])
@pytest.mark.parametrize(
    ("kind", "bonus"), [("tokens", 2.2), ("tokens", -0.5), ("log_tokens", 2.2)]
)
def test_no_extension_is_missed(beam: int, kind: Any, bonus: float) -> None:
    number = 16
    words = np.random.default_rng(5).integers(6, number, 400)
    lm = estimate(words, np.full(40, 10), number, 3)
    for seed in range(4):
        generator = torch.Generator().manual_seed(seed)
        logits = torch.randn(1, 14, number, generator=generator, dtype=torch.float64)
        logits = logits * (1 + seed)  # from flat to peaked
        model: Any = Scripted(logits, frames=[14])
        decoding = CtcBeam(
            beam=beam, symbols=6, language_model=options(0.4), word_bonus=bonus, bonus=kind
        )
        (found,) = decoding(model, source_tensor([[6]]), lm)

        def extra(length: int) -> float:
            return bonus * (length if kind == "tokens" else math.log(max(1, length)))

        logs = logits[0].log_softmax(1).numpy()
        tokens, score = definition(logs, beam, 6, lm, 0.4, extra)
        assert found.tokens == tokens
        assert found.score == pytest.approx(score, abs=1e-6)
