"""CMLMC: which visible tokens are replaced, by what, what is learned there, and the decoder."""

import dataclasses

import pytest
import torch
import torch.nn.functional as F

from nat.data.vocabulary import EOS, MASK, PAD, SPECIALS
from nat.inputs.random_mask import RandomMask
from nat.objective.context import DecoderInput
from nat.targets.cmlmc import Cmlmc
from tests.tiny import decoded, full_log_probabilities, make_batch, make_context, make_model

LENGTHS = [(3, 12), (7, 20), (1, 9), (4, 1), (2, 0), (3, 2)]
DECODER = {"positions": "concatenated", "causal_attention": True}


def visible(decoder_input: DecoderInput) -> torch.Tensor:
    return ~decoder_input.padding & decoder_input.tokens.ne(MASK)


@pytest.mark.parametrize("factor", [0.3, 0.5, 1.0])
def test_a_share_of_the_visible_tokens_is_replaced_by_predictions(factor: float) -> None:
    model, batch = make_model(decoder=DECODER), make_batch(LENGTHS)
    for update in range(10):
        context = make_context(model, batch, update)
        before = RandomMask()(context)
        after = Cmlmc(replace_factor=factor).replace(context, before)
        chosen = after.loss_mask
        assert not (chosen & ~visible(before)).any()
        shown = visible(before).sum(1)
        assert chosen.sum(1).tolist() == [int(count * factor) for count in shown.tolist()]
        assert torch.equal(after.tokens[~chosen], before.tokens[~chosen])
        assert torch.equal(after.target, before.target)
        # what a canvas of nothing but masks predicts
        canvas = torch.where(before.padding, before.tokens, MASK)
        states = model.decode(canvas, before.padding, context.encoded, causal=False)
        logits = states @ model.embedding.weight.t()
        special = [number for number in range(len(SPECIALS)) if SPECIALS[number] != "<unk>"]
        logits[:, :, special] = -torch.inf
        assert torch.equal(after.tokens[chosen], logits.argmax(2)[chosen])


def test_places_are_drawn_evenly_and_apart_from_the_masks() -> None:
    model, batch = make_model(), make_batch([(2, 10)] * 100)
    masked, replaced = torch.zeros(10), torch.zeros(10)
    for update in range(40):
        context = make_context(model, batch, update)
        before = RandomMask()(context)
        masked += before.loss_mask.sum(0)
        replaced += Cmlmc(replace_factor=0.3).replace(context, before).loss_mask.sum(0)
    for counts in (masked, replaced):
        assert (counts - counts.mean()).abs().max() < 5 * counts.mean() ** 0.5


def test_the_loss_is_that_of_both_canvases() -> None:
    model, batch = make_model(decoder=DECODER), make_batch(LENGTHS)
    context = make_context(model, batch, 2)
    before = RandomMask()(context)
    target = Cmlmc(replace_factor=0.3, label_smoothing=0.1)
    loss = target(context, before)
    after = target.replace(context, before)
    value = torch.zeros(len(LENGTHS), dtype=torch.float64)
    nll = {"nll": value.clone(), "correction_nll": value.clone()}
    for name, decoder_input in (("nll", before), ("correction_nll", after)):
        scores = full_log_probabilities(context, decoder_input)
        for row, place in decoder_input.loss_mask.nonzero().tolist():
            found, true = scores[row, place], batch.target[row, place]
            value[row] += F.cross_entropy(found, true, label_smoothing=0.1).detach()
            nll[name][row] -= found[true].detach()
    torch.testing.assert_close(loss.value.detach(), value)
    for name, expected in nll.items():
        torch.testing.assert_close(loss.parts[name], expected)
    positions = before.loss_mask.sum(1) + after.loss_mask.sum(1)
    assert torch.equal(loss.positions, positions)


def test_masked_sources_are_seen_by_every_pass_and_predicted() -> None:
    model, batch = make_model(decoder=DECODER), make_batch([*LENGTHS, (38, 3)])
    context = make_context(model, batch, 2)
    before = RandomMask()(context)
    plain = Cmlmc(replace_factor=0.3, label_smoothing=0.1)
    target = Cmlmc(replace_factor=0.3, label_smoothing=0.1, mask_source=True)
    masked, source = target.source_masks(context), batch.source
    assert not (masked & (source.eq(PAD) | source.eq(EOS))).any()
    assert masked.sum(1).tolist()[:-1] == [1] * len(LENGTHS) and 1 <= masked[-1].sum() <= 4
    model.train()
    found = target(context, before)
    encoded = model.encode(source.masked_fill(masked, MASK))
    expected = plain(dataclasses.replace(context, encoded=encoded), before)
    scores = encoded.states @ model.embedding.weight.t()
    means = torch.stack(
        [
            F.cross_entropy(scores[row][masked[row]], source[row][masked[row]], label_smoothing=0.1)
            for row in range(len(source))
        ]
    )
    torch.testing.assert_close(found.value, expected.value + 0.01 * means * expected.positions)
    assert torch.equal(found.positions, expected.positions)
    model.eval()  # in validation, nothing is masked
    torch.testing.assert_close(target(context, before).value, plain(context, before).value)


def test_the_causal_attention_follows_one_that_sees_everything() -> None:
    """Its own weights decide how much the tokens before a position count; padding never does."""
    model = make_model(decoder={"causal_attention": True})
    plain = make_model()
    names = {name for name, _ in model.named_parameters()}
    added = names - {name for name, _ in plain.named_parameters()}
    assert added and all("causal_attention" in name for name in added)

    def states(last: int) -> torch.Tensor:
        return decoded(model, [7, 8], [9, 10, 11, last])

    first, second = states(12), states(13)
    assert not torch.allclose(first[0], second[0])  # the other self-attention still sees all
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if ".attention.output" in name:
                parameter.zero_()
    first, second = states(12), states(13)
    torch.testing.assert_close(first[:3], second[:3])
    assert not torch.allclose(first[3], second[3])
    tokens = torch.tensor([[9, 10, 11, 12, PAD, PAD]])
    encoded = model.encode(torch.tensor([[7, 8, EOS]]))
    longer = model.decode(tokens, tokens.eq(PAD), encoded, causal=False)
    torch.testing.assert_close(longer[0, :4], first)


@pytest.mark.parametrize("option", ["positions", "source_positions"])
@pytest.mark.parametrize(
    ("kind", "scaled", "scale"),
    # of embeddings and learned positions alike: sqrt(16), unless they are not scaled
    [("sinusoidal", True, 1.0), ("learned", True, 4.0), ("learned", False, 1.0)],
)
def test_concatenated_positions_are_mapped_to_one_vector(
    kind: str, scaled: bool, scale: float, option: str
) -> None:
    model = make_model(
        decoder={option: "concatenated"}, positions=kind, scale_embeddings=scaled
    ).eval()
    joined: list[tuple[str, torch.Tensor]] = []
    for place in ("positions", "source_positions"):
        if (join := getattr(model, f"join_{place}")) is not None:
            join.register_forward_hook(
                lambda _, inputs, __, place=place: joined.append((place, inputs[0]))
            )
    source, tokens = torch.tensor([[7, 8, EOS]]), torch.tensor([[MASK, MASK, 9]])
    decoded(model, [7, 8], tokens[0].tolist())
    ((place, found),) = joined  # the other side adds them, as ever
    assert place == option
    shown = tokens if option == "positions" else source
    scale_of_embeddings = 4.0 if scaled else 1.0
    torch.testing.assert_close(found[:, :, :16], scale_of_embeddings * model.embedding(shown))
    torch.testing.assert_close(found[0, :, 16:], scale * model.positions[:3])
