"""The Transformer that every system shares: encoder, decoder, joined embedding, length predictor.

The model returns states; what is done with them (which positions, which symbols) is the
objective's or the decoder's business, see `nat.transformer.projection`.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from nat.data.vocabulary import PAD
from nat.errors import UserError
from nat.transformer.architecture import Architecture
from nat.transformer.cache import DecoderCache
from nat.transformer.dropout import dropout
from nat.transformer.layers import DecoderLayer, EncoderLayer
from nat.transformer.length import LengthPredictor


@dataclass(frozen=True)
class Encoded:
    """Encoder states [B, S, D] and where they are padding [B, S]."""

    states: Tensor
    padding: Tensor

    @property
    def visible(self) -> Tensor:
        """True at real tokens, [B, 1, 1, S]."""
        return ~self.padding[:, None, None, :]

    def repeat(self, times: int) -> "Encoded":
        """Each sentence `times` times in a row, [B * times, S, D]."""
        return Encoded(
            self.states.repeat_interleave(times, 0), self.padding.repeat_interleave(times, 0)
        )


class Transformer(nn.Module):
    """Encoder-decoder Transformer with a causal or a bidirectional decoder.

    Args:
        architecture: sizes.
        vocabulary_size: symbols of the joined dictionary.
        length: what the length predictor predicts, or None for no predictor.
        dropout: on embeddings and on the result of every part of a layer.
    """

    def __init__(
        self,
        architecture: Architecture,
        vocabulary_size: int,
        length: str | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.architecture = architecture
        self.dropout = dropout
        dim = architecture.model_dim
        self.embedding = nn.Embedding(vocabulary_size, dim, padding_idx=PAD)
        nn.init.normal_(self.embedding.weight, std=dim**-0.5)
        if architecture.positions == "learned":
            self.positions = nn.Parameter(torch.empty(architecture.max_positions, dim))
            nn.init.normal_(self.positions, std=dim**-0.5)
        else:
            table = sinusoidal_positions(architecture.max_positions, dim)
            self.register_buffer("positions", table, persistent=False)
        self.encoder_layers = nn.ModuleList(
            EncoderLayer(architecture, dropout) for _ in range(architecture.encoder_layers)
        )
        self.decoder_layers = nn.ModuleList(
            DecoderLayer(architecture, dropout) for _ in range(architecture.decoder_layers)
        )
        final = nn.LayerNorm if architecture.pre_norm else nn.Identity
        self.encoder_norm, self.decoder_norm = final(dim), final(dim)
        self.length_predictor = None if length is None else LengthPredictor(dim, length)

    def _decoder(self) -> Iterator[DecoderLayer]:
        return cast(Iterator[DecoderLayer], iter(self.decoder_layers))

    def embed(self, tokens: Tensor, first_position: int = 0) -> Tensor:
        """Scaled embeddings plus positions, [B, T] to [B, T, D].

        Raises:
            UserError: if a sentence is longer than the architecture's `max_positions`.
        """
        end = first_position + tokens.size(1)
        if end > self.positions.size(0):
            raise UserError(
                f"a sentence of {end} tokens does not fit the model; shorten it, or train with "
                f"max_positions above {self.positions.size(0)}"
            )
        positions = self.positions[first_position:end]
        scale = math.sqrt(self.architecture.model_dim)
        embedded = self.embedding(tokens) * scale + positions
        return dropout(embedded, self.dropout, self.training)

    def encode(self, source: Tensor) -> Encoded:
        """Encode source tokens [B, S] (right-padded, each row with at least its EOS)."""
        encoded = Encoded(source, source.eq(PAD))
        states = self.embed(source)
        for layer in self.encoder_layers:
            states = layer(states, encoded.visible)
        return Encoded(self.encoder_norm(states), encoded.padding)

    def decode(self, tokens: Tensor, padding: Tensor, encoded: Encoded, causal: bool) -> Tensor:
        """Decoder states of whole sentences.

        Args:
            tokens: decoder input, [B, T].
            padding: True at padding, [B, T].
            encoded: of the same B sentences.
            causal: each position sees only itself and those before it.

        Returns:
            Last decoder states, [B, T, D]; those at padding are meaningless.
        """
        visible = None
        if not causal:
            # An empty target has nothing to see; let it see its padding instead of nothing,
            # whose softmax would be NaN.
            visible = (~padding | padding.all(1, keepdim=True))[:, None, None, :]
        states = self.embed(tokens)
        for layer in self._decoder():
            source = layer.keys_and_values(encoded.states)
            states = layer(states, visible, causal, source, encoded.visible)
        return self.decoder_norm(states)

    @torch.no_grad()
    def start(self, encoded: Encoded, beam: int) -> DecoderCache:
        """A cache for `step` with `beam` hypotheses per sentence."""
        sources = [layer.keys_and_values(encoded.states) for layer in self._decoder()]
        return DecoderCache(sources, encoded.visible, beam)

    @torch.no_grad()
    def step(self, tokens: Tensor, cache: DecoderCache) -> Tensor:
        """Causal decoder states of one more token per hypothesis, [B * beam] to [B * beam, D].

        Advances `cache`.
        """
        states = self.embed(tokens[:, None], cache.length)
        for number, layer in enumerate(self._decoder()):
            states = layer.step(
                states,
                cache.history(number),
                cache.sources[number],
                cache.source_visible,
                cache.beam,
            )
        cache.length += 1
        return self.decoder_norm(states)[:, 0]


def sinusoidal_positions(length: int, dim: int) -> Tensor:
    """Sines and cosines of geometrically falling frequencies (Vaswani et al. 2017, sec. 3.5)."""
    rates = torch.exp(torch.arange(0, dim, 2) * (-math.log(10000.0) / dim))
    angles = torch.arange(length)[:, None] * rates
    return torch.stack((angles.sin(), angles.cos()), dim=2).flatten(1)
