import math
from typing import Any

import pytest
import torch

from nat.alignment.ctc import collapse
from nat.alignment.edit_distance import edit_distance
from nat.data.vocabulary import MASK, PAD
from nat.inputs.glancing import Glancing, poisson
from nat.objective.first_pass import FirstPass
from nat.registry import Method, build
from tests.tiny import make_batch, make_context, make_model


def wrong(context: Any) -> torch.Tensor:
    first = FirstPass(context)
    return (first.predicted().ne(first.labels) & ~first.canvas.padding).sum(1)


@pytest.mark.parametrize("ratio", [0.3, 0.5, 1.0])
def test_the_number_follows_what_is_wrong(ratio: float) -> None:
    batch = make_batch([(3, 12), (7, 2), (5, 9), (4, 1), (2, 0)])
    context = make_context(make_model(), batch)
    found = Glancing(ratio=ratio)(context)
    real = ~found.padding
    revealed = found.tokens.ne(MASK) & real
    expected = (ratio * wrong(context)).round().long()
    # one position stays hidden
    expected = expected.minimum((batch.target_lengths - 1).clamp(min=0))
    assert revealed.sum(1).tolist() == expected.tolist()
    assert torch.equal(found.tokens[revealed], batch.target[revealed])
    assert torch.equal(found.loss_mask, real & ~revealed)
    assert torch.equal(found.tokens.eq(PAD), found.padding)


def test_the_ratio_moves_with_training() -> None:
    model, batch = make_model(), make_batch([(3, 30)])
    glancing = Glancing(ratio=0.5, final_ratio=0.1)
    for progress, ratio in ((0.0, 0.5), (0.5, 0.3), (1.0, 0.1)):
        context = make_context(model, batch, progress=progress)
        shown = glancing(context).tokens.ne(MASK).sum().item()
        assert shown == round(ratio * wrong(context).item())


@pytest.mark.parametrize("chosen", ["likely", "unlikely"])
def test_labels_are_drawn_by_probability(monkeypatch: pytest.MonkeyPatch, chosen: str) -> None:
    draws, p = 2000, torch.tensor([0.9, 0.5, 0.1], dtype=torch.float64)
    model, one = make_model(vocabulary_size=9), make_batch([(3, 3)], vocabulary_size=9)
    batch = type(one)(torch.arange(draws), one.source.repeat(draws, 1), one.target.repeat(draws, 1))
    context = make_context(model, batch)
    assert wrong(context)[0].item() * 0.4 == pytest.approx(1, abs=0.49)  # so one is revealed
    monkeypatch.setattr(FirstPass, "log_probabilities", lambda _: p.log().expand(draws, 3))
    glancing = build("inputs", Method(method="glancing", ratio=0.4, chosen=chosen))
    revealed = glancing(context).tokens.ne(MASK)
    assert (revealed.sum(1) == 1).all()
    drawn = revealed.sum(0).tolist()
    weight = p if chosen == "likely" else 1 - p
    for place, share in enumerate((weight / weight.sum()).tolist()):
        deviation = math.sqrt(share * (1 - share) / draws)
        assert drawn[place] / draws == pytest.approx(share, abs=4 * deviation)


def test_poisson_draws() -> None:
    uniform = (torch.arange(20_000) + 0.5) / 20_000
    for mean in (0.0, 0.4, 3.0, 17.5):
        drawn = poisson(torch.full((20_000,), mean), uniform, 100).double()
        assert drawn.mean().item() == pytest.approx(mean, rel=0.002, abs=1e-9)
        assert drawn.var().item() == pytest.approx(mean, rel=0.01, abs=1e-9)
    assert poisson(torch.full((20_000,), 17.5), uniform, 12).max() == 12


def test_what_is_moved_by_one_place_is_wrong_everywhere_and_two_edits_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, batch = make_model(), make_batch([(3, 20)])
    predicted = torch.arange(6, 26)[None]  # an untrained model says the same everywhere
    monkeypatch.setattr(FirstPass, "predicted", lambda _: predicted)
    moved = make_context(model, type(batch)(batch.ids, batch.source, predicted.roll(1, 1)))
    assert Glancing(ratio=0.5)(moved).tokens.ne(MASK).sum() == 10
    assert Glancing(ratio=1.0, distance="levenshtein")(moved).tokens.ne(MASK).sum() == 2


def test_edits_on_an_upsampled_canvas_are_of_what_it_collapses_to() -> None:
    batch = make_batch([(6, 5), (7, 4), (8, 3)])
    context = make_context(make_model(decoder={"copy": "soft", "upsample": 2.0}), batch)
    first = FirstPass(context)
    predicted = collapse(first.predicted(), first.canvas.padding)
    found = Glancing(ratio=1.0, distance="levenshtein")(context)
    shown = found.tokens.ne(MASK) & ~found.padding
    assert shown.sum(1).tolist() == edit_distance(predicted, batch.target).tolist()


def test_the_alignment_is_revealed_on_an_upsampled_canvas() -> None:
    batch = make_batch([(6, 5), (7, 2), (5, 9), (1, 4), (2, 0)])  # the fourth does not fit
    model = make_model(decoder={"copy": "soft", "upsample": 2.0})
    context = make_context(model, batch)
    found = Glancing(ratio=1.0)(context)
    assert torch.equal(found.loss_mask, ~found.padding)
    shown = found.tokens.ne(MASK) & ~found.padding
    assert torch.equal(found.tokens[shown], found.target[shown])
    assert shown.sum(1).tolist()[:3] == wrong(context).tolist()[:3]
    assert shown[3].sum() == 0
    labels = collapse(found.target, found.padding)
    for row in (0, 1, 2, 4):
        tokens = batch.target[row][batch.target[row].ne(PAD)].tolist()
        assert labels[row][labels[row].ne(PAD)].tolist() == tokens
