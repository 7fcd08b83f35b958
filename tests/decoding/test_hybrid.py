"""Hybrid decoding, compared with a search through everything."""

import itertools
from collections.abc import Iterable
from typing import Any

import pytest
import torch

from nat.data.batch import source_tensor
from nat.data.vocabulary import EOS, MASK, UNK
from nat.decoding.hybrid import Hybrid
from nat.inputs.skip import BEGIN_OF_CHUNKS
from nat.registry import Method, build
from tests.messages import told
from tests.tiny import log_probabilities, make_model

SYMBOLS = (UNK, 6, 7, 8)


def completed(
    model: Any, sentence: list[int], sequences: Iterable[tuple[int, ...]], chunk: int
) -> list[tuple[float, list[int]]]:
    """Scores and tokens of sequences of stage I after stage II, from the definition."""
    made = []
    for sequence in sequences:
        shown, positions = [BEGIN_OF_CHUNKS, *sequence], torch.arange(len(sequence) + 1)[None]
        logs = log_probabilities(model, sentence, shown, causal=True, positions=positions * chunk)
        total = sum(float(logs[place, label]) for place, label in enumerate((*sequence, EOS)))
        tokens, rest = stage_two(model, sentence, sequence, chunk)
        made.append((total + rest, tokens))
    return made


def stage_two(
    model: Any, sentence: list[int], sequence: tuple[int, ...], chunk: int
) -> tuple[list[int], float]:
    """Tokens and log-probability of what fills the gaps."""
    tokens = [symbol for kth in (*sequence, EOS) for symbol in (*[MASK] * (chunk - 1), kth)]
    positions = torch.arange(1, len(tokens) + 1)[None]
    logs = log_probabilities(model, sentence, tokens, positions=positions)
    total = 0.0
    for place, symbol in enumerate(tokens):
        if symbol == MASK:
            tokens[place] = max((*SYMBOLS, EOS), key=lambda each: float(logs[place, each]))
            total += float(logs[place, tokens[place]])
        if tokens[place] == EOS:
            return tokens[:place], total
    raise AssertionError("there is always an EOS")


def make_hybrid(seed: int = 3, chunk: int = 2) -> Any:
    model = make_model(seed=seed, vocabulary_size=9, decoder={"chunk": chunk})
    with torch.no_grad():
        model.embedding.weight.mul_(1.5)
    return model


@pytest.mark.parametrize("chunk", [2, 3])
@torch.no_grad()
def test_the_best_of_both_stages_is_found(chunk: int) -> None:
    model = make_hybrid(chunk=chunk)
    # up to two tokens in stage I
    decoding = Hybrid(
        beam=40, kept=40, length_penalty=0.0, longest_ratio=0.0, longest_margin=2 * chunk
    )
    sequences = [each for length in range(3) for each in itertools.product(SYMBOLS, repeat=length)]
    for sentence in ([6, 7], [8], [7, 7, 8]):
        (best,) = decoding(model, source_tensor([sentence]))
        score, tokens = max(completed(model, sentence, sequences, chunk))
        assert best.tokens == tokens
        assert best.score == pytest.approx(score)


@torch.no_grad()
def test_another_model_fills_and_scores() -> None:
    first, second = make_hybrid(seed=5), make_hybrid(seed=6)
    source = source_tensor([[6, 7, 8]])
    decoding = Hybrid(beam=8, kept=3, longest_ratio=0.0, longest_margin=4)
    kept = [tuple(one.tokens) for one in decoding.every_kth(first, first.encode(source))[0]]
    assert len(kept) == 3
    score, tokens = max(completed(second, [6, 7, 8], kept, 2))
    (best,) = decoding(first, source, second)
    assert (best.tokens, best.score) == (tokens, pytest.approx(score))
    (same,), (plain,) = decoding(first, source, first), decoding(first, source)
    assert (same.tokens, same.score) == (plain.tokens, pytest.approx(plain.score))


@torch.no_grad()
@pytest.mark.parametrize("chunk", [2, 3])
def test_positions_limit_the_first_stage(chunk: int) -> None:
    model = make_model(seed=4, decoder={"chunk": chunk}, max_positions=13)
    model.embedding.weight[EOS] = -model.embedding.weight[6:].mean(0)  # it never ends by itself
    (best,) = Hybrid(beam=2, kept=1, longest_margin=50)(model, source_tensor([[6, 7]]))
    assert 0 < len(best.tokens) <= model.longest_target


def test_more_sequences_than_hypotheses_are_refused() -> None:
    with told("kept"):
        build("decoding", Method(method="hybrid", beam=2, kept=3))
