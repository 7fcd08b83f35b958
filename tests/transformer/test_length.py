import pytest
import torch

from nat.data.vocabulary import PAD
from nat.transformer.length import (
    LENGTH_CLASSES,
    ConstantLength,
    LengthClassifier,
    LengthPredictor,
    LengthToken,
)
from tests.tiny import make_batch, make_model

PADDING = torch.tensor(
    [[False] * 5, [False] * 3 + [True] * 2, [False] + [True] * 4]
)  # 4, 2 and 0 source tokens, each with EOS


STATES = torch.randn(3, 5, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
every_predictor = pytest.mark.parametrize("predicts", ["target", "offset", "token"])


def predictor(predicts: str) -> LengthPredictor:
    torch.manual_seed(1)
    one = LengthToken(6, 0.0) if predicts == "token" else LengthClassifier(6, predicts)
    return one.double()


@pytest.mark.parametrize(
    ("predicts", "classes"),
    [
        ("target", [4, 5, 0, 255]),
        ("token", [4, 5, 1, 255]),
        ("offset", [128, 131, 128, 255]),
    ],
)
def test_classes_of_true_lengths(predicts: str, classes: list[int]) -> None:
    lengths, padding = torch.tensor([4, 5, 0, 1000]), PADDING[[0, 1, 2, 0]]
    assert predictor(predicts).classes(lengths, padding).tolist() == classes


@every_predictor
def test_loss_is_minus_the_log_probability_of_the_class(predicts: str) -> None:
    one = predictor(predicts)
    found = one(STATES, PADDING)
    torch.testing.assert_close(found.exp().sum(1), torch.ones(3, dtype=torch.float64))
    lengths = torch.tensor([4, 5, 0])
    expected = -found[torch.arange(3), one.classes(lengths, PADDING)]
    torch.testing.assert_close(one.loss(STATES, PADDING, lengths), expected)


def test_mean_state_without_padding() -> None:
    one = predictor("target")
    changed = STATES.clone()
    changed[PADDING] = 1e6
    torch.testing.assert_close(one(changed, PADDING), one(STATES, PADDING))
    expected = one.classifier(STATES[1, :3].mean(0)).log_softmax(-1)
    torch.testing.assert_close(one(STATES, PADDING)[1], expected)


@every_predictor
def test_candidates_are_the_most_likely_possible_lengths(predicts: str) -> None:
    one = predictor(predicts)
    longest = 20
    log_probabilities = one(STATES, PADDING)
    found = one.candidates(STATES, PADDING, 4, longest)
    for row in range(3):
        lengths = torch.arange(1, longest + 1)
        classes = one.classes(lengths, PADDING[row].expand(longest, -1))
        best = log_probabilities[row, classes].argsort(descending=True)[:4]
        assert torch.equal(found[row], lengths[best])


def test_the_token_is_seen_before_the_source() -> None:
    model, batch = make_model(length="token"), make_batch()
    one, found = model.length_predictor, model.encode(batch.source)
    token = one.lengths.weight[:1].expand(len(batch.ids), 1, -1)
    states = model.with_positions(model.scaled_source_embedding(batch.source))
    states = torch.cat((token, states), 1)
    visible = torch.nn.functional.pad(batch.source.ne(PAD), (1, 0), value=True)
    for layer in model.encoder_layers:
        states = layer(states, visible[:, None, None, :])
    assert torch.equal(found.states, states[:, 1:])
    logits = states[:, 0] @ one.lengths.weight[1:].T
    probabilities = one(found.length_states, found.padding).exp()
    torch.testing.assert_close(probabilities[:, 1:], logits.softmax(1))
    assert probabilities[:, 0].eq(0).all()
    rows = torch.tensor([2, 0])
    assert torch.equal(found.rows(rows).length_states, found.length_states[rows])


def test_the_token_is_dropped_out_like_the_source() -> None:
    model, batch = make_model(length="token", dropout=0.5).train(), make_batch()
    vectors = torch.ones(len(batch.ids), 2, 16, dtype=torch.float64)
    token = model.length_predictor.before(vectors, batch.source[:, :2].eq(PAD))[0][:, 0]
    kept = 2 * model.length_predictor.lengths.weight[0].expand_as(token)
    assert torch.equal(token[token != 0], kept[token != 0])
    assert 0 < token.eq(0).sum() < token.numel()


def test_fewer_possible_lengths_than_asked_for() -> None:
    found = predictor("target").candidates(STATES, PADDING, 5, longest=3)
    assert found.shape == (3, 5)
    assert all(set(row[:3]) == {1, 2, 3} for row in found.tolist())
    assert found.min() >= 1 and found.max() <= 3


def test_no_candidate_is_of_length_zero() -> None:
    one = predictor("target")
    with torch.no_grad():
        one.classifier.weight.zero_()
        one.classifier.bias.copy_(-torch.arange(LENGTH_CLASSES))  # the shorter, the likelier
    assert one.candidates(STATES, PADDING, 3, longest=9).tolist() == [[1, 2, 3]] * 3


@pytest.mark.parametrize(
    ("difference", "number", "expected"),
    [
        (0.0, 1, [[4], [2], [1]]),
        (1.4, 5, [[5, 6, 4, 7, 3], [3, 4, 2, 5, 1], [1, 2, 3, 4, 5]]),
        (-0.6, 3, [[3, 4, 2], [1, 2, 3], [1, 2, 3]]),
        (0.5, 2, [[4, 5], [2, 3], [1, 2]]),  # of two as near, the shorter one first
        (100.0, 2, [[20, 19], [20, 19], [20, 19]]),
    ],
)
def test_constant_lengths_are_the_nearest_ones(
    difference: float, number: int, expected: list[list[int]]
) -> None:
    one = ConstantLength()
    one.difference.fill_(difference)
    assert one.candidates(STATES, PADDING, number, longest=20).tolist() == expected
