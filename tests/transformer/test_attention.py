"""Masks that are left out of attention, and the options of a decoder's attention."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from nat.data.vocabulary import MASK, PAD
from nat.transformer import attention
from nat.transformer.attention import CrossAttention, PositionalAttention, SelfAttention
from tests.tiny import make_batch, make_model

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


def test_attention_weights_come_from_positions_alone() -> None:
    torch.manual_seed(1)
    attention = PositionalAttention(8, 2).double()
    positions = torch.randn(1, 5, 8, dtype=torch.float64)
    visible = torch.ones(2, 1, 1, 5, dtype=torch.bool)

    states = torch.randn(2, 5, 8, dtype=torch.float64)
    found = attention(states, positions, visible, False)
    # the weights are the softmax of the products of the positions' own projections
    query, key = attention.query_key(positions[0]).chunk(2, dim=-1)
    value = attention.value(states[0])
    heads = []
    for head in (slice(0, 4), slice(4, 8)):
        weights = (query[:, head] @ key[:, head].t() / 2).softmax(1)
        heads.append(weights @ value[:, head])
    torch.testing.assert_close(found[0], attention.output(torch.cat(heads, 1)))


def test_positions_may_be_numbered() -> None:
    model, batch = make_model(decoder={"positional_attention": True}), make_batch([(3, 4), (5, 4)])
    encoded = model.encode(batch.source)

    def states(positions: torch.Tensor | None) -> torch.Tensor:
        return model.decode(batch.target, batch.target_padding, encoded, False, positions)

    ordinary = torch.arange(4).expand(2, 4)
    torch.testing.assert_close(states(None), states(ordinary))
    assert not torch.allclose(states(None), states(3 * ordinary))


def test_no_position_attends_to_itself_on_request() -> None:
    options = {"positional_attention": True, "attention_without_self": True}
    model, batch = make_model(decoder=options), make_batch([(3, 2), (4, 1), (2, 3)])
    layer = model.decoder_layers[0]
    seen: dict[str, tuple[torch.Tensor, torch.Tensor]] = {}

    def note(name: str) -> Callable[..., None]:
        return lambda _module, inputs, output: seen.update({name: (inputs[0], output)})

    layer.attention.register_forward_hook(note("self"))
    layer.positional_attention.register_forward_hook(note("positional"))
    masks = batch.target.masked_fill(batch.target.ne(PAD), MASK)
    model.decode(masks, batch.target_padding, model.encode(batch.source), causal=False)
    for name, own, values in (
        ("self", layer.attention, lambda x: layer.attention.query_key_value(x).chunk(3, dim=2)[2]),
        ("positional", layer.positional_attention, layer.positional_attention.value),
    ):
        states, found = seen[name]
        alone = own.output(values(states))
        # of two tokens each sees only the other one; a single token sees itself
        torch.testing.assert_close(found[0, :2], alone[0, [1, 0]])
        torch.testing.assert_close(found[1, 0], alone[1, 0])
    # where queries come from positions, a state has no influence on the result at its own position
    states, found = seen["positional"]
    for position in range(3):
        (gradient,) = torch.autograd.grad(found[2, position].sum(), states, retain_graph=True)
        influence = gradient[2].abs().sum(1).gt(0).tolist()
        assert influence == [other != position for other in range(3)]
