from collections.abc import Callable
from typing import Any

import pytest
import torch
from pydantic import ValidationError

from nat.data.batch import Batch
from nat.data.vocabulary import MASK, PAD
from nat.transformer.attention import PositionalAttention
from nat.transformer.decoder_options import DecoderOptions
from nat.transformer.model import Transformer

MakeModel = Callable[..., Transformer]
MakeBatch = Callable[..., Batch]

POSITIONAL = {"positional_attention": True}


@pytest.mark.parametrize(
    "wrong", [{"copy": "hard"}, {"upsample": 0.5}, {"positional_attention": 2}, {"width": 3}]
)
def test_senseless_options_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises((ValidationError, TypeError)):
        DecoderOptions(**wrong)


def test_attention_weights_come_from_positions_alone() -> None:
    torch.manual_seed(1)
    attention = PositionalAttention(8, 2).double()
    positions = torch.randn(1, 5, 8, dtype=torch.float64)
    visible = torch.ones(2, 1, 1, 5, dtype=torch.bool)

    def moved(states: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = attention(states, positions, visible, False)
        return found

    first, second = torch.randn(2, 2, 5, 8, dtype=torch.float64)
    # so the result is linear in the states
    torch.testing.assert_close(moved(first) + 2 * moved(second), moved(first + 2 * second))
    # and the weights are the softmax of the products of the positions' own projections
    query, key = attention.query_key(positions[0]).chunk(2, dim=-1)
    value = attention.value(first[0])
    heads = []
    for head in (slice(0, 4), slice(4, 8)):
        weights = (query[:, head] @ key[:, head].t() / 2).softmax(1)
        heads.append(weights @ value[:, head])
    torch.testing.assert_close(moved(first)[0], attention.output(torch.cat(heads, 1)))


@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_a_sentence_is_the_same_alone_and_in_a_batch(
    make_model: MakeModel,
    make_batch: MakeBatch,
    one_sentence: Callable[[Batch, int], Batch],
    positions: str,
) -> None:
    model = make_model(decoder=POSITIONAL, positions=positions)
    batch = make_batch([(3, 5), (7, 2), (1, 9), (4, 1), (2, 0)])
    states = model.decode(
        batch.target, batch.target_padding, model.encode(batch.source), causal=False
    )
    assert states.isfinite().all()
    for row in range(len(batch.ids)):
        alone = one_sentence(batch, row)
        own = model.decode(
            alone.target, alone.target_padding, model.encode(alone.source), causal=False
        )
        torch.testing.assert_close(own[0], states[row, : alone.target.size(1)])


def test_positions_may_be_numbered(make_model: MakeModel, make_batch: MakeBatch) -> None:
    model, batch = make_model(decoder=POSITIONAL), make_batch([(3, 4), (5, 4)])
    encoded = model.encode(batch.source)

    def states(positions: torch.Tensor | None) -> torch.Tensor:
        return model.decode(batch.target, batch.target_padding, encoded, False, positions)

    ordinary = torch.arange(4).expand(2, 4)
    torch.testing.assert_close(states(None), states(ordinary))
    assert not torch.allclose(states(None), states(3 * ordinary))


@pytest.mark.parametrize("pre_norm", [False, True])
def test_every_weight_of_positional_attention_learns(
    make_model: MakeModel, make_batch: MakeBatch, pre_norm: bool
) -> None:
    model, batch = make_model(decoder=POSITIONAL, pre_norm=pre_norm), make_batch()
    plain = make_model(pre_norm=pre_norm)
    masks = batch.target.masked_fill(batch.target.ne(PAD), MASK)
    states = model.decode(masks, batch.target_padding, model.encode(batch.source), causal=False)
    # not the squares: the normalisation at the end makes their sum nearly constant
    (states[batch.target.ne(PAD)] ** 3).sum().backward()
    added = dict(model.named_parameters()).keys() - dict(plain.named_parameters()).keys()
    assert len(added) == 2 * 8  # two layers of three linear layers and a normalisation
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None and parameter.grad.isfinite().all()
        # a key's bias moves all products of a query alike, so only half of that bias does anything
        if name in added:
            assert parameter.grad.abs().max() > 1e-9, name


def test_a_causal_decoder_never_sees_the_future(
    make_model: MakeModel, make_batch: MakeBatch
) -> None:
    model, batch = make_model(decoder=POSITIONAL), make_batch([(3, 6)])
    encoded = model.encode(batch.source)
    changed = batch.target.clone()
    changed[:, 4] = 6 + (changed[:, 4] - 5) % 20
    first, second = (
        model.decode(tokens, batch.target_padding, encoded, causal=True)
        for tokens in (batch.target, changed)
    )
    torch.testing.assert_close(first[:, :4], second[:, :4])
    assert not torch.allclose(first[:, 4:], second[:, 4:])


def test_no_position_attends_to_itself_on_request(
    make_model: MakeModel, make_batch: MakeBatch
) -> None:
    options = {"positional_attention": True, "attention_without_self": True}
    model, batch = make_model(decoder=options), make_batch([(3, 2), (4, 1), (2, 3)])
    layer = model.decoder_layers[0]
    seen: dict[str, tuple[torch.Tensor, torch.Tensor]] = {}

    def note(name: str) -> Callable[..., None]:
        return lambda _module, inputs, output: seen.update({name: (inputs[0], output)})

    layer.attention.register_forward_hook(note("self"))
    layer.positional_attention.register_forward_hook(note("positional"))  # type: ignore[union-attr]
    masks = batch.target.masked_fill(batch.target.ne(PAD), MASK)
    model.decode(masks, batch.target_padding, model.encode(batch.source), causal=False)
    for name, attention in (
        ("self", layer.attention),
        ("positional", layer.positional_attention),
    ):
        states, found = seen[name]
        if name == "self":
            values = attention.query_key_value(states).chunk(3, dim=2)[2]
        else:
            values = attention.value(states)
        alone = attention.output(values)
        # of two tokens each sees only the other one; a single token sees itself
        torch.testing.assert_close(found[0, :2], alone[0, [1, 0]])
        torch.testing.assert_close(found[1, 0], alone[1, 0])
    # where queries come from positions, a state has no influence on the result at its own position
    states, found = seen["positional"]
    for position in range(3):
        (gradient,) = torch.autograd.grad(found[2, position].sum(), states, retain_graph=True)
        influence = gradient[2].abs().sum(1).gt(0).tolist()
        assert influence == [other != position for other in range(3)]
