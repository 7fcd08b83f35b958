"""Copies of the source as decoder input: what a masked position shows instead of the mask symbol.

Canvas positions t = 0 .. T - 1 and source tokens i = 0 .. S - 1 are compared; the S tokens include
the source's EOS if `count_source_end` of `nat.transformer.architecture` says so. `lengths`, the
tokens of each source, and `canvas_lengths`, the positions of each canvas, are [B]; `width` is T.
Values at padding are meaningless.

Gu and Kong (2021, appendix A) copy with SoftCopy (Wei et al. 2019), "based on the relative distance
of source and target positions", without a formula. There are three readings:

- `soft`, the paper's words: the distance of a source token from the same relative position, in
  source tokens. Square and temperature are those of hint-nart, the published code of Li et al.
  (2019), which has the same formula.
- `soft_upsampled`, their published code for upsampled canvases (CTC): the distance is measured in
  canvas positions, so that with an upsampling of 3 nearly every position shows a single token.
- `soft_index`, their published code for canvases as long as the target (cross-entropy and AXE), and
  the formula of Wei et al.: the difference of the two position numbers, with a temperature that is
  learned.
"""

import torch
from torch import Tensor

TEMPERATURE = 0.3
"""Divisor of squared distances, as in the published code of Gu and Kong and of hint-nart."""

LEARNED_TEMPERATURE = 0.5
"""Initial value of the learned temperature of `soft_index`."""

SMALLEST_TEMPERATURE = 0.05
"""Lower bound of the learned temperature; the copy is hard there already."""


HARD = ("uniform", "repeated")
"""Kinds that show the vector of a single source token."""


def places_of(kind: str, lengths: Tensor, canvas_lengths: Tensor, width: int) -> Tensor:
    """The source token that each position shows in a copy of a `HARD` kind, at most S - 1, [B, T].

    `uniform` is the one at the same relative position, round(t S / T), halves to the even number
    (Gu et al. 2018, section 3.2, and hint-nart). `repeated` is that of number floor(t S / T): on a
    canvas of k S positions every token is shown k times.
    """
    places = torch.arange(width, device=lengths.device) * lengths[:, None]
    positions = canvas_lengths[:, None].clamp(min=1)
    if kind == "uniform":
        places = (places.double() / positions).round().long()
    else:
        places = places // positions
    return places.minimum((lengths[:, None] - 1).clamp(min=0))


def soft_copy(
    kind: str,
    states: Tensor,
    lengths: Tensor,
    canvas_lengths: Tensor,
    width: int,
    scale: Tensor | float | None = None,
) -> Tensor:
    """Mean of all states [B, S, D], with weights proportional to exp(-energy), [B, T, D].

    The energy of token i at position t is

        (i - t S / T)^2 / 0.3                 for `soft`,
        (t - (i + 1/2) scale)^2 / 0.3         for `soft_upsampled`, `scale` being the upsampling,
        |i - t| / scale                       for `soft_index`, `scale` being the temperature.
    """
    positions = torch.arange(width, device=states.device, dtype=states.dtype)[:, None]
    places = torch.arange(states.size(1), device=states.device, dtype=states.dtype)
    if kind == "soft":
        ratio = lengths.to(states.dtype) / canvas_lengths.clamp(min=1).to(states.dtype)
        energy = (places - positions * ratio[:, None, None]) ** 2 / TEMPERATURE
    elif kind == "soft_upsampled":
        assert scale is not None
        energy = (positions - (places + 0.5) * scale) ** 2 / TEMPERATURE
    else:
        assert isinstance(scale, Tensor)
        energy = (positions - places).abs() / scale.clamp(min=SMALLEST_TEMPERATURE)
    # an empty source keeps its EOS, so that there is something to copy
    numbers = torch.arange(states.size(1), device=states.device)
    beyond = numbers >= lengths.clamp(min=1)[:, None, None]
    return (-energy).masked_fill(beyond, -torch.inf).softmax(2) @ states
