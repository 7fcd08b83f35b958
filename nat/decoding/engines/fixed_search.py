"""Beam search in fixed shapes: every step does the same on the same memory."""

from collections.abc import Sequence

import torch
from torch import Tensor

from nat.data.vocabulary import BOS
from nat.decoding.beam_search import BeamSearch
from nat.decoding.beams import best_continuations
from nat.decoding.engines.graphs import Part
from nat.transformer.model import Transformer


class FixedSearch:
    """Beam search over padded sources [B, S] in two parts: `begin` once, then `step` repeatedly.

    The model is in evaluation mode, on its device, and writes a token with each pass. See
    `nat.decoding.beams.Beams`, which takes out sentences that are finished; here nothing about them
    changes any more.

    Attributes:
        longest: maximal number of tokens of each target, [B].
        last: last tokens of the open hypotheses, [B * K, 1].
        prefixes: tokens of the open hypotheses, [B, K, L].
        scores: their log-probabilities, [B, K].
        best: tokens of the best ended hypothesis of each sentence, [B, L], of which so many are
            written as `best_lengths` [B] says.
        best_scores: [B].
        ended: number of ended hypotheses, [B].
        finished: [B].
        passes: decoder passes before a sentence was finished, [B].
    """

    def __init__(self, model: Transformer, options: BeamSearch, source: Tensor) -> None:
        self.model, self.options, self.source = model, options, source
        most = options.longest(torch.tensor([source.size(1) - 1]))
        # with a pass for the EOS after the longest target
        self.steps = 1 + min(int(most), model.architecture.max_positions - 1)

    @property
    def parts(self) -> Sequence[Part]:
        """See `nat.decoding.engines.graphs.Graphs`."""
        return self.begin, self.step

    def begin(self) -> "FixedSearch":
        """Encode the sources, and forget all hypotheses but an empty one of each sentence."""
        encoded = self.model.encode(self.source)
        sentences, beam = len(self.source), self.options.beam
        longest = self.options.longest(encoded.lengths).clamp(max=self.steps - 1)
        self.longest = torch.where(encoded.lengths > 0, longest, 0)
        self.last = longest.new_full((sentences * beam, 1), BOS)
        self.prefixes = longest.new_zeros((sentences, beam, self.steps))
        dtype = torch.promote_types(encoded.states.dtype, torch.float32)
        self.scores = longest.new_full((sentences, beam), -torch.inf, dtype=dtype)
        self.scores[:, 0] = 0
        self.best = longest.new_zeros((sentences, self.steps))
        self.best_lengths = torch.zeros_like(longest)
        self.best_scores = self.scores.new_full((sentences,), -torch.inf)
        self.ended = torch.zeros_like(longest)
        self.finished = torch.zeros_like(longest, dtype=torch.bool)
        self.passes = torch.zeros_like(longest)
        self._cache = self.model.start_fixed(encoded, beam, self.steps)
        return self

    def step(self) -> Tensor:
        """Extend every open hypothesis by a token; returns which sentences are finished, [B]."""
        beam = self.options.beam
        length = self._cache.length.clone()  # of the hypotheses before, [1]
        states = self.model.step(self.last, self._cache)[:, 0].to(self.scores.dtype)
        self.passes += ~self.finished
        values, symbols, ends, _ = best_continuations(states, self.model.output, beam)
        width = values.size(1)
        # totals of the candidates that continue, [B, K * width], and of those that end, [B, K]
        totals = (self.scores[:, :, None] + values.view(-1, beam, width)).flatten(1)
        totals.masked_fill_((length >= self.longest)[:, None], -torch.inf)
        ends = self.scores + ends.view(-1, beam)
        scores, chosen = totals.topk(beam, dim=1)

        self._end(torch.cat((ends, scores), 1), length)
        origin = chosen // width
        self.scores.copy_(scores)
        self.prefixes.copy_(self._prefixes_of(origin))
        tokens = symbols.view(-1, beam * width).gather(1, chosen)
        self.prefixes.index_copy_(2, length, tokens[:, :, None])
        self.last.copy_(tokens.view(-1, 1))
        rows = torch.arange(len(origin), device=origin.device)[:, None]
        self._cache.select((rows * beam + origin).flatten())

        bound = scores[:, 0] / self._divisor(self.longest)
        self.finished |= (self.ended >= beam) | (self.best_scores >= bound)
        self.finished |= length >= self.longest
        return self.finished

    def _end(self, totals: Tensor, length: Tensor) -> None:
        """Keep the best hypothesis that ends, if it is better than the one that ended before."""
        largest, chosen = totals.topk(self.options.beam, dim=1)
        ending = (chosen < self.options.beam) & largest.isfinite() & ~self.finished[:, None]
        self.ended += ending.sum(1)
        first = ending.long().argmax(1, keepdim=True)
        scores = torch.where(
            ending.any(1), largest.gather(1, first)[:, 0] / self._divisor(length), -torch.inf
        )
        better = scores > self.best_scores
        tokens = self._prefixes_of(chosen.gather(1, first) % self.options.beam)[:, 0]
        self.best.copy_(torch.where(better[:, None], tokens, self.best))
        self.best_lengths.copy_(torch.where(better, length, self.best_lengths))
        self.best_scores.copy_(torch.where(better, scores, self.best_scores))

    def _prefixes_of(self, numbers: Tensor) -> Tensor:
        """The tokens of n open hypotheses of each sentence, [B, n] to [B, n, L]."""
        return self.prefixes.gather(1, numbers[:, :, None].expand(-1, -1, self.steps))

    def _divisor(self, tokens: Tensor) -> Tensor:
        """What scores of so many tokens and their EOS are divided by."""
        return (tokens + 1).to(self.scores.dtype) ** self.options.length_penalty
