"""Candidates by lengths and by latents, of which an autoregressive model chooses."""

from collections.abc import Sequence
from typing import Any

import pytest
import torch

from nat.data.batch import source_tensor
from nat.decoding.ctc import CtcDecoding
from nat.decoding.ctc_beam import CtcBeam
from nat.decoding.forced import forced_tokens
from nat.decoding.hypothesis import Hypothesis
from nat.decoding.latent_beam_rescoring import LatentBeamRescoring
from nat.decoding.latent_rescoring import LatentRescoring
from nat.decoding.length_rescoring import LengthRescoring
from nat.decoding.one_pass import OnePass
from nat.decoding.rescoring import best_of_assistant
from nat.registry import Method, build
from tests.tiny import make_model

SENTENCES = [[6, 7, 8, 9], [20], [11] * 9, [9, 8]]
LATENT = {"dim": 3, "posterior_layers": 1}
UPSAMPLED = {"copy": "soft", "upsample": 2.0}


def must_be_best(
    best: Hypothesis,
    assistant: Any,
    sentence: list[int],
    candidates: Sequence[Hypothesis],
    length_penalty: str = "mean",
) -> None:
    """Check that the assistant, alone with each candidate, prefers the one that was chosen."""
    encoded, scores = assistant.encode(source_tensor([sentence])), []
    for one in candidates:
        total = forced_tokens(assistant, encoded, [one.tokens]).sum().item()
        scores.append(total / (len(one.tokens) + 1 if length_penalty == "mean" else 1))  # with EOS
    assert best.score == pytest.approx(max(scores))
    assert best.tokens == candidates[scores.index(max(scores))].tokens


@pytest.mark.parametrize("length_penalty", ["mean", "sum"])
def test_the_assistant_chooses_by_mean_or_sum(length_penalty: Any) -> None:
    assistant = make_model(seed=2)
    groups = [
        [Hypothesis(tokens, score, steps) for tokens, score, steps in group]
        for group in (
            [([7, 8], -9.0, 1), ([7], -1.0, 1), ([7, 8, 9, 9, 9], -2.0, 3)],
            [([20, 20], -1.0, 1), ([20, 20], -1.0, 1), ([8], -1.0, 1)],
        )
    ]
    source = source_tensor(SENTENCES[:2])
    chosen = best_of_assistant(assistant, source, [*groups[0], *groups[1]], length_penalty)
    for sentence, group, best in zip(SENTENCES[:2], groups, chosen, strict=True):
        must_be_best(best, assistant, sentence, group, length_penalty)
    assert [one.steps for one in chosen] == [4, 2]
    method = build("decoding", Method(method="length_rescoring", length_beam=2))
    assert method.length_penalty == "mean"


def test_what_is_too_long_or_no_number_is_not_chosen() -> None:
    assistant, source = make_model(), source_tensor([[6, 7]])
    longest, too_long = Hypothesis([7] * 39, -1.0, 1), Hypothesis([7] * 40, -1.0, 1)
    (best,) = best_of_assistant(assistant, source, [too_long, longest])
    assert best.tokens == longest.tokens
    (best,) = best_of_assistant(assistant, source, [too_long])
    assert best.score == -torch.inf
    for bad in (float("nan"), -float("inf")):
        failed, other = Hypothesis([7], bad, 1), Hypothesis([8], -1.0, 1)
        (best,) = best_of_assistant(assistant, source, [failed])
        assert best.score != best.score
        for group in ([failed, other], [other, failed]):
            (best,) = best_of_assistant(assistant, source, group)
            assert best.tokens == other.tokens and best.score == best.score


@pytest.mark.parametrize("length", ["offset", "constant"])
def test_lengths_are_candidates(length: str) -> None:
    model, assistant = make_model(seed=3, length=length), make_model(seed=4)
    source = source_tensor(SENTENCES)
    method = LengthRescoring(length_beam=5)
    chosen, different = method(model, source, assistant), 0
    for sentence, best in zip(SENTENCES, chosen, strict=True):
        candidates = method.candidates(model, model.encode(source_tensor([sentence])))
        assert len({len(one.tokens) for one in candidates}) == 5
        must_be_best(best, assistant, sentence, candidates)
        different += len(best.tokens) != len(candidates[0].tokens)
    assert different
    assert {one.steps for one in chosen} == {2}
    # with one candidate there is nothing to choose
    single = LengthRescoring(length_beam=1)(model, source, assistant)
    assert [one.tokens for one in single] == [one.tokens for one in OnePass()(model, source)]


@pytest.mark.parametrize("upsampled", [True, False])
def test_draws_are_candidates(upsampled: bool) -> None:
    canvas = {"decoder": UPSAMPLED} if upsampled else {"length": "offset"}
    model, assistant = make_model(seed=5, parts={"latent": LATENT}, **canvas), make_model(seed=6)
    source = source_tensor(SENTENCES)
    method = LatentRescoring(samples=4, temperature=3.0, seed=8)
    different = 0
    for sentence, best in zip(SENTENCES, method(model, source, assistant), strict=True):
        candidates = method.candidates(model, model.encode(source_tensor([sentence])))
        assert len(candidates) == 4
        must_be_best(best, assistant, sentence, candidates)
        different += len({tuple(one.tokens) for one in candidates}) > 1
    assert different
    # at temperature zero a draw is the mean of the prior, with which others decode
    cold = LatentRescoring(samples=2, temperature=0.0)(model, source, assistant)
    plain = (CtcDecoding() if upsampled else OnePass())(model, source)
    assert [one.tokens for one in cold] == [one.tokens for one in plain]


def test_draws_are_searched() -> None:
    model = make_model(seed=5, parts={"latent": LATENT}, decoder=UPSAMPLED)
    assistant, source = make_model(seed=6), source_tensor(SENTENCES[:2])
    options: dict[str, Any] = {"beam": 4, "symbols": 5}
    plain = CtcBeam(**options)(model, source)
    cold = LatentBeamRescoring(**options, samples=2, temperature=0.0)(model, source, assistant)
    for sentence, one, other in zip(SENTENCES, cold, plain, strict=False):
        must_be_best(one, assistant, sentence, [other])
    warm = LatentBeamRescoring(**options, samples=6, temperature=3.0)(model, source, assistant)
    assert [one.tokens for one in warm] != [one.tokens for one in cold]
