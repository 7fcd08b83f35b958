"""The caches of incremental autoregressive decoding."""

from dataclasses import dataclass, field

import torch
from torch import Tensor

FIRST_CAPACITY = 16
"""Positions of a new cache; its size doubles when it is full."""


@dataclass
class DecoderCache:
    """Keys and values of the source and of the tokens so far, for `beam` hypotheses per sentence.

    The history of all layers is a single tensor, position first: a new token is written in place,
    and one copy into memory that is already allocated reorders the hypotheses. No gradient.

    Attributes:
        sources: keys and values of the cross-attention, per layer and sentence, each
            [B, heads, S, D / heads].
        source_visible: [B, 1, 1, S].
        beam: hypotheses per sentence.
        stride: difference between the position numbers of neighbouring tokens.
        length: number of tokens so far.
    """

    sources: list[tuple[Tensor, Tensor]]
    source_visible: Tensor
    beam: int
    stride: int = 1
    length: int = 0
    _history: Tensor = field(init=False, repr=False)
    _spare: Tensor = field(init=False, repr=False)

    def __post_init__(self) -> None:
        key = self.sources[0][0]
        sentences, heads, _, width = key.shape
        shape = (FIRST_CAPACITY, len(self.sources), 2, sentences * self.beam, heads, width)
        self._history = key.new_empty(shape)
        self._spare = key.new_empty(self._history.numel())

    def extended(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, None]:
        """Keep the new keys and values of a layer; see `nat.transformer.attention.Extended`."""
        end = self.length + key.size(2)
        while end > (capacity := self._history.size(0)):
            grown = self._history.new_empty((2 * capacity, *self._history.shape[1:]))
            grown[:capacity] = self._history
            self._history, self._spare = grown, grown.new_empty(grown.numel())
        history, new = self._history[:end, layer], slice(self.length, end)
        history[new, 0], history[new, 1] = key.permute(2, 0, 1, 3), value.permute(2, 0, 1, 3)
        keys, values = history.permute(1, 2, 3, 0, 4)
        return keys, values, None

    @torch.no_grad()
    def select(self, hypotheses: Tensor) -> None:
        """Keep these hypotheses (indices into [B * beam], not more than before) in this order."""
        shape = list(self._history.shape)
        shape[3] = hypotheses.numel()
        taken = shape[0] * self._history[0, :, :, 0].numel() * hypotheses.numel()
        chosen = self._spare[:taken].view(shape)
        torch.index_select(
            self._history[: self.length].flatten(0, 2),
            1,
            hypotheses,
            out=chosen[: self.length].flatten(0, 2),
        )
        self._history, self._spare = chosen, self._history.flatten()

    def keep_sentences(self, sentences: Tensor, hypotheses: Tensor) -> None:
        """Keep these sentences (indices into [B]) and `beam` hypotheses of each, see `select`."""
        self.sources = [
            (key.index_select(0, sentences), value.index_select(0, sentences))
            for key, value in self.sources
        ]
        self.source_visible = self.source_visible.index_select(0, sentences)
        self.select(hypotheses)


@dataclass
class FixedCache:
    """The same for at most `most` tokens, one at a time, in memory that stays where it is.

    So a step can be captured as a CUDA graph: no shape depends on the number of tokens so far.

    Attributes:
        length: number of tokens so far, on the device, [1].
    """

    sources: list[tuple[Tensor, Tensor]]
    source_visible: Tensor
    beam: int
    most: int
    length: Tensor = field(init=False)
    _history: Tensor = field(init=False, repr=False)

    def __post_init__(self) -> None:
        key = self.sources[0][0]
        sentences, heads, _, width = key.shape
        shape = (len(self.sources), 2, sentences * self.beam, heads, self.most, width)
        self.length = key.new_zeros(1, dtype=torch.long)
        self._history = key.new_zeros(shape)

    def extended(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Keep the new key and value of a layer; see `nat.transformer.attention.Extended`."""
        keys, values = self._history[layer]
        keys.index_copy_(2, self.length, key)
        values.index_copy_(2, self.length, value)
        visible = torch.arange(self.most, device=key.device) <= self.length
        return keys, values, visible[None, None, None]

    @torch.no_grad()
    def select(self, hypotheses: Tensor) -> None:
        """Continue these hypotheses (indices into [B * beam]) in this order."""
        self._history.copy_(self._history.index_select(2, hypotheses))
