import torch

from nat.objective.context import Loss

LENGTHS = [(3, 5), (7, 2), (1, 9), (0, 0)]


def test_losses_of_several_tasks_are_added() -> None:
    first = Loss(torch.tensor([1.0, 2.0]), torch.tensor([1, 2]), {"nll": torch.tensor([3.0, 4.0])})
    second = Loss(torch.tensor([5.0, 0.0]), torch.tensor([2, 0]), {"other": torch.ones(2)})
    both = first + second
    assert both.value.tolist() == [6.0, 2.0]
    assert both.positions.tolist() == [3, 2]
    assert both.parts["nll"].tolist() == [3.0, 4.0]
    assert both.parts["other"].tolist() == [1.0, 1.0]
