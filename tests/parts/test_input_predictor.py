"""The input predictor: what it learns, and decoding from inputs that are drawn from it."""

from typing import Any

import pytest
import torch

from nat.data.batch import source_tensor
from nat.data.vocabulary import MASK, PAD
from nat.decoding.input_sampling import InputSampling
from nat.decoding.one_pass import OnePass
from nat.inputs.random_mask import RandomMask
from nat.targets.cross_entropy import CrossEntropy
from tests.tiny import (
    decoded,
    log_probabilities,
    make_batch,
    make_context,
    make_model,
    one_sentence,
)

PREDICTS = {"input_predictor": {}}
LENGTHS = [(3, 5), (7, 2), (1, 9), (2, 0)]
SOURCES = [[7, 8, 9], [10, 11, 12, 13, 14, 15, 16], [9]]


def test_loss_of_the_input() -> None:
    model, teacher = make_model(parts=PREDICTS), make_model(seed=5)
    batch = make_batch(LENGTHS)
    context = make_context(model, batch, teacher=teacher)
    shown = RandomMask()(context)
    plain = CrossEntropy()(context, shown)
    loss = model.input_predictor.with_loss(plain, context, shown)
    torch.testing.assert_close(loss.value, plain.value + loss.parts["masks"])
    assert torch.equal(loss.positions, plain.positions)
    assert loss.parts["nll"] is plain.parts["nll"]
    for row in range(3):
        own, classifier = one_sentence(batch, row), model.input_predictor.classifier
        source, length = own.source[0, :-1].tolist(), own.target.size(1)
        states = decoded(model, source, [MASK] * length)
        of_teacher = log_probabilities(teacher, source, [MASK] * length)
        probability = (states @ classifier.weight[0] + classifier.bias).sigmoid()
        expected, masks = 0.0, 0.0
        for place in range(length):
            if shown.tokens[row, place] == MASK:
                masks -= probability[place].log().item()
            else:
                masks -= (1 - probability[place]).log().item()
                expected -= of_teacher[place, own.target[0, place]].item()
        assert loss.parts["masks"][row].item() == pytest.approx(masks)
        assert loss.parts["input"][row].item() == pytest.approx(expected + masks)
    assert loss.parts["masks"][3] == loss.parts["input"][3] == loss.value[3] == 0


def test_only_the_classifier_learns_from_states_without_dropout_in_the_decoder() -> None:
    model = make_model(parts=PREDICTS, dropout=0.3).train()
    context = make_context(model, make_batch(LENGTHS))
    shown = RandomMask()(context)
    loss = CrossEntropy()(context, shown)
    first, again = (model.input_predictor.with_loss(loss, context, shown).parts for _ in range(2))
    assert "input" not in first  # no teacher: in validation
    assert model.training
    assert torch.equal(first["masks"], again["masks"])
    first["masks"].sum().backward()
    learns = {name for name, value in model.named_parameters() if value.grad is not None}
    assert learns == {"input_predictor.classifier.weight", "input_predictor.classifier.bias"}


def test_everything_masked_is_one_pass_and_nothing_masked_is_the_assistant() -> None:
    model = make_model(parts=PREDICTS, length="offset")
    assistant = make_model(seed=5, length="offset")
    for bias, steps in ((100.0, 3), (-100.0, 2)):
        with torch.no_grad():
            model.input_predictor.classifier.bias.fill_(bias)
        translations = InputSampling()(model, source_tensor(SOURCES), assistant)
        for source, made in zip(SOURCES, translations, strict=True):
            assert made.steps == steps
            if bias > 0:
                (alone,) = OnePass()(model, source_tensor([source]))
                assert (made.tokens, made.score) == (alone.tokens, pytest.approx(alone.score))
            else:
                scores = log_probabilities(assistant, source, [MASK] * len(made.tokens))
                scores[:, :3] = scores[:, 4:6] = -torch.inf
                assert made.tokens == scores.argmax(1).tolist()
                assert made.score == pytest.approx(scores.amax(1).mean().item())


@torch.no_grad()
def test_revealed_tokens_are_the_assistants_and_the_rest_is_predicted_from_them() -> None:
    model = make_model(parts=PREDICTS, length="offset")
    assistant = make_model(seed=5)
    for weight in model.input_predictor.parameters():
        weight.zero_()  # half of the positions are masked
    shown: list[torch.Tensor] = []
    original = model.decode

    def decode(tokens: torch.Tensor, *rest: Any, **named: Any) -> torch.Tensor:
        shown.append(tokens.clone())  # the canvas is filled in place
        return original(tokens, *rest, **named)

    model.decode = decode
    translations = InputSampling(length_beam=3)(model, source_tensor(SOURCES), assistant)
    blank, *drawn = shown  # canvases of like length are drawn together
    assert (blank.eq(MASK) | blank.eq(PAD)).all()
    rows = [row for part in drawn for row in part.tolist()]
    real = sum(token != PAD for row in rows for token in row)
    assert real == int(blank.eq(MASK).sum())
    assert 0.2 < sum(row.count(MASK) for row in rows) / real < 0.8
    patterns = {tuple(token == MASK for token in row) for row in rows}
    assert len(patterns) > 3  # the lengths of a sentence have patterns of their own
    for one in translations:  # which has the tokens that one of its canvases shows
        alike = [row for row in rows if len(row) - row.count(PAD) == len(one.tokens)]
        assert any(
            all(token in (MASK, made) for token, made in zip(row, one.tokens, strict=False))
            for row in alike
        )
    shown.clear()
    InputSampling(length_beam=3, seed=1)(model, source_tensor(SOURCES), assistant)
    assert [part.eq(MASK).tolist() for part in shown[1:]] != [
        part.eq(MASK).tolist() for part in drawn
    ]
