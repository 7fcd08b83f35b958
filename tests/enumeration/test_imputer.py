"""The Imputer's loss, against enumeration of all alignments that agree with what is visible."""

import pytest
import torch
from torch import Tensor

from nat.data.batch import Batch
from nat.data.vocabulary import BLANK, MASK
from nat.inputs.block_mask import BlockMask
from nat.objective.context import DecoderInput
from nat.targets.ctc import Ctc
from nat.targets.imputer import Imputer
from tests.enumeration.test_ctc_alignment import alignments
from tests.tiny import full_log_probabilities, make_batch, make_context, make_model


def enumerated(log_probabilities: Tensor, visible: list[int], target: list[int]) -> float:
    """Minus the logarithm of the summed probability of what completes the visible labels."""
    hidden = [place for place, label in enumerate(visible) if label == MASK]
    scores = [
        sum(float(log_probabilities[place, labels[place]]) for place in hidden)
        for labels in alignments(len(visible), target)
        if all(seen in (MASK, label) for seen, label in zip(visible, labels, strict=True))
    ]
    return -float(torch.tensor(scores, dtype=torch.float64).logsumexp(0))


def shown(labels: list[int]) -> DecoderInput:
    tokens = torch.tensor([labels])
    masked = tokens.eq(MASK)
    return DecoderInput(tokens, torch.zeros_like(masked), tokens, masked)


@pytest.mark.parametrize(
    ("target", "visible"),
    [
        ([7, 8], [MASK] * 6),
        ([7, 8], [MASK, 7, MASK, BLANK, MASK, MASK]),
        ([7, 7], [MASK, 7, MASK, MASK, MASK, MASK]),  # of either of the two equal tokens
        ([7, 7], [7, MASK, MASK, MASK, MASK, 7]),
        ([7, 8, 7], [MASK, MASK, MASK, 7, MASK, MASK]),
        ([9], [BLANK, BLANK, MASK, BLANK, BLANK, BLANK]),
        ([9], [9, 9, 9, 9, 9, MASK]),
        ([6, 7, 8, 9, 10, 11], [6, 7, MASK, 9, 10, 11]),
    ],
)
def test_it_is_the_sum_over_alignments_that_agree(target: list[int], visible: list[int]) -> None:
    model = make_model(decoder={"upsample": 2})
    context = make_context(model, Batch.collate([0], [[6, 9, 12]], [target]))
    loss = Imputer()(context, shown(visible))
    full = full_log_probabilities(context, shown(visible))[0]
    assert loss.value.item() == pytest.approx(enumerated(full, visible, target))
    assert loss.parts["nll"].item() == loss.value.item()
    assert loss.positions.item() == visible.count(MASK)
    assert loss.parts["infeasible"].item() == 0


def test_where_nothing_is_visible_it_is_ctc() -> None:
    model = make_model(decoder={"upsample": 2})
    context = make_context(model, make_batch([(5, 7), (12, 3), (3, 9), (4, 0)]))
    blank = context.fully_masked_input()
    mine, other = Imputer()(context, blank), Ctc()(context, blank)
    torch.testing.assert_close(mine.value, other.value)
    assert mine.positions.tolist() == [10, 24, 0, 0]  # positions, where ctc counts tokens
    torch.testing.assert_close(mine.parts["infeasible"], other.parts["infeasible"])


def test_a_pair_that_does_not_fit_is_counted_and_changes_nothing() -> None:
    model = make_model(decoder={"upsample": 2})
    context = make_context(model, make_batch([(2, 9), (6, 5)]))
    loss = Imputer()(context, BlockMask()(context))
    assert loss.value[0].item() == 0 and loss.positions[0].item() == 0
    assert loss.parts["infeasible"].tolist() == [9, 0]
    assert loss.value[1].item() > 0
