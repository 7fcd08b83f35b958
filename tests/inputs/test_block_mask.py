"""Block masks: how many masks a block has, where they lie, and what is revealed beside them."""

import pytest
import torch
from torch import Tensor

from nat.alignment.ctc import collapse
from nat.data.batch import Batch
from nat.data.vocabulary import MASK
from nat.inputs.block_mask import SIZES, BlockMask
from tests.tiny import make_batch, make_context, make_model, without_model

# short and long sources, one token, a target that is too long, an empty one
LENGTHS = [(5, 7), (12, 3), (1, 2), (3, 9), (4, 0)]
INFEASIBLE = 3


def masks_of(width: int, real: int, number: int = 6_000) -> Tensor:
    """Masks of many sentences of which `real` positions are no padding."""
    padding = (torch.arange(width) >= real).expand(number, -1)
    empty = torch.zeros(number, 1, dtype=torch.int64)
    context = without_model(Batch(torch.arange(number), empty, empty))
    return BlockMask().masks(context, padding)[:, :real]


def test_every_block_of_a_sentence_has_as_many_masks() -> None:
    """Each sentence fits one size and number; all of them occur, as often as they should."""
    found = masks_of(50, 48)
    counts = {size: found.unflatten(1, (-1, size)).sum(2) for size in SIZES}
    fits = {
        size: (count == count[:, :1]).all(1) & count[:, 0].gt(0) for size, count in counts.items()
    }
    assert torch.stack(list(fits.values())).any(0).all()
    # only blocks of 16 have 16 - 1 masks in 16; a quarter of the sentences, a sixteenth of these
    rare = (fits[16] & counts[16][:, 0].eq(15)).sum().item()
    assert rare == pytest.approx(6_000 / 4 / 16, rel=0.3)
    everything = 6_000 / 4 * sum(1 / size for size in SIZES)
    assert found.all(1).sum().item() == pytest.approx(everything, rel=0.1)


def test_every_position_is_as_likely() -> None:
    shares = masks_of(48, 48).double().mean(0)
    expected = sum((size + 1) / (2 * size) for size in SIZES) / len(SIZES)
    assert shares.tolist() == pytest.approx([expected] * 48, abs=0.04)


def test_a_shorter_last_block_has_as_many_or_is_all_masks() -> None:
    one, three, many = (masks_of(40, real) for real in (1, 3, 31))
    assert one.all() and three.any(1).all() and many.any(1).all()
    # blocks of 2: the third position is a block of its own, and so masked
    assert three[:, 2].double().mean() > three[:, 0].double().mean()


def test_visible_labels_are_the_best_alignment() -> None:
    model = make_model(decoder={"upsample": 2})
    batch = make_batch(LENGTHS)
    for update in range(30):
        context = make_context(model, batch, update)
        found = BlockMask()(context)
        padding = model.upsampled_padding(context.encoded)
        assert torch.equal(found.padding, padding)
        masked = found.loss_mask
        assert not (masked & padding).any()
        assert masked.any(1).all()
        assert found.tokens[masked].eq(MASK).all()
        assert torch.equal(found.tokens[~masked], found.target[~masked])
        for row, (source, target) in enumerate(LENGTHS):
            labels = found.target[row, : 2 * source]
            if row == INFEASIBLE:
                assert labels.eq(MASK).all() and masked[row, : 2 * source].all()
            else:
                written = collapse(labels[None], torch.zeros_like(labels[None]).bool())
                assert written[0].tolist() == batch.target[row, :target].tolist()
    assert not found.causal


def test_the_teachers_alignment_is_revealed_on_request() -> None:
    model, teacher = (make_model(seed=seed, decoder={"upsample": 2}) for seed in (1, 2))
    batch = make_batch([(9, 7), (12, 4)])
    mine, its = (BlockMask()(make_context(each, batch)) for each in (model, teacher))
    assert not torch.equal(mine.target, its.target)
    taught = make_context(model, batch, teacher=teacher)
    assert torch.equal(BlockMask()(taught).target, mine.target)
    found = BlockMask(aligned_by="teacher")(taught)
    assert torch.equal(found.target, its.target)
    assert torch.equal(found.loss_mask, mine.loss_mask)
    # in validation there is no teacher
    alone = BlockMask(aligned_by="teacher")(make_context(model, batch))
    assert torch.equal(alone.target, mine.target)
