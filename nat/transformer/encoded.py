"""An encoded source, which all passes of a decoding share."""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from nat.transformer.gaussian import Gaussian
from nat.transformer.layers import DecoderLayer

OF_SENTENCES = ("states", "padding", "source", "without_latents", "copied", "length_state")
"""What decodings need of an encoded source."""


@dataclass(frozen=True, eq=False)
class Encoded:
    """An encoded source.

    Without gradients, the keys and values that decoder layers compute from it are cached, so that
    the passes of a decoding share them.

    Attributes:
        states: what cross-attention sees, the last encoder states and their latents, [B, S, D];
            of a model without decoder layers, the embeddings.
        padding: True at padding, [B, S].
        source: tokens and EOS, [B, S].
        without_latents: the last encoder states, [B, S, D]; None if `states` has no latents.
        copied: what `soft` copies of the source are made of, [B, S, D]; None for `states`.
        length_state: the last state of a token that predicts the length, [B, D]; None without it.
        posterior: what the latents were drawn from in training; None elsewhere.
    """

    states: Tensor
    padding: Tensor
    source: Tensor
    without_latents: Tensor | None = None
    copied: Tensor | None = None
    length_state: Tensor | None = None
    posterior: Gaussian | None = None
    _kept: dict[DecoderLayer, tuple[Tensor, Tensor]] = field(default_factory=dict, repr=False)
    _parent: "tuple[Encoded, Tensor] | None" = field(default=None, repr=False)

    @property
    def visible(self) -> Tensor:
        """True at real tokens, [B, 1, 1, S]."""
        return ~self.padding[:, None, None, :]

    @property
    def lengths(self) -> Tensor:
        """Source tokens without EOS, [B]."""
        return (~self.padding).sum(1) - 1

    @property
    def source_states(self) -> Tensor:
        """The last encoder states, which depend on the source only, [B, S, D]."""
        return self.states if self.without_latents is None else self.without_latents

    @property
    def length_states(self) -> Tensor:
        """The states that a length predictor reads, [B, S, D], or of its token, [B, 1, D]."""
        return self.source_states if self.length_state is None else self.length_state[:, None]

    def repeat(self, times: int) -> "Encoded":
        """Each sentence `times` times in a row, [B * times, S, D]."""
        if times == 1:
            return self
        numbers = torch.arange(len(self.states), device=self.states.device)
        return self.rows(numbers.repeat_interleave(times))

    def rows(self, rows: Tensor) -> "Encoded":
        """These sentences, [n, S, D]."""
        given = {name: getattr(self, name) for name in OF_SENTENCES}
        chosen = {name: each[rows] for name, each in given.items() if each is not None}
        return Encoded(**chosen, _parent=(self, rows))

    def keys_and_values(self, layer: DecoderLayer) -> tuple[Tensor, Tensor]:
        """Keys and values of a layer's cross-attention, each [B, heads, S, D / heads]."""
        if torch.is_grad_enabled():
            return layer.cross_attention.keys_and_values(self.states)
        if layer not in self._kept and self._parent is not None:
            parent, rows = self._parent
            key, value = parent.keys_and_values(layer)
            self._kept[layer] = key[rows], value[rows]
        elif layer not in self._kept:
            self._kept[layer] = layer.cross_attention.keys_and_values(self.states)
        return self._kept[layer]
