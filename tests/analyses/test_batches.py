"""What is measured of a sentence does not depend on the others of its batch."""

import pytest
import torch

from nat.decoding.mask_predict import MaskPredict
from tests.analyses.measured import MEASURES, pairs
from tests.tiny import make_model


@pytest.mark.parametrize("name", MEASURES)
def test_batches_do_not_matter(name: str) -> None:
    alone, together = (MEASURES[name](make_model, tokens) for tokens in (1, 1000))
    assert len(alone)
    torch.testing.assert_close(*map(torch.as_tensor, (alone, together)))


def test_passes_are_of_their_sentences() -> None:
    model = make_model(length="offset", max_positions=40)
    alone, together = (pairs(model, n).passes(MaskPredict(steps=4)) for n in (1, 1000))
    assert sorted(alone) == sorted(together) == [0, 1, 2, 4]  # one is empty, one too long
    for number, sentence in together.items():
        assert [each[:3] for each in sentence] == [each[:3] for each in alone[number]]
