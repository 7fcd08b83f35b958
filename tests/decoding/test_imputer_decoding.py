"""Imputer decoding: what is revealed when, what the decoder sees, and what is written."""

from unittest.mock import Mock

import pytest
import torch

from nat.data.batch import source_tensor
from nat.data.vocabulary import BLANK, MASK, PAD
from nat.decoding.ctc import CtcDecoding
from nat.decoding.imputation import impute
from nat.decoding.imputer import ImputerDecoding
from tests.tiny import log_probabilities, make_model


def test_the_decoder_sees_what_is_revealed() -> None:
    model = make_model(decoder={"upsample": 2})
    model.decode = Mock(wraps=model.decode)
    encoded = model.encode(source_tensor([[6, 7, 8]]))
    tokens = torch.tensor([[MASK, 9, MASK, MASK, BLANK, MASK]])
    padding = torch.zeros(1, 6, dtype=torch.bool)
    [labels], [known], passes = map(
        torch.Tensor.tolist, impute(model, encoded, tokens, padding, steps=2)
    )
    assert MASK not in labels and PAD not in labels
    assert (labels[1], labels[4]) == (9, BLANK)
    seen = [call.args[0][0].tolist() for call in model.decode.call_args_list]
    assert seen == [tokens[0].tolist(), [MASK, 9, MASK, labels[3], BLANK, labels[5]]]
    assert passes == [2]
    # a visible label has no probability; what is imputed has that of the pass that revealed it
    assert [each != 0 for each in known] == [True, False, True, True, False, True]
    for row, places in zip(seen, ([3, 5], [0, 2]), strict=True):
        full = log_probabilities(model, [6, 7, 8], row)
        for place in places:
            assert known[place] == pytest.approx(full[place, labels[place]].item())


def test_what_has_no_mask_takes_no_pass() -> None:
    model = make_model(decoder={"upsample": 2})
    encoded = model.encode(source_tensor([[6], [7]]))
    tokens = torch.tensor([[9, BLANK], [MASK, MASK]])
    labels, _, passes = impute(model, encoded, tokens, tokens.eq(PAD), steps=4)
    assert labels[0].tolist() == [9, BLANK]
    # a block that is shorter than the passes is not touched by the first
    assert passes.tolist() == [0, 3]


def test_one_step_is_the_best_alignment_of_ctc() -> None:
    model = make_model(seed=1, decoder={"upsample": 2})
    source = source_tensor([[6, 7, 8, 9], [20], [11] * 9])
    assert ImputerDecoding(steps=1)(model, source) == CtcDecoding()(model, source)
