"""DiMS for the Imputer: the teacher's hard labels take the place of the target."""

import pytest
import torch

from nat.data.batch import Batch
from nat.data.vocabulary import EOS, MASK, PAD
from nat.decoding.imputer import ImputerDecoding as Decoding
from nat.decoding.network import never_chosen
from nat.inputs.block_mask import BlockMask
from nat.targets.dims_imputer import DimsImputer
from nat.targets.imputer import Imputer
from nat.transformer.model import Transformer
from tests.enumeration.test_ctc_alignment import collapsed
from tests.enumeration.test_imputer import enumerated, shown
from tests.tiny import (
    full_log_probabilities,
    log_probabilities,
    make_batch,
    make_context,
    make_model,
)

UPSAMPLED = {"decoder": {"upsample": 2}}


def varied(seed: int) -> Transformer:
    """A model whose labels differ from place to place."""
    model = make_model(seed=seed, pre_norm=True, **UPSAMPLED)
    with torch.no_grad():
        model.embedding.weight[6:12] += torch.randn(6, 16, dtype=torch.float64)
    return model


@pytest.mark.parametrize("steps", [1, 2, 4])
def test_on_a_blank_canvas_it_learns_what_the_teacher_writes(steps: int) -> None:
    student, teacher = varied(1), varied(2)
    batch = make_batch([(5, 4), (3, 6), (8, 2)])
    context = make_context(student, batch, teacher=teacher)
    written = Decoding(steps=steps)(teacher, batch.source)
    assert any(found.tokens for found in written)
    theirs = Batch.collate(
        batch.ids.tolist(),
        [row[row.ne(PAD) & row.ne(EOS)].tolist() for row in batch.source],
        [found.tokens for found in written],
    )
    expected = Imputer()(make_context(student, theirs), context.fully_masked_input())
    loss = DimsImputer(teacher_steps=steps)(context, context.fully_masked_input())
    for row, found in enumerate(written):
        if found.tokens:  # the Imputer has no loss for an empty target, but this is no target
            assert loss.value[row].item() == pytest.approx(expected.value[row].item())
    assert loss.positions.tolist() == [10, 6, 16]


def test_visible_labels_stay_and_bind() -> None:
    student, teacher = varied(1), varied(2)
    batch = Batch.collate([0], [[6, 9, 12]], [[7, 8]])
    context = make_context(student, batch, teacher=teacher)
    visible = [MASK, 7, MASK, MASK, 8, MASK]
    # by hand: odd positions first, then the even ones, which see them
    labels = list(visible)
    for places in ([3, 5], [0, 2]):
        logits = log_probabilities(teacher, [6, 9, 12], labels)
        logits[:, never_chosen(teacher)] = -torch.inf
        for place in places:
            labels[place] = int(logits[place].argmax())
    full = full_log_probabilities(context, shown(visible))[0]
    loss = DimsImputer(teacher_steps=2)(context, shown(visible))
    assert loss.value.item() == pytest.approx(enumerated(full, visible, collapsed(labels)))


def test_a_teacher_that_writes_nothing() -> None:
    student, teacher = varied(1), varied(2)
    norm = teacher.decoder_norm
    with torch.no_grad():  # BLANK everywhere
        teacher.embedding.weight[5] = 20 * norm.bias
        norm.weight.zero_()
    batch = Batch.collate([0], [[6, 9]], [[7, 8]])
    context = make_context(student, batch, teacher=teacher)
    assert Decoding(steps=2)(teacher, batch.source)[0].tokens == []
    loss = DimsImputer(teacher_steps=2)(context, context.fully_masked_input())
    full = full_log_probabilities(context, context.fully_masked_input())[0]
    assert loss.value.item() == pytest.approx(-full[:, 5].sum().item())
    assert loss.positions.item() == 4


def test_without_a_teacher_it_is_the_loss_of_the_reference() -> None:
    context = make_context(varied(1), make_batch([(5, 4), (3, 2)]))
    made = BlockMask()(context)
    assert torch.equal(DimsImputer()(context, made).value, Imputer()(context, made).value)
