"""A mask that hides nothing is left out of attention, which must not change a bit."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from nat.transformer import attention
from nat.transformer.attention import CrossAttention, SelfAttention

SHAPES = [(150, 13, 17), (30, 70, 70), (1, 1, 9), (2, 130, 5)]
"""Sentences, positions that ask, positions that are seen."""


def results(
    attend: Callable[[Tensor, Tensor], Tensor], states: Tensor, other: Tensor
) -> list[Tensor]:
    """Output of an attention and the gradients of what it was given."""
    given = [states.clone().requires_grad_(), other.clone().requires_grad_()]
    output = attend(*given)
    output.square().sum().backward()
    return [output, *(each.grad for each in given if each.grad is not None)]


@pytest.mark.parametrize(("sentences", "asking", "seen"), SHAPES)
def test_what_hides_nothing_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, sentences: int, asking: int, seen: int
) -> None:
    torch.manual_seed(1)
    states, source = torch.randn(sentences, asking, 64), torch.randn(sentences, seen, 64)
    across, within = CrossAttention(64, 4), SelfAttention(64, 4)
    all_seen = torch.ones(sentences, 1, 1, seen, dtype=torch.bool)
    all_asking = torch.ones(sentences, 1, 1, asking, dtype=torch.bool)

    def both() -> list[Tensor]:
        return [
            *results(lambda x, y: across(x, across.keys_and_values(y), all_seen), states, source),
            *results(lambda x, _: within(x, all_asking, causal=False), states, source),
        ]

    without = both()
    monkeypatch.setattr(attention, "_hides_nothing", lambda _: False)
    for left_out, given in zip(without, both(), strict=True):
        assert torch.equal(left_out, given)


def test_only_what_hides_nothing_is_left_out() -> None:
    visible = torch.ones(2, 1, 1, 3, dtype=torch.bool)
    assert attention._hides_nothing(visible)
    # a device that would have to be waited for is not asked
    assert not attention._hides_nothing(visible.to("meta"))
    visible[1, 0, 0, 2] = False
    assert not attention._hides_nothing(visible)
