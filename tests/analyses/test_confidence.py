"""How sure a model is of what it decodes."""

import pytest
import torch

from nat.analyses.analysis import Pairs
from nat.analyses.confidence import default_confidence, sampled_confidence
from nat.data.vocabulary import EOS, MASK
from nat.decoding.input_sampling import InputSampling
from tests.tiny import log_probabilities, make_model, make_texts

SOURCES, _ = make_texts([(length, 0) for length in (3, 7, 0, 1, 4, 40)])


@pytest.mark.parametrize("upsample", [None, 2.0])
def test_of_every_position(upsample: float | None) -> None:
    model = make_model(
        length=None if upsample else "offset", decoder={"upsample": upsample}, max_positions=40
    )
    found = default_confidence(Pairs(model, SOURCES, (), 30))
    confidence = positions = 0.0
    for source in (SOURCES[number] for number in (0, 1, 3, 4)):
        length = int((upsample or 0) * len(source))
        if not upsample:
            encoded = model.encode(torch.tensor([[*source.tolist(), EOS]]))
            length = int(model.length_predictor.candidates(encoded.states, encoded.padding, 1, 40))
        confidence += float(log_probabilities(model, source, [MASK] * length).amax(1).sum())
        positions += length
    assert found == pytest.approx((4, positions, confidence))  # one is empty, one too long


def test_input_sampling_is_measured_on_its_tokens() -> None:
    model = make_model(length="target", parts={"input_predictor": {}})
    assistant = make_model(seed=2, length="target")
    found = sampled_confidence(Pairs(model, SOURCES, (), 1000), assistant)
    total, tokens = 0.0, 0
    for source in (SOURCES[number] for number in (0, 1, 3, 4)):
        row = torch.tensor([[*source.tolist(), EOS]])
        [hypothesis] = InputSampling()(model, row, assistant=assistant)
        total += hypothesis.score * len(hypothesis.tokens)
        tokens += len(hypothesis.tokens)
    assert found == pytest.approx(total / tokens)
