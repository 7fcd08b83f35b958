"""Hybrid-regressive decoding (HRT): every k-th token from left to right, then all others."""

from collections.abc import Sequence

import torch
from torch import Tensor

from nat.data.batch import pad
from nat.data.vocabulary import BEGIN_OF_CHUNKS, EOS, MASK, NEVER_WRITTEN, PAD
from nat.decoding.beams import LeftToRightSearch
from nat.decoding.forced import forced_tokens
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
        kept = self.every_kth(model, encoded)
        sequences = [one for of_sentence in kept for one in of_sentence]
        sentences = [row for row, of_sentence in enumerate(kept) for _ in of_sentence]
        rows = torch.tensor(sentences, device=source.device)
        if assistant is None:
            writer, encoded = model, encoded.rows(rows)
            totals = [one.score * (len(one.tokens) + 1) ** self.length_penalty for one in sequences]
        else:
            assert chunk_of(assistant) == chunk_of(model)  # they write the same kth tokens first
            writer, encoded = assistant, assistant.encode(source).rows(rows)
            totals = scores_of_kth(writer, encoded, sequences).sum(1).tolist()
        tokens, _, scores = complete(writer, encoded, sequences)
        ends = tokens.eq(EOS).int().argmax(1)
        # EOS itself counts where stage II chose it
        counts = torch.arange(tokens.size(1), device=ends.device) <= ends[:, None]
        completed = (each.tolist() for each in (tokens, ends, (scores * counts).sum(1)))
        candidates: list[list[Hypothesis]] = [[] for _ in kept]
        for row, one, total, written, end, score in zip(
            sentences, sequences, totals, *completed, strict=True
        ):
            score = one.scored(score + total).score
            candidates[row].append(Hypothesis(written[:end], score, one.steps + 1))
        return list(map(most_probable, candidates))

    @torch.inference_mode()
    def passes(self, model: Transformer, source: Tensor) -> list[list[Pass]]:
        """The passes behind the best sequence of stage I; see `nat.decoding.passes.Traced`."""
        encoded = model.encode(source)
        sequences = [kept[0] for kept in self.every_kth(model, encoded)]
        tokens, masked, scores = complete(model, encoded, sequences)
        of_kth = scores_of_kth(model, encoded, sequences).repeat_interleave(chunk_of(model), 1)
        scores = torch.where(masked, scores, of_kth)
        rows = zip(tokens, masked, scores, tokens.ne(PAD).sum(1).tolist(), strict=True)
        return [_unfolded(*(each[:end] for each in row)) for *row, end in rows]

    def every_kth(self, model: Transformer, encoded: Encoded) -> list[list[Hypothesis]]:
        """Stage I: the best sequences of every k-th token of each sentence, best first."""
        chunk = chunk_of(model)
        # a sequence of n tokens and EOS occupies (n + 1) k positions, numbered from 1
        most = (model.architecture.max_positions - 1) // chunk - 1
        longest = (self.longest(encoded.lengths) // chunk).clamp(max=most)
        return self.search(
            model, encoded, longest, begin=BEGIN_OF_CHUNKS, kept=self.kept, stride=chunk
        )


def scores_of_kth(model: Transformer, encoded: Encoded, sequences: Sequence[Hypothesis]) -> Tensor:
    """Log-probabilities of every k-th token and EOS, by forced decoding, nats, [N, n + 1]."""
    kth = [each.tokens for each in sequences]
    return forced_tokens(model, encoded, kth, BEGIN_OF_CHUNKS, chunk_of(model))


def complete(
    model: Transformer, encoded: Encoded, sequences: Sequence[Hypothesis]
) -> tuple[Tensor, Tensor, Tensor]:
    """Predict the tokens between every k-th one of N sequences in one pass (stage II).

    Returns:
        Tokens, with EOS at the last multiple of k and where stage II chose it, and PAD after that,
        [N, T]; positions of stage II, [N, T]; log-probabilities of what it chose there, nats; zero
        elsewhere, [N, T].
    """
    device, between = encoded.states.device, [MASK] * (chunk_of(model) - 1)
    kth = ((*sequence.tokens, EOS) for sequence in sequences)
    filled_up = [[symbol for each in row for symbol in (*between, each)] for row in kth]
    tokens = pad(filled_up).to(device)
    padding, masked = tokens.eq(PAD), tokens.eq(MASK)
    positions = torch.arange(1, tokens.size(1) + 1, device=device).expand_as(tokens)
    positions = positions.masked_fill(padding, 0)
    states = model.decode(tokens, padding, encoded, causal=False, positions=positions)
    best = model.output.best(states[masked], NEVER_FILLED)
    tokens = tokens.masked_scatter(masked, best.symbols)
    filled = states.new_zeros(tokens.shape).masked_scatter(masked, best.log_probabilities)
    return tokens, masked, filled


def _unfolded(tokens: Tensor, masked: Tensor, scores: Tensor) -> list[Pass]:
    """The passes of a completed sequence [T]: one for each token of stage I, one for stage II."""
    shown = tokens.masked_fill(masked, MASK).tolist()
    known = scores.masked_fill(masked, 0).tolist()
    kth, between = ((each.nonzero()[:, 0]).tolist() for each in (~masked, masked))
    first = [Pass(shown[: place + 1], [place], [place], known[: place + 1]) for place in kth]
    return [*first, Pass(tokens.tolist(), between, between, scores.tolist())]


def chunk_of(model: Transformer) -> int:
    """k of a hybrid model."""
    assert model.decoder.chunk is not None
    return model.decoder.chunk


METHOD = Hybrid
