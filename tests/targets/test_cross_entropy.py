from typing import Any

import pytest
import torch
import torch.nn.functional as F

from nat.inputs.full_mask import FullMask
from nat.inputs.previous_tokens import PreviousTokens
from nat.inputs.random_mask import RandomMask
from nat.targets.cross_entropy import CrossEntropy
from tests.tiny import VOCABULARY, make_batch, make_context, make_model


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("method", [PreviousTokens, FullMask, RandomMask])
def test_against_the_formula_position_by_position(method: Any, smoothing: float) -> None:
    model, batch = make_model(), make_batch()
    context = make_context(model, batch)
    decoder_input = method()(context)
    loss = CrossEntropy(label_smoothing=smoothing)(context, decoder_input)
    states = context.decode(decoder_input)
    for row in range(len(batch.ids)):
        value = nll = 0.0
        for position in range(decoder_input.target.size(1)):
            if not decoder_input.loss_mask[row, position]:
                continue
            found = F.log_softmax(model.embedding.weight @ states[row, position], -1)
            true = decoder_input.target[row, position]
            # the smoothed label: the truth keeps 1 - e, and e is spread over all symbols
            label = torch.full((VOCABULARY,), smoothing / VOCABULARY, dtype=torch.float64)
            label[true] += 1 - smoothing
            value -= (label * found).sum().item()
            nll -= found[true].item()
        assert loss.value[row].item() == pytest.approx(value)
        assert loss.parts["nll"][row].item() == pytest.approx(nll)
    assert torch.equal(loss.positions, decoder_input.loss_mask.sum(1))
