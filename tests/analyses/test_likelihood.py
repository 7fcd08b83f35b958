"""What a model's own objective says of a text."""

import pytest

from nat.analyses.analysis import Pairs
from nat.analyses.likelihood import losses
from nat.data.batch import source_tensor
from nat.data.vocabulary import BOS, EOS, MASK
from tests.tiny import log_probabilities, make_model, make_objective, make_texts

LENGTHS = ((3, 5), (7, 2), (0, 4), (1, 9), (4, 0), (4, 1), (39, 3), (5, 39))
TEXTS = make_texts(LENGTHS)
SENTENCES = [0, 1, 3, 5, 6, 7]
"""Those that have two sides; the model has positions for 39 tokens and one more symbol."""


def test_a_nat_is_as_sure_as_its_probabilities() -> None:
    model = make_model(length="target")
    objective = make_objective(
        model, "full_mask", {"method": "cross_entropy", "label_smoothing": 0.1}
    )
    (numbers, tokens, positions), parts = losses(objective.eval(), Pairs(model, *TEXTS, 60))
    nll = length = 0.0
    for number in SENTENCES:
        source, target = (side[number] for side in TEXTS)
        found = log_probabilities(model, source, [MASK] * len(target))
        nll -= float(found[range(len(target)), target].sum())
        encoded = model.encode(source_tensor([source]))
        predicted = model.length_predictor(encoded.states, encoded.padding)[0]
        length -= float(predicted[len(target)])
    assert float(parts["nll"].sum()) == pytest.approx(nll)
    assert float(parts["length"].sum()) == pytest.approx(length)
    expected = {number: LENGTHS[number][1] for number in SENTENCES}
    assert dict(zip(numbers.tolist(), tokens.tolist(), strict=True)) == expected
    assert positions.tolist() == tokens.tolist()


def test_an_at_pays_for_its_end() -> None:
    model = make_model()
    objective = make_objective(model, "previous_tokens", {"method": "cross_entropy"})
    (_, tokens, positions), parts = losses(objective.eval(), Pairs(model, *TEXTS, 60))
    nll = 0.0
    for number in SENTENCES:
        source, target = (side[number] for side in TEXTS)
        found = log_probabilities(model, source, [BOS, *target], causal=True)
        nll -= float(found[range(len(target) + 1), [*target, EOS]].sum())
    assert float(parts["nll"].sum()) == pytest.approx(nll)
    assert (positions - tokens).tolist() == [1] * len(SENTENCES)


def test_only_pairs_with_two_sides_that_fit_are_used() -> None:
    model = make_model(max_positions=9)
    assert sorted(Pairs(model, *TEXTS, 60).usable()) == [0, 1, 5]
    upsampled = make_model(max_positions=9, decoder={"upsample": 2.0})
    assert sorted(Pairs(upsampled, *TEXTS, 60).usable()) == [0, 5]
