"""Beam search, compared with enumeration and with a search written sentence by sentence."""

import itertools
import math

import pytest
import torch
from torch import Tensor

from nat.data.batch import source_tensor
from nat.data.vocabulary import BLANK, BOS, EOS, MASK, PAD, UNK
from nat.decoding.beam_search import BeamSearch
from nat.decoding.group_beam_search import GroupBeamSearch
from nat.transformer.model import Transformer
from tests.tiny import log_probabilities, make_model

SPECIAL = (PAD, BOS, EOS, MASK, BLANK)


def test_the_longest_target_is_rounded_down_as_the_ratio_is_written() -> None:
    lengths = torch.arange(2000)
    for ratio, length, longest in ((1.15, 100, 115), (1.4, 45, 63)):
        assert BeamSearch(longest_ratio=ratio, longest_margin=0).longest(lengths)[length] == longest
    assert torch.equal(BeamSearch().longest(lengths), lengths * 3 // 2 + 10)


def next_log_probabilities(model: Transformer, sentence: list[int], prefix: list[int]) -> Tensor:
    """Log-probabilities after a prefix, without a cache; of a model of groups, in its group."""
    group = model.decoder.chunk or 1
    whole = len(prefix) // group * group
    shown = [BOS] * group + prefix[:whole]
    with torch.no_grad():
        found = log_probabilities(model, sentence, shown, causal=True, group=group)
    return found[len(prefix)]


def reference_search(
    model: Transformer, sentence: list[int], options: BeamSearch
) -> tuple[list[int], float]:
    """The documented search, one hypothesis at a time: the best that has ended, and its score."""
    longest = int(len(sentence) * options.longest_ratio) + options.longest_margin
    longest = min(longest, model.architecture.max_positions - 1)
    opened: list[tuple[float, list[int]]] = [(0.0, [])]
    ended: list[tuple[float, list[int]]] = []
    for length in range(longest + 1):
        candidates = []
        for total, prefix in opened:
            found = next_log_probabilities(model, sentence, prefix)
            for symbol in range(len(found)):
                allowed = symbol == EOS or (symbol not in SPECIAL and length < longest)
                if allowed:
                    candidates.append((total + float(found[symbol]), [*prefix, symbol]))
        candidates.sort(key=lambda pair: -pair[0])
        for total, prefix in candidates[: options.beam]:
            if prefix[-1] == EOS:
                ended.append((total / len(prefix) ** options.length_penalty, prefix[:-1]))
        opened = [pair for pair in candidates if pair[1][-1] != EOS][: options.beam]
        best = max(ended)[0] if ended else -math.inf
        bound = opened[0][0] / (longest + 1) ** options.length_penalty if opened else -math.inf
        if len(ended) >= options.beam or best >= bound:
            break
    score, tokens = max(ended)
    return tokens, score


def sentences(number: int, vocabulary: int, seed: int = 0) -> list[list[int]]:
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, 9, (number,), generator=generator).tolist()
    return [torch.randint(6, vocabulary, (n,), generator=generator).tolist() for n in lengths]


def found_one_by_one(method: BeamSearch, model: Transformer, texts: list[list[int]]) -> list[int]:
    """Check that a batch gives what the documented search gives; returns the lengths of that."""
    lengths = []
    for found, sentence in zip(method(model, source_tensor(texts)), texts, strict=True):
        tokens, score = reference_search(model, sentence, method)
        assert found.tokens == tokens
        assert found.score == pytest.approx(score, abs=1e-9)
        longest = int(len(sentence) * method.longest_ratio) + method.longest_margin
        assert found.steps <= longest // (model.decoder.chunk or 1) + 1
        lengths.append(len(tokens))
    return lengths


def sharpened(model: Transformer, factor: float = 1.5, eos: float = 1.0) -> Transformer:
    """The same model with larger logits, so that hypotheses end at different lengths.

    With a large factor they often become better as they grow longer.
    """
    with torch.no_grad():
        model.embedding.weight.mul_(factor)
        model.embedding.weight[EOS].mul_(eos)
    return model


@torch.no_grad()
@pytest.mark.parametrize("length_penalty", [0.0, 0.6, 1.0, 2.0])
def test_a_beam_wide_enough_finds_what_enumeration_finds(length_penalty: float) -> None:
    model = sharpened(make_model(seed=3, vocabulary_size=9))
    symbols, longest = (UNK, 6, 7, 8), 3
    every = [
        list(tokens)
        for length in range(longest + 1)
        for tokens in itertools.product(symbols, repeat=length)
    ]
    method = BeamSearch(
        beam=len(every), length_penalty=length_penalty, longest_ratio=0.0, longest_margin=longest
    )
    for sentence in ([6], [7, 8, 6, 6], [8, 8]):
        scores = []
        for tokens in every:
            found = log_probabilities(model, sentence, [BOS, *tokens], causal=True)
            total = sum(float(found[place, symbol]) for place, symbol in enumerate([*tokens, EOS]))
            scores.append(total / (len(tokens) + 1) ** length_penalty)
        best = max(range(len(every)), key=scores.__getitem__)
        (found,) = method(model, source_tensor([sentence]))
        assert found.tokens == every[best]
        assert found.score == pytest.approx(scores[best], abs=1e-9)


@pytest.mark.parametrize("beam", [1, 2, 3, 5])
@pytest.mark.parametrize("length_penalty", [0.0, 1.0])
def test_a_batch_gives_what_the_search_one_by_one_gives(beam: int, length_penalty: float) -> None:
    method = BeamSearch(
        beam=beam, length_penalty=length_penalty, longest_ratio=1.0, longest_margin=3
    )
    lengths = set()
    for seed in range(3):
        model = sharpened(make_model(seed=seed, vocabulary_size=14), eos=1.3)
        lengths |= {*found_one_by_one(method, model, sentences(7, 14, seed))}
    assert len(lengths) > 2  # the case is worth something only if sentences end here and there


@pytest.mark.parametrize("chunk", [2, 3])
def test_the_search_of_groups(chunk: int) -> None:
    model = sharpened(make_model(seed=4, vocabulary_size=14, decoder={"chunk": chunk}))
    method = GroupBeamSearch(beam=3, longest_ratio=1.0, longest_margin=3)
    texts = [[6, 7, 8, 9], [10], [11, 12, 13, 6, 7, 8], [9, 9]]
    assert len({*found_one_by_one(method, model, texts)}) > 1


@torch.no_grad()
def test_positions_limit_tokens_and_whole_groups() -> None:
    for method, decoder, most in ((GroupBeamSearch, {"chunk": 3}, 8), (BeamSearch, None, 9)):
        model = make_model(seed=4, decoder=decoder, max_positions=10)
        model.embedding.weight[EOS] = -model.embedding.weight[6:].mean(0)
        (found,) = method(beam=2, longest_margin=50)(model, source_tensor([[6, 7]]))
        assert len(found.tokens) <= most


@pytest.mark.parametrize(("seed", "length_penalty", "eos"), [(23, 1, 1), (14, 2, 1), (27, 2, 1.3)])
def test_the_search_goes_on_while_a_longer_hypothesis_may_win(
    seed: int, length_penalty: float, eos: float
) -> None:
    """These models have such hypotheses: a bound of the next length would end the search early."""
    method = BeamSearch(beam=2, length_penalty=length_penalty, longest_ratio=1.0, longest_margin=3)
    model = sharpened(make_model(seed=seed), 4, eos)
    found_one_by_one(method, model, sentences(6, 29, seed))


def test_long_sentences_outgrow_the_first_cache() -> None:
    model = make_model(seed=6)
    with torch.no_grad():
        model.embedding.weight[EOS].zero_()
    method = BeamSearch(beam=2, longest_ratio=0.0, longest_margin=38)
    assert min(found_one_by_one(method, model, [[9, 8, 7]])) > 32
