"""The optimiser of GPUs against fairseq's, which trains on CPUs; both can run on a CPU."""

import copy

import pytest
import torch
from fairseq.optim import FairseqOptimizer
from fairseq.optim.adam import FairseqAdam, FairseqAdamConfig
from torch import nn

from nat.fairseq_plugin.components import FusedAdam

OPTIONS = {"adam_betas": "(0.9, 0.98)", "adam_eps": 1e-9, "weight_decay": 0.01, "lr": [0.1]}
CLASSES = pytest.mark.parametrize("optimizer_class", [FairseqAdam, FusedAdam])


def parameters() -> list[nn.Parameter]:
    torch.manual_seed(1)
    return [nn.Parameter(torch.randn(5, 7)), nn.Parameter(torch.randn(3))]


def made(optimizer_class: type[FairseqAdam], of: list[nn.Parameter]) -> FairseqOptimizer:
    return optimizer_class(FairseqAdamConfig(**OPTIONS, tpu=False), of)


def set_gradients(of: list[nn.Parameter], number: int) -> None:
    for each in of:
        each.grad = each.detach() ** 3 + number


def update(optimizer: FairseqOptimizer, of: list[nn.Parameter], number: int) -> None:
    set_gradients(of, number)
    optimizer.set_lr(0.1 / (1 + number))
    optimizer.step()


def test_updates_are_those_of_fairseq() -> None:
    both = {each: parameters() for each in (FairseqAdam, FusedAdam)}
    for optimizer_class, values in both.items():
        optimizer = made(optimizer_class, values)
        for number in range(5):
            update(optimizer, values, number)
    for one, other, start in zip(*both.values(), parameters(), strict=True):
        # an epsilon in another place, and sums in another order
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)
        assert (one - start).abs().max() > 0.1


@CLASSES
@pytest.mark.parametrize("largest", [0.0, 0.5, 1e6])
def test_norm_and_clipping(optimizer_class: type[FairseqAdam], largest: float) -> None:
    values = parameters()
    optimizer = made(optimizer_class, values)
    set_gradients(values, 1)
    before = torch.cat([each.grad.flatten() for each in values if each.grad is not None])
    norm = optimizer.clip_grad_norm(largest)
    after = torch.cat([each.grad.flatten() for each in values if each.grad is not None])
    torch.testing.assert_close(norm, before.norm())
    torch.testing.assert_close(after.norm(), norm.clamp(max=largest) if largest else norm)
    torch.testing.assert_close(after / after.norm(), before / before.norm())


@CLASSES
def test_resumes_from_its_state(optimizer_class: type[FairseqAdam]) -> None:
    values = parameters()
    optimizer = made(optimizer_class, values)
    for number in range(3):
        update(optimizer, values, number)
    resumed = [nn.Parameter(each.detach().clone()) for each in values]
    other = made(optimizer_class, resumed)
    other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    update(optimizer, values, 3)
    update(other, resumed, 3)
    for one, two in zip(values, resumed, strict=True):
        assert torch.equal(one, two)
