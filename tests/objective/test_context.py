import pytest
import torch

from nat.objective.context import Loss
from tests.tiny import make_batch, make_context, make_model

LENGTHS = [(3, 5), (7, 2), (1, 9), (0, 0)]


@pytest.mark.parametrize(("ratio", "expected"), [(1.5, [5, 11, 2, 1]), (3.0, [9, 21, 3, 1])])
def test_the_upsampled_canvas_is_as_long_as_the_source_says(
    ratio: float, expected: list[int]
) -> None:
    context = make_context(make_model(decoder={"upsample": ratio}), make_batch(LENGTHS))
    blank = context.fully_masked_input()
    assert (~blank.padding).sum(1).tolist() == expected
    assert blank.tokens.size(1) == max(expected)
    # no alignment says yet what belongs where
    assert torch.equal(blank.target, blank.tokens)


def test_losses_of_several_tasks_are_added() -> None:
    first = Loss(torch.tensor([1.0, 2.0]), torch.tensor([1, 2]), {"nll": torch.tensor([3.0, 4.0])})
    second = Loss(torch.tensor([5.0, 0.0]), torch.tensor([2, 0]), {"other": torch.ones(2)})
    both = first + second
    assert both.value.tolist() == [6.0, 2.0]
    assert both.positions.tolist() == [3, 2]
    assert both.parts["nll"].tolist() == [3.0, 4.0]
    assert both.parts["other"].tolist() == [1.0, 1.0]
