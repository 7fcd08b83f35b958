"""One parallel pass in fixed shapes, and its CUDA graphs.

A pass for one sentence takes a GPU less than a millisecond, but the processor takes several to
start its thousand kernels one by one. A captured graph starts them all at once. It repeats the same
kernels on the same memory, so nothing may depend on what is computed: neither a shape nor a branch.
Sources are therefore padded to one of a few lengths, and canvases have room for the longest
translation that such a source may have. On a processor the same pass runs without a graph.
"""

import copy
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from nat.alignment.ctc import collapsed
from nat.data.vocabulary import BLANK, EOS, MASK, PAD
from nat.decoding.canvas import lengths_of
from nat.decoding.network import choice
from nat.decoding.options import CapturedDecodingOptions
from nat.transformer.length import ConstantLength
from nat.transformer.model import Encoded, Transformer
from nat.transformer.output import Best

WIDTHS = (8, 16, 24, 32, 48, 64, 96, 128)
"""Positions of padded sources, EOS included; longer ones have no graph."""

MOST_TOKENS = 2048
"""Source tokens of a padded batch, at most; larger ones keep a GPU busy without a graph."""

ROOM = 1.5
"""Positions of a canvas for each of its source, where lengths are predicted."""

WARM_UPS = 2
"""Passes before one is captured, in which libraries choose kernels and take memory."""


class Passed(NamedTuple):
    """Symbols [B, T] and scores [B] of translations, and whether all lengths had room, [B]."""

    tokens: Tensor
    scores: Tensor
    fits: Tensor


class FixedPass:
    """A parallel pass over padded sources [B, S].

    The model is in evaluation mode, on its device; in another precision than float32 it is a copy.
    """

    def __init__(self, model: Transformer, options: CapturedDecodingOptions) -> None:
        self.original, self.model, self.options = model, model, options
        if options.precision != "float32":
            self.model = copy.deepcopy(model).to(getattr(torch, options.precision))
            if isinstance(model.length_predictor, ConstantLength):  # a mean, which is rounded once
                self.model.length_predictor = model.length_predictor

    def __call__(self, source: Tensor) -> Passed:
        """Translate sources (tokens, EOS, padding on the right)."""
        encoded = self.model.encode(source)
        if self.model.decoder.upsample is not None:
            return self._of_frames(encoded)
        return self._of_lengths(encoded)

    def _of_frames(self, encoded: Encoded) -> Passed:
        lengths = self.model.canvas_lengths(self.model.copied_lengths(encoded.source))
        # the longest source of so many positions has an EOS
        frames = self.model.canvas_length(encoded.source.size(1) - 1)
        padding = torch.arange(frames, device=lengths.device) >= lengths[:, None]
        best = self._chosen(padding, encoded)
        labels = best.symbols.masked_fill(best.symbols.eq(EOS), BLANK)
        scores = best.log_probabilities.masked_fill(padding, 0).sum(1) / (~padding).sum(1)
        return Passed(
            collapsed(labels, padding), scores, torch.ones_like(lengths, dtype=torch.bool)
        )

    def _of_lengths(self, encoded: Encoded) -> Passed:
        positions, beam = self.model.architecture.max_positions, self.options.length_beam
        lengths = lengths_of(self.model, encoded, beam, self.options.length_factor)
        width = min(positions, math.ceil(encoded.source.size(1) * ROOM))
        padding = torch.arange(width, device=lengths.device) >= lengths[:, None]
        best = self._chosen(padding, encoded.repeat(beam))
        sums = best.log_probabilities.masked_fill(padding, 0).sum(1)
        scores, first = (sums / lengths).view(-1, beam).max(1)
        tokens = best.symbols.masked_fill(padding, PAD).unflatten(0, (-1, beam))
        tokens = tokens.gather(1, first[:, None, None].expand(-1, 1, width))[:, 0]
        fits = lengths.view(-1, beam).amax(1) <= width
        return Passed(tokens, scores, fits)

    def _chosen(self, padding: Tensor, encoded: Encoded) -> Best:
        """The most probable symbols at all positions of canvases, [N, T] each."""
        tokens = torch.where(padding, PAD, MASK)
        states = self.model.decode(tokens, padding, encoded, causal=False).flatten(0, 1)
        states = states.float() if states.itemsize < torch.float32.itemsize else states
        best = self.model.output.best(states, *choice(self.model, self.options.blank_penalty))
        return Best(*(each.view(padding.shape) for each in best))


class Graphs:
    """A `FixedPass` for batches of any shape: on a GPU a graph for each shape that occurs."""

    def __init__(self, fixed: FixedPass) -> None:
        self.fixed = fixed
        self._repeat: dict[tuple[int, ...], Callable[[Tensor], Passed]] = {}
        self._pool: Any = None  # memory that all graphs share, since one runs at a time

    def padded(self, source: Tensor) -> Tensor | None:
        """Sources [B, S] in a shape that recurs; None if the batch is too large for a graph.

        Sentences that fill it up are an EOS alone.
        """
        sentences, longest = source.shape
        most = self.fixed.original.longest_source + 1
        width = next((min(each, most) for each in WIDTHS if each >= longest), None)
        rows = 1 << (sentences - 1).bit_length()
        if width is None or width < longest or rows * width > MOST_TOKENS:
            return None
        source = F.pad(source, (0, width - longest, 0, rows - sentences), value=PAD)
        source[sentences:, 0] = EOS
        return source

    def __call__(self, source: Tensor) -> Passed:
        """Translate sources; what a graph has made is there until its next call."""
        padded = self.padded(source)
        if padded is None or not source.is_cuda:
            made = self.fixed(source if padded is None else padded)
        else:
            shape = tuple(padded.shape)
            if shape not in self._repeat:
                self._repeat[shape] = self._captured(padded)
            made = self._repeat[shape](padded)
        return Passed(*(each[: len(source)] for each in made))

    def _captured(self, source: Tensor) -> Callable[[Tensor], Passed]:
        given, stream = source.clone(), torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(WARM_UPS):
                self.fixed(given)
        torch.cuda.current_stream().wait_stream(stream)
        self._pool = self._pool or torch.cuda.graph_pool_handle()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._pool):
            made = self.fixed(given)

        def repeat(source: Tensor) -> Passed:
            given.copy_(source)
            graph.replay()
            return made

        return repeat
