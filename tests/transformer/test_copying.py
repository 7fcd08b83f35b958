import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
import torch
from pydantic import ValidationError
from torch import Tensor

from nat.data.vocabulary import MASK
from nat.transformer.architecture import DecoderOptions
from nat.transformer.copying import HARD, SMALLEST_TEMPERATURE, TEMPERATURE, places_of, soft_copy
from tests.messages import told
from tests.tiny import make_batch, make_model

KINDS = ["uniform", "repeated", "soft", "soft_upsampled", "soft_index"]
UPSAMPLE = 1.5
TAU = torch.tensor(0.5, dtype=torch.float64)


def numbered(tokens: int, sentences: int = 1) -> Tensor:
    """Vectors that say which source token they are of, [sentences, tokens, 1]."""
    return torch.arange(float(tokens)).double().expand(sentences, -1)[:, :, None]


def copied(
    kind: str, vectors: Tensor, lengths: Tensor, canvas: Tensor, width: int, tau: Tensor = TAU
) -> Tensor:
    if kind in HARD:
        places = places_of(kind, lengths, canvas, width)[:, :, None]
        return vectors.gather(1, places.expand(-1, -1, vectors.size(2)))
    scale = UPSAMPLE if kind == "soft_upsampled" else tau
    return soft_copy(kind, vectors, lengths, canvas, width, scale)


@pytest.mark.parametrize(
    ("kind", "source", "canvas", "expected"),
    [
        ("uniform", 3, 3, [0, 1, 2]),
        ("uniform", 3, 6, [0, 0, 1, 2, 2, 2]),  # 0, 0.5, 1, 1.5, 2, 2.5
        ("uniform", 3, 5, [0, 1, 1, 2, 2]),  # 0, 0.6, 1.2, 1.8, 2.4
        ("uniform", 5, 3, [0, 2, 3]),  # 0, 1.67, 3.33
        ("uniform", 1, 4, [0, 0, 0, 0]),
        ("uniform", 4, 1, [0]),
        ("repeated", 3, 6, [0, 0, 1, 1, 2, 2]),
        ("repeated", 2, 6, [0, 0, 0, 1, 1, 1]),
        ("repeated", 3, 8, [0, 0, 0, 1, 1, 1, 2, 2]),
        ("repeated", 1, 4, [0, 0, 0, 0]),
    ],
)
def test_copies_of_single_tokens_by_hand(
    kind: str, source: int, canvas: int, expected: list[int]
) -> None:
    vectors = numbered(source + 1)  # the last one is EOS, which is never copied
    found = copied(kind, vectors, torch.tensor([source]), torch.tensor([canvas]), canvas)
    assert found[0, :, 0].tolist() == expected


ENERGIES: dict[str, Callable[[int, int, int, int], float]] = {
    "soft": lambda t, i, canvas, source: (i - t * source / canvas) ** 2 / TEMPERATURE,
    "soft_upsampled": lambda t, i, canvas, source: (t - (i + 0.5) * UPSAMPLE) ** 2 / TEMPERATURE,
    "soft_index": lambda t, i, canvas, source: abs(t - i) / TAU.item(),
}


@pytest.mark.parametrize("kind", ENERGIES)
def test_soft_copies_are_weighted_means(kind: str) -> None:
    generator = torch.Generator().manual_seed(3)
    states = torch.randn(2, 5, 3, generator=generator, dtype=torch.float64)
    lengths, canvas = [4, 2], [6, 3]
    found = copied(kind, states, torch.tensor(lengths), torch.tensor(canvas), 6)
    for row, (source, positions) in enumerate(zip(lengths, canvas, strict=True)):
        for position in range(positions):
            energies = (ENERGIES[kind](position, i, positions, source) for i in range(source))
            weights = [math.exp(-energy) for energy in energies]
            mean = sum(w * states[row, i] for i, w in enumerate(weights)) / sum(weights)
            torch.testing.assert_close(found[row, position], mean)


def test_a_learned_temperature_stays_above_zero() -> None:
    states = torch.randn(1, 4, 2, dtype=torch.float64)
    cold = copied("soft_index", states, torch.tensor([3]), torch.tensor([3]), 3, -TAU)[0]
    tolerance = 9 * math.exp(-1 / SMALLEST_TEMPERATURE)
    torch.testing.assert_close(cold, states[0, :3], atol=tolerance, rtol=0)


@pytest.mark.parametrize("upsample", [1.1, 1.5, 2.2, 3.0, 3.3])
def test_the_longest_source_fills_the_positions(upsample: float) -> None:
    model = make_model(decoder={"upsample": upsample})
    lengths = [math.ceil(Fraction(str(upsample)) * length) for length in range(1, 230)]
    assert model.canvas_lengths(torch.arange(230)).tolist() == [1, *lengths]
    for positions in range(4, 230):
        model.architecture = replace(model.architecture, max_positions=positions)
        assert model.longest_source == sum(length <= positions for length in lengths)


@pytest.mark.parametrize("kind", KINDS)
def test_the_end_of_the_source_counts_on_request(kind: str) -> None:
    upsample = UPSAMPLE if kind in ("repeated", "soft", "soft_upsampled") else None
    options = {"copy": kind, "upsample": upsample, "count_source_end": True}
    model, batch = make_model(decoder=options), make_batch([(3, 4), (5, 2)])
    encoded = model.encode(batch.source)
    padding = torch.zeros(2, 6, dtype=torch.bool)
    if upsample is not None:
        padding = model.upsampled_padding(encoded)
        assert (~padding).sum(1).tolist() == [6, 9]  # 1.5 * 4, 1.5 * 6
        assert model.longest_source == 25  # 1.5 * 26 = 39 of 40 positions
    tokens = torch.full(padding.shape, MASK)
    of_source = kind in ("uniform", "repeated")
    vectors = model.scaled_embedding(batch.source) if of_source else encoded.states
    tau = TAU if model.copy_temperature is None else model.copy_temperature
    canvas, width = (~padding).sum(1), padding.size(1)
    expected = copied(kind, vectors, torch.tensor([4, 6]), canvas, width, tau)
    torch.testing.assert_close(model.canvas(tokens, padding, encoded), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_source_gives_its_end(kind: str) -> None:
    vectors = torch.tensor([[[7.0], [99.0]]]).double()  # EOS and padding
    found = copied(kind, vectors, torch.tensor([0]), torch.tensor([2]), 3)
    assert (found[0, :2] == 7).all()
    assert found.isfinite().all()


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_canvas_is_finite(kind: str) -> None:
    found = copied(kind, numbered(3, 2), torch.tensor([2, 2]), torch.tensor([0, 2]), 2)
    assert found.isfinite().all()
    assert copied(kind, numbered(3), torch.tensor([2]), torch.tensor([0]), 0).shape == (1, 0, 1)


@pytest.mark.parametrize("kind", ["none", *KINDS])
def test_masks_show_a_copy_and_tokens_themselves(kind: str) -> None:
    upsample = UPSAMPLE if kind == "soft_upsampled" else None
    model = make_model(decoder={"copy": kind, "upsample": upsample})
    batch = make_batch([(3, 4), (5, 4)])
    encoded = model.encode(batch.source)
    tokens = batch.target.clone()
    tokens[:, 1::2] = MASK
    shown = model.canvas(tokens, batch.target_padding, encoded)
    own = model.scaled_embedding(tokens)
    assert torch.equal(shown[:, ::2], own[:, ::2])
    assert torch.equal(shown[:, 1::2], own[:, 1::2]) == (kind == "none")


@pytest.mark.parametrize(
    "wrong",
    [{"copy": "soft_upsampled"}, {"copy": "soft_index", "upsample": 2.0}, {"copy": "source"}],
)
def test_copies_that_do_not_fit_their_canvas_are_refused(wrong: dict[str, Any]) -> None:
    with told(wrong["copy"], one_line=False, error=ValidationError):
        DecoderOptions(**wrong)
