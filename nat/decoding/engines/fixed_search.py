"""Beam search in fixed shapes: every step does the same on the same memory."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nat.data.vocabulary import BOS
from nat.decoding.beam_search import BeamSearch
from nat.decoding.beams import best_continuations
from nat.decoding.engines.graphs import Part
from nat.transformer.cache import FixedCache
from nat.transformer.model import Transformer


@dataclass
class FixedBeams:
    """The open hypotheses of B sentences, and the best ended one of each.

    See `nat.decoding.beams.Beams`, which takes out sentences that are finished; here nothing about
    them changes any more.

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

    longest: Tensor
    last: Tensor
    prefixes: Tensor
    scores: Tensor
    best: Tensor
    best_lengths: Tensor
    best_scores: Tensor
    ended: Tensor
    finished: Tensor
    passes: Tensor

    @classmethod
    def started(cls, longest: Tensor, beam: int, most: int, dtype: torch.dtype) -> "FixedBeams":
        """One empty hypothesis of each sentence, with room for so many tokens."""
        sentences = len(longest)
        scores = longest.new_full((sentences, beam), -torch.inf, dtype=dtype)
        scores[:, 0] = 0
        return cls(
            longest,
            last=longest.new_full((sentences * beam, 1), BOS),
            prefixes=longest.new_zeros((sentences, beam, most)),
            scores=scores,
            best=longest.new_zeros((sentences, most)),
            best_lengths=torch.zeros_like(longest),
            best_scores=longest.new_full((sentences,), -torch.inf, dtype=dtype),
            ended=torch.zeros_like(longest),
            finished=torch.zeros_like(longest, dtype=torch.bool),
            passes=torch.zeros_like(longest),
        )


class FixedSearch:
    """Beam search over padded sources [B, S] in two parts: `begin` once, then `step` repeatedly.

    The model is in evaluation mode, on its device, and writes a token with each pass.
    """

    def __init__(self, model: Transformer, options: BeamSearch, source: Tensor) -> None:
        self.model, self.options, self.source = model, options, source
        most = options.longest(torch.tensor([source.size(1) - 1]))
        # with a pass for the EOS after the longest target
        self.steps = 1 + min(int(most), model.architecture.max_positions - 1)
        self._beams: FixedBeams
        self._cache: FixedCache

    def begin(self) -> FixedBeams:
        """Encode the sources, and forget all hypotheses."""
        encoded = self.model.encode(self.source)
        beam, dtype = self.options.beam, encoded.states.dtype
        longest = self.options.longest(encoded.lengths).clamp(max=self.steps - 1)
        longest = torch.where(encoded.lengths > 0, longest, 0)
        dtype = torch.promote_types(dtype, torch.float32)
        self._beams = FixedBeams.started(longest, beam, self.steps, dtype)
        self._cache = self.model.start_fixed(encoded, beam, self.steps)
        return self._beams

    def step(self) -> Tensor:
        """Extend every open hypothesis by a token; returns which sentences are finished, [B]."""
        beams, beam = self._beams, self.options.beam
        length = self._cache.length.clone()  # of the hypotheses before, [1]
        states = self.model.step(beams.last, self._cache)[:, 0].to(beams.scores.dtype)
        beams.passes += ~beams.finished
        values, symbols, ends, _ = best_continuations(states, self.model.output, beam)
        width = values.size(1)
        # totals of the candidates that continue, [B, K * width], and of those that end, [B, K]
        totals = (beams.scores[:, :, None] + values.view(-1, beam, width)).flatten(1)
        totals.masked_fill_((length >= beams.longest)[:, None], -torch.inf)
        ends = beams.scores + ends.view(-1, beam)
        scores, chosen = totals.topk(beam, dim=1)

        self._end(torch.cat((ends, scores), 1), length)
        origin = chosen // width
        beams.scores.copy_(scores)
        beams.prefixes.copy_(beams.prefixes.gather(1, _like(origin, beams.prefixes)))
        tokens = symbols.view(-1, beam * width).gather(1, chosen)
        beams.prefixes.index_copy_(2, length, tokens[:, :, None])
        beams.last.copy_(tokens.view(-1, 1))
        rows = torch.arange(len(origin), device=origin.device)[:, None]
        self._cache.select((rows * beam + origin).flatten())

        bound = scores[:, 0] / self._divisor(beams.longest)
        beams.finished |= (beams.ended >= beam) | (beams.best_scores >= bound)
        beams.finished |= length >= beams.longest
        return beams.finished

    def _end(self, totals: Tensor, length: Tensor) -> None:
        """Keep the best hypothesis that ends, if it is better than the one that ended before."""
        beams, beam = self._beams, self.options.beam
        largest, chosen = totals.topk(beam, dim=1)
        ending = (chosen < beam) & largest.isfinite() & ~beams.finished[:, None]
        beams.ended += ending.sum(1)
        first = ending.long().argmax(1, keepdim=True)
        scores = torch.where(
            ending.any(1), largest.gather(1, first)[:, 0] / self._divisor(length), -torch.inf
        )
        better = scores > beams.best_scores
        its = chosen.gather(1, first) % beam
        tokens = beams.prefixes.gather(1, _like(its, beams.prefixes))[:, 0]
        beams.best.copy_(torch.where(better[:, None], tokens, beams.best))
        beams.best_lengths.copy_(torch.where(better, length, beams.best_lengths))
        beams.best_scores.copy_(torch.where(better, scores, beams.best_scores))

    def _divisor(self, tokens: Tensor) -> Tensor:
        """What scores of so many tokens and their EOS are divided by."""
        return (tokens + 1).to(self._beams.scores.dtype) ** self.options.length_penalty


def program(model: Transformer, options: BeamSearch, source: Tensor) -> Sequence[Part]:
    """The two parts of a search, see `nat.decoding.engines.graphs.Graphs`."""
    search = FixedSearch(model, options, source)
    return search.begin, search.step


def _like(numbers: Tensor, prefixes: Tensor) -> Tensor:
    """Numbers of hypotheses, [B, n], as `gather` takes them from [B, K, L]."""
    return numbers[:, :, None].expand(-1, -1, prefixes.size(2))
