from collections.abc import Callable
from typing import Any

import pytest
import torch

from nat.data.vocabulary import MASK, PAD
from nat.objective.context import BatchContext, DecoderInput, Loss, sum_of_losses

LENGTHS = [(3, 5), (7, 2), (1, 9), (0, 0)]


def test_the_canvas_is_as_long_as_the_target(
    make_model: Callable[..., Any], make_batch: Callable[..., Any], make_context: Callable[..., Any]
) -> None:
    batch = make_batch(LENGTHS)
    context = make_context(make_model(), batch)
    assert torch.equal(context.canvas_padding, batch.target_padding)
    blank = context.fully_masked_input()
    assert torch.equal(blank.target, batch.target)
    assert torch.equal(blank.tokens.eq(MASK), batch.target.ne(PAD))
    assert torch.equal(blank.loss_mask, ~blank.padding)


@pytest.mark.parametrize(("ratio", "expected"), [(1.5, [5, 11, 2, 1]), (3.0, [9, 21, 3, 1])])
def test_the_upsampled_canvas_is_as_long_as_the_source_says(
    make_model: Callable[..., Any],
    make_batch: Callable[..., Any],
    make_context: Callable[..., Any],
    ratio: float,
    expected: list[int],
) -> None:
    context = make_context(make_model(decoder={"upsample": ratio}), make_batch(LENGTHS))
    blank = context.fully_masked_input()
    assert (~blank.padding).sum(1).tolist() == expected
    assert blank.tokens.size(1) == max(expected)
    # no alignment says yet what belongs where
    assert torch.equal(blank.target, blank.tokens)


def test_positions_can_be_numbered_otherwise(
    make_model: Callable[..., Any], make_batch: Callable[..., Any], make_context: Callable[..., Any]
) -> None:
    batch = make_batch([(3, 5), (4, 5)])
    context: BatchContext = make_context(make_model(), batch)
    blank = context.fully_masked_input()
    plain = context.decode(blank)
    numbers = torch.arange(5).expand(2, 5)

    def numbered(positions: torch.Tensor) -> torch.Tensor:
        return context.decode(
            DecoderInput(
                blank.tokens, blank.padding, blank.target, blank.loss_mask, positions=positions
            )
        )

    torch.testing.assert_close(numbered(numbers), plain)
    # a decoder without a mask does not know in which order its positions are given
    torch.testing.assert_close(numbered(numbers.flip(1)).flip(1), plain)
    assert not torch.allclose(numbered(numbers + 1), plain)


def test_losses_of_several_tasks_are_added() -> None:
    first = Loss(torch.tensor([1.0, 2.0]), torch.tensor([1, 2]), {"nll": torch.tensor([3.0, 4.0])})
    second = Loss(torch.tensor([5.0, 0.0]), torch.tensor([2, 0]), {"other": torch.ones(2)})
    both = sum_of_losses([first, second])
    assert both.value.tolist() == [6.0, 2.0]
    assert both.positions.tolist() == [3, 2]
    assert both.parts["nll"].tolist() == [3.0, 4.0]
    assert both.parts["other"].tolist() == [1.0, 1.0]
    assert sum_of_losses([first]) is first
