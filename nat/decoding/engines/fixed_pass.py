"""One parallel pass in fixed shapes: canvases have room for the longest translation."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from nat.alignment.ctc import collapsed
from nat.data.vocabulary import BLANK, EOS, MASK, PAD
from nat.decoding.canvas import lengths_of
from nat.decoding.engines.graphs import Part
from nat.decoding.network import choice
from nat.decoding.options import CapturedDecodingOptions
from nat.transformer.model import Encoded, Transformer
from nat.transformer.output import Best

ROOM = 1.5
"""Positions of a canvas for each of its source, where lengths are predicted."""

Passed = tuple[Tensor, Tensor, Tensor]
"""Symbols [B, T] and scores [B] of translations, and whether all lengths had room, [B]."""


class FixedPass:
    """A parallel pass over padded sources [B, S], of a model in evaluation mode on its device."""

    def __init__(
        self, model: Transformer, options: CapturedDecodingOptions, source: Tensor
    ) -> None:
        self.model, self.options, self.source = model, options, source

    @property
    def parts(self) -> Sequence[Part]:
        """See `nat.decoding.engines.graphs.Graphs`."""
        return (self.translate,)

    def translate(self) -> Passed:
        """Translate the sources (tokens, EOS, padding on the right)."""
        encoded = self.model.encode(self.source)
        if self.model.decoder.upsample is not None:
            return self._of_frames(encoded)
        return self._of_lengths(encoded)

    def _of_frames(self, encoded: Encoded) -> Passed:
        lengths = self.model.canvas_lengths(self.model.copied_lengths(self.source))
        # the longest source of so many positions has an EOS
        frames = self.model.canvas_length(self.source.size(1) - 1)
        padding = torch.arange(frames, device=lengths.device) >= lengths[:, None]
        best = self._chosen(padding, encoded)
        labels = best.symbols.masked_fill(best.symbols.eq(EOS), BLANK)
        scores = best.log_probabilities.masked_fill(padding, 0).sum(1) / lengths
        return collapsed(labels, padding), scores, torch.ones_like(lengths, dtype=torch.bool)

    def _of_lengths(self, encoded: Encoded) -> Passed:
        positions, beam = self.model.architecture.max_positions, self.options.length_beam
        lengths = lengths_of(self.model, encoded, beam, self.options.length_factor)
        width = min(positions, math.ceil(self.source.size(1) * ROOM))
        padding = torch.arange(width, device=lengths.device) >= lengths[:, None]
        best = self._chosen(padding, encoded.repeat(beam))
        sums = best.log_probabilities.masked_fill(padding, 0).sum(1)
        scores, first = (sums / lengths).view(-1, beam).max(1)
        tokens = best.symbols.masked_fill(padding, PAD).unflatten(0, (-1, beam))
        tokens = tokens.gather(1, first[:, None, None].expand(-1, 1, width))[:, 0]
        return tokens, scores, lengths.view(-1, beam).amax(1) <= width

    def _chosen(self, padding: Tensor, encoded: Encoded) -> Best:
        """The most probable symbols at all positions of canvases, [N, T] each."""
        tokens = torch.where(padding, PAD, MASK)
        states = self.model.decode(tokens, padding, encoded, causal=False).flatten(0, 1)
        states = states.float() if states.itemsize < torch.float32.itemsize else states
        best = self.model.output.best(states, *choice(self.model, self.options.blank_penalty))
        return Best(*(each.view(padding.shape) for each in best))
