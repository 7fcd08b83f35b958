"""Hybrid-regressive decoding (HRT): every k-th token from left to right, then all others."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from nat.data.batch import pad
from nat.data.vocabulary import BEGIN_OF_CHUNKS, EOS, MASK, NEVER_WRITTEN, PAD
from nat.decoding.beams import LeftToRightSearch
from nat.decoding.forced import forced_scores, forced_tokens
from nat.decoding.hypothesis import Hypothesis, most_probable
from nat.decoding.options import HybridDecodingOptions
from nat.decoding.passes import Pass
from nat.transformer.model import Encoded, Transformer

NEVER_FILLED = tuple(symbol for symbol in NEVER_WRITTEN if symbol != EOS)


class Hybrid(LeftToRightSearch, HybridDecodingOptions):
    """Beam search for every k-th token (stage I), then one pass for the tokens between (stage II).

    Wang et al. (2022), section 5.3. Stage I ends with EOS at a position that is a multiple of k;
    stage II can end the sentence earlier. Among the sequences that stage I keeps, the result is the
    one with the highest sum of the log-probabilities of both stages, which is the score (equation
    3). All tokens of stage I count, but those of stage II only up to the first EOS. Special symbols
    other than UNK are never chosen.

    With an assistant, another hybrid system with the same k, the assistant does stage II (table 7):
    its own Skip-AT scores the sequences of stage I by forced decoding, and these scores replace the
    system's.
    """

    @torch.inference_mode()
    def __call__(
        self, model: Transformer, source: Tensor, assistant: Transformer | None = None
    ) -> list[Hypothesis]:
        """Translate source sentences [B, S] (tokens, EOS, padding on the right)."""
        encoded = model.encode(source)
        sequences = self.every_kth(model, encoded)
        if assistant is None:
            totals = [
                [one.score * (len(one.tokens) + 1) ** self.length_penalty for one in kept]
                for kept in sequences
            ]
            return fill(model, encoded, sequences, totals)
        if chunk_of(assistant) != chunk_of(model):
            raise ValueError(
                "the system and its assistant must write the same every kth token first"
            )
        encoded = assistant.encode(source)
        return fill(assistant, encoded, sequences, totals_of(assistant, encoded, sequences))

    @torch.inference_mode()
    def passes(self, model: Transformer, source: Tensor) -> list[list[Pass]]:
        """The passes behind the best sequence of stage I; see `nat.decoding.passes.Traced`."""
        encoded = model.encode(source)
        sequences = [kept[0] for kept in self.every_kth(model, encoded)]
        completed = complete(model, encoded, sequences)
        kth = [each.tokens for each in sequences]
        chunk = chunk_of(model)
        of_kth = forced_tokens(model, encoded, kth, BEGIN_OF_CHUNKS, chunk).tolist()
        lengths = completed.tokens.ne(PAD).sum(1).tolist()
        rows = zip(*(each.tolist() for each in completed), lengths, of_kth, strict=True)
        sentences = []
        for tokens, masked, scores, end, its_kth in rows:
            for place in range(chunk - 1, end, chunk):
                scores[place] = its_kth[place // chunk]
            sentences.append(_unfolded(tokens[:end], masked[:end], scores[:end]))
        return sentences

    def every_kth(self, model: Transformer, encoded: Encoded) -> list[list[Hypothesis]]:
        """Stage I: the best sequences of every k-th token of each sentence, best first."""
        chunk = chunk_of(model)
        # a sequence of n tokens and EOS occupies (n + 1) k positions, numbered from 1
        most = (model.architecture.max_positions - 1) // chunk - 1
        longest = (self.longest(encoded.lengths) // chunk).clamp(max=most)
        return self.search(
            model, encoded, longest, begin=BEGIN_OF_CHUNKS, kept=self.kept, stride=chunk
        )


def totals_of(
    model: Transformer, encoded: Encoded, sequences: Sequence[Sequence[Hypothesis]]
) -> list[list[float]]:
    """Log-probability, nats, of sequences of every k-th token that another model generated."""
    rows = [row for row, kept in enumerate(sequences) for _ in kept]
    forced = forced_scores(
        model,
        encoded.rows(torch.tensor(rows, device=encoded.states.device)),
        [one.tokens for kept in sequences for one in kept],
        begin=BEGIN_OF_CHUNKS,
        stride=chunk_of(model),
    )
    given = [one for kept in sequences for one in kept]
    # so that a failed search is reported as such, whatever the other model's score is
    scores = iter(
        score if math.isfinite(one.score) else math.nan
        for one, score in zip(given, forced.tolist(), strict=True)
    )
    return [[next(scores) for _ in kept] for kept in sequences]


def fill(
    model: Transformer,
    encoded: Encoded,
    sequences: Sequence[Sequence[Hypothesis]],
    totals: Sequence[Sequence[float]],
) -> list[Hypothesis]:
    """Stage II: complete sequences of every k-th token, and select one for each sentence.

    Args:
        model: hybrid.
        encoded: encoder states of B sentences.
        sequences: every k-th token, one or more sequences for each sentence.
        totals: log-probability of each sequence, with its EOS, nats.
    """
    sentences = [row for row, kept in enumerate(sequences) for _ in kept]
    every = [one for kept in sequences for one in kept]
    rows = encoded.rows(torch.tensor(sentences, device=encoded.states.device))
    completed = complete(model, rows, every)
    tokens = completed.tokens
    ends = tokens.eq(EOS).int().argmax(1)
    # EOS itself counts where stage II chose it
    counts = torch.arange(tokens.size(1), device=tokens.device) <= ends[:, None]
    scores = (completed.log_probabilities * counts).sum(1)
    written = zip(tokens.tolist(), ends.tolist(), scores.tolist(), every, strict=True)
    hypotheses = iter(
        [
            Hypothesis(its_tokens[:end], score, stage_one.steps + 1)
            for its_tokens, end, score, stage_one in written
        ]
    )
    chosen = []
    for its_totals in totals:
        candidates = [
            Hypothesis(one.tokens, one.score + total, one.steps)
            for total, one in zip(its_totals, hypotheses, strict=False)
        ]
        chosen.append(most_probable(candidates))
    return chosen


class Completed(NamedTuple):
    """Sequences after stage II.

    Attributes:
        tokens: EOS at multiples of k and where stage II chose it, PAD after the last, [N, T].
        masked: positions of stage II, [N, T].
        log_probabilities: of the tokens that stage II chose, nats; zero elsewhere, [N, T].
    """

    tokens: Tensor
    masked: Tensor
    log_probabilities: Tensor


def complete(model: Transformer, encoded: Encoded, sequences: Sequence[Hypothesis]) -> Completed:
    """Predict the tokens between every k-th one in one pass.

    Args:
        model: hybrid.
        encoded: encoder states of the sentence of each sequence.
        sequences: every k-th token, [N].
    """
    chunk = chunk_of(model)
    device = encoded.states.device
    tokens = pad(
        [
            [symbol for kth in (*sequence.tokens, EOS) for symbol in (*[MASK] * (chunk - 1), kth)]
            for sequence in sequences
        ]
    ).to(device)
    padding, masked = tokens.eq(PAD), tokens.eq(MASK)
    positions = torch.arange(1, tokens.size(1) + 1, device=device).expand_as(tokens)
    positions = positions.masked_fill(padding, 0)
    states = model.decode(tokens, padding, encoded, causal=False, positions=positions)
    never = torch.tensor(NEVER_FILLED, device=device)
    best = model.output.best(states[masked], never)
    tokens = tokens.masked_scatter(masked, best.symbols)
    filled = states.new_zeros(tokens.shape).masked_scatter(masked, best.log_probabilities)
    return Completed(tokens, masked, filled)


def _unfolded(tokens: list[int], masked: list[bool], scores: list[float]) -> list[Pass]:
    """The passes of a completed sequence: one for each token of stage I, one for stage II."""
    shown = [MASK if between else token for token, between in zip(tokens, masked, strict=True)]
    known = [0.0 if between else score for score, between in zip(scores, masked, strict=True)]
    kth = [place for place, between in enumerate(masked) if not between]
    between = [place for place, between in enumerate(masked) if between]
    first = [Pass(shown[: place + 1], [place], [place], known[: place + 1]) for place in kth]
    return [*first, Pass(tokens, between, between, scores)]


def chunk_of(model: Transformer) -> int:
    """k of a hybrid model."""
    chunk = model.decoder.chunk
    if chunk is None:
        raise ValueError("this decoding method needs a hybrid model")
    return chunk


METHOD = Hybrid
