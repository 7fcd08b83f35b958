"""Copies of the source as decoder input: what a masked position shows instead of the mask symbol.

Canvas positions t = 0 .. T - 1 and source tokens i = 0 .. S - 1 are compared; the S tokens include
the source's EOS if `count_source_end` of `nat.transformer.decoder_options` says so. All functions
take the source's embeddings or its last encoder states [B, S, D]; `lengths`, its tokens, and
`canvas_lengths`, the positions of each canvas, both [B]; and `width`, T. They return [B, T, D]; the
values at padding are meaningless.

Gu and Kong (2021, appendix A) copy with SoftCopy (Wei et al. 2019), "based on the relative distance
of source and target positions", without a formula. There are three readings:

- `soft_copy`, the paper's words: the distance of a source token from the same relative position, in
  source tokens. Square and temperature are those of hint-nart, the published code of Li et al.
  (2019), which has the same formula.
- `soft_copy_upsampled`, their published code for upsampled canvases (CTC): the distance is measured
  in canvas positions, so that with an upsampling of 3 nearly every position shows a single token.
- `soft_copy_by_index`, their published code for canvases as long as the target (cross-entropy and
  AXE), and the formula of Wei et al.: the difference of the two position numbers, with a
  temperature that is learned.
"""

import torch
from torch import Tensor

TEMPERATURE = 0.3
"""Divisor of squared distances, as in the published code of Gu and Kong and of hint-nart."""

LEARNED_TEMPERATURE = 0.5
"""Initial value of the learned temperature of `soft_copy_by_index`."""

SMALLEST_TEMPERATURE = 0.05
"""Lower bound of the learned temperature; the copy is hard there already."""


def uniform_copy(vectors: Tensor, lengths: Tensor, canvas_lengths: Tensor, width: int) -> Tensor:
    """The source token at the same relative position, round(t S / T), at most S - 1.

    Gu et al. (2018), section 3.2, and hint-nart; halves are rounded to the even number.
    """
    places = torch.arange(width, device=vectors.device) * lengths[:, None]
    places = (places.double() / canvas_lengths[:, None].clamp(min=1)).round().long()
    return _picked(vectors, places.minimum((lengths[:, None] - 1).clamp(min=0)))


def repeated_copy(vectors: Tensor, lengths: Tensor, canvas_lengths: Tensor, width: int) -> Tensor:
    """Each source token several times in a row, that of number floor(t S / T) at position t.

    With a canvas of k S positions every token is shown k times.
    """
    return _picked(vectors, repeated_places(lengths, canvas_lengths, width))


def repeated_places(lengths: Tensor, canvas_lengths: Tensor, width: int) -> Tensor:
    """The number of the source token at each position, [B, T], see `repeated_copy`."""
    places = torch.arange(width, device=lengths.device) * lengths[:, None]
    places = places // canvas_lengths[:, None].clamp(min=1)
    return places.minimum((lengths[:, None] - 1).clamp(min=0))


def soft_copy(states: Tensor, lengths: Tensor, canvas_lengths: Tensor, width: int) -> Tensor:
    """Mean of all states, with weights proportional to exp(-(i - t S / T)^2 / 0.3)."""
    ratio = lengths.to(states.dtype) / canvas_lengths.clamp(min=1).to(states.dtype)
    positions, places = _numbers(states, width)
    energy = -((places - positions * ratio[:, None, None]) ** 2) / TEMPERATURE
    return _interpolated(states, lengths, energy)


BY_RELATIVE_POSITION = {"uniform": uniform_copy, "repeated": repeated_copy, "soft": soft_copy}


def soft_copy_upsampled(states: Tensor, lengths: Tensor, upsample: float, width: int) -> Tensor:
    """Mean of all states, with weights proportional to exp(-(t - (i + 1/2) upsample)^2 / 0.3)."""
    positions, places = _numbers(states, width)
    energy = -((positions - (places + 0.5) * upsample) ** 2) / TEMPERATURE
    return _interpolated(states, lengths, energy.expand(states.size(0), -1, -1))


def soft_copy_by_index(states: Tensor, lengths: Tensor, temperature: Tensor, width: int) -> Tensor:
    """Mean of all states, with weights proportional to exp(-|i - t| / temperature)."""
    positions, places = _numbers(states, width)
    energy = -(positions - places).abs() / temperature.clamp(min=SMALLEST_TEMPERATURE)
    return _interpolated(states, lengths, energy.expand(states.size(0), -1, -1))


def _numbers(states: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """Numbers of the positions, [T, 1], and of the source tokens, [S]."""
    positions = torch.arange(width, device=states.device, dtype=states.dtype)
    places = torch.arange(states.size(1), device=states.device, dtype=states.dtype)
    return positions[:, None], places


def _picked(vectors: Tensor, places: Tensor) -> Tensor:
    """The vectors [B, S, D] at these places [B, T]."""
    return vectors.gather(1, places[:, :, None].expand(-1, -1, vectors.size(2)))


def _interpolated(states: Tensor, lengths: Tensor, energy: Tensor) -> Tensor:
    """Mean of the first `lengths` states [B, S, D], weighted by softmax(energy) [B, T, S]."""
    places = torch.arange(states.size(1), device=states.device)
    # an empty source keeps its EOS, so that there is something to copy
    beyond = places >= lengths.clamp(min=1)[:, None, None]
    return energy.masked_fill(beyond, -torch.inf).softmax(2) @ states
