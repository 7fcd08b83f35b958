"""Batched left-to-right search: its open and ended hypotheses."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from nat.alignment.reveal import share_of
from nat.data.vocabulary import BOS, EOS, NEVER_WRITTEN
from nat.decoding.hypothesis import Hypothesis
from nat.decoding.options import LeftToRight
from nat.transformer.cache import DecoderCache
from nat.transformer.model import Encoded, Transformer
from nat.transformer.output import Output
from nat.transformer.projection import largest_symbols, log_sums


class LeftToRightSearch(LeftToRight):
    """Search with an incremental cache; `Beams` defines its score and when it ends."""

    def longest(self, lengths: Tensor) -> Tensor:
        """Maximal number of tokens of each target, regardless of the model's positions, [B].

        `lengths` are those of the sources without EOS, [B].
        """
        return share_of(lengths, self.longest_ratio).long() + self.longest_margin

    def search(
        self,
        model: Transformer,
        encoded: Encoded,
        longest: Tensor,
        begin: int = BOS,
        kept: int = 1,
        stride: int = 1,
        chunk: int = 1,
    ) -> list[list[Hypothesis]]:
        """The best hypotheses of each of B encoded sentences, best first, at most `kept`.

        Args:
            model: with a causal decoder.
            longest: maximal number of tokens of each target, which fit the model's positions, [B].
            begin: token that every hypothesis starts with.
            stride: difference between the position numbers of neighbouring tokens.
            chunk: tokens that a decoder pass predicts, each by itself.
        """
        dtype = torch.promote_types(encoded.states.dtype, torch.float32)
        beams = Beams(longest, self, dtype, kept)
        cache = model.start(encoded, self.beam, stride)
        shown = torch.full((len(longest) * self.beam, chunk), begin, device=longest.device)
        passes = torch.zeros_like(longest)
        while beams.sentences.numel():
            states = model.step(shown, cache)
            passes[beams.sentences] += 1
            order: Tensor | slice = slice(None)
            for place in range(chunk):
                states = states[order]
                order = beams.advance(states[:, place], model.output, cache)
                if not beams.sentences.numel():
                    break
            shown = beams.prefixes[:, :, beams.length - chunk : beams.length].flatten(0, 1)
        return beams.results(passes)


class Beams:
    """The open hypotheses of the unfinished sentences, and the best ended ones of every sentence.

    n is the number of unfinished sentences, K the beam. The score of a hypothesis is the sum of the
    log-probabilities of its tokens and its EOS, divided by (tokens + 1) ** length_penalty: EOS
    counts as a token. Probabilities are those of the full softmax; special symbols other than UNK
    are never chosen.

    A hypothesis ends when its EOS is among the K best continuations of its sentence, or when it has
    its maximal length. A sentence is finished when K hypotheses have ended, or when no open one can
    exceed the worst of the ended ones that are kept.

    Attributes:
        longest: maximal number of tokens of each target, [n].
        sentences: number in the batch of each unfinished sentence, [n].
        prefixes: tokens of the open hypotheses, all of which have the same `length`, [n, K, ...].
        kept: ended hypotheses per sentence, at most K.
    """

    def __init__(
        self, longest: Tensor, options: LeftToRight, dtype: torch.dtype, kept: int
    ) -> None:
        device, sentences, beam = longest.device, longest.size(0), options.beam
        self.beam, self.length_penalty, self.kept = beam, options.length_penalty, kept
        self.length = 0
        self.longest = longest
        self.sentences = torch.arange(sentences, device=device)
        width = int(longest.max()) if sentences else 0
        self.prefixes = torch.zeros((sentences, beam, width), dtype=torch.int64, device=device)
        # one hypothesis at the start; the others have probability zero
        self._scores = torch.full((sentences, beam), -torch.inf, dtype=dtype, device=device)
        self._scores[:, 0] = 0
        self._ended = torch.zeros_like(longest)  # hypotheses ended, [n]
        self._worst = self._scores.new_full((sentences,), -torch.inf)  # of those kept, [n]
        # scores and tokens of the kept ones of every sentence of the batch, best first
        self._best: list[list[Any]] = [[] for _ in range(sentences)]

    def advance(self, states: Tensor, output: Output, cache: DecoderCache) -> Tensor:
        """Extend every open hypothesis by a token and reorder the cache accordingly.

        `states` are the decoder states of the open hypotheses, [n * K, D]. Returns the number of
        the hypothesis that each one that is now open extends.
        """
        beam = self.beam
        values, symbols, ends, _ = best_continuations(states, output, beam)
        width = values.size(1)
        # totals of the candidates that continue, [n, K * width], and of those that end, [n, K]
        totals = (self._scores[:, :, None] + values.view(-1, beam, width)).flatten(1)
        totals.masked_fill_((self.length >= self.longest)[:, None], -torch.inf)
        ends = self._scores + ends.view(-1, beam)
        scores, chosen = totals.topk(beam, dim=1)

        self._end(scores, ends)
        origin = chosen // width
        self._scores = scores
        rows = torch.arange(origin.size(0), device=origin.device)[:, None]
        self.prefixes = self.prefixes[rows, origin]
        if self.length < self.prefixes.size(2):
            self.prefixes[:, :, self.length] = symbols.view(-1, beam * width).gather(1, chosen)
        self.length += 1
        hypotheses = rows * beam + origin

        # the total of an open hypothesis can only fall, and its divisor grows at most to this one
        bound = scores[:, 0] / (self.longest + 1).to(scores.dtype) ** self.length_penalty
        finished = (self._ended >= beam) | (self._worst >= bound) | (self.length > self.longest)
        if finished.any():
            left = (~finished).nonzero()[:, 0]
            hypotheses = hypotheses[left]
            self.longest, self.sentences = self.longest[left], self.sentences[left]
            self.prefixes, self._scores = self.prefixes[left], self._scores[left]
            self._ended, self._worst = self._ended[left], self._worst[left]
            cache.keep_sentences(left, hypotheses.flatten())
        else:
            cache.select(hypotheses.flatten())
        return hypotheses.flatten()

    def _end(self, scores: Tensor, ends: Tensor) -> None:
        """Store the hypotheses whose EOS is among the best K continuations."""
        best, chosen = torch.cat((ends, scores), 1).topk(self.beam, dim=1)
        ending = (chosen < self.beam) & best.isfinite()
        self._ended += ending.sum(1)
        rows = ending.nonzero()[:, 0]
        if not rows.numel():
            return
        made = best[ending] / float(self.length + 1) ** self.length_penalty
        tokens = self.prefixes[rows, chosen[ending], : self.length]
        sentences = self.sentences[rows].tolist()
        for sentence, *one in zip(sentences, made.tolist(), tokens.tolist(), strict=True):
            # stable: of equals, the one that ended earlier
            ended = sorted([*self._best[sentence], one], key=lambda each: -each[0])
            self._best[sentence] = ended[: self.kept]
        kept = (self._best[sentence] for sentence in sentences)
        worst = [each[-1][0] if len(each) == self.kept else -torch.inf for each in kept]
        self._worst[rows] = torch.tensor(worst, dtype=made.dtype, device=made.device)

    def results(self, passes: Tensor) -> list[list[Hypothesis]]:
        """The best ended hypotheses of every sentence, best first; at least one.

        `passes` are the decoder passes of each sentence, [B].
        """
        nothing: list[Any] = [(-torch.inf, [])]
        return [
            [Hypothesis(tokens, score, steps) for score, tokens in ended or nothing]
            for ended, steps in zip(self._best, passes.tolist(), strict=True)
        ]


def best_continuations(
    states: Tensor, output: Output, number: int, others: Sequence[int] = (EOS,)
) -> tuple[Tensor, ...]:
    """The `number` (K) most probable next tokens of N states [N, D], and what else may come.

    Returns:
        Log-probabilities of the K most probable tokens (or of all, in a small vocabulary), best
        first, [N, K]; their ids, [N, K]; log-probability of the `others` together, [N]; logarithm
        of the sum of exponentials of the logits, [N].
    """
    parts = []
    for rounded in output.logits(states):
        logits = rounded.to(torch.promote_types(rounded.dtype, torch.float32))
        normaliser = log_sums(logits)
        other = torch.stack([logits[:, each] for each in others]).logsumexp(0) - normaliser
        for symbol in NEVER_WRITTEN:
            logits[:, symbol] = -torch.inf
        values, symbols = largest_symbols(logits, number)
        parts.append((values - normaliser[:, None], symbols, other, normaliser))
    return tuple(map(torch.cat, zip(*parts, strict=True)))
