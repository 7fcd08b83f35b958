"""Canvases for non-autoregressive decoding with a length predictor.

A canvas is the decoder input of a translation in progress: as many positions as the translation
will have, each of them MASK or a symbol that was chosen already.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

from nat.alignment.reveal import share_of
from nat.data.vocabulary import MASK, PAD
from nat.decoding.hypothesis import Hypothesis, written
from nat.decoding.network import Network, predict
from nat.decoding.passes import Moment, Pass, passes_of
from nat.transformer.model import Encoded


class Canvases:
    """`length_beam` canvases for each of B sentences, in one batch.

    N = B * length_beam; the canvases of a sentence follow each other, the most probable length
    first.

    Args:
        tokens: symbols, MASK where none is chosen, PAD after the end, [N, T].
        encoded: encoder states of the sentences.
        length_beam: see above.
        history: to which the canvases after each decoder pass are added.

    Attributes:
        log_probabilities: of the chosen symbols, nats; zero where none is chosen, [N, T].
        real: True before the end, [N, T].
        lengths: [N].
        passes: number of decoder passes of each canvas, [N].
    """

    def __init__(
        self,
        tokens: Tensor,
        encoded: Encoded,
        length_beam: int = 1,
        history: list[Moment] | None = None,
    ) -> None:
        self.tokens, self.length_beam, self.history = tokens, length_beam, history
        self.log_probabilities = encoded.states.new_zeros(tokens.shape)
        self.real = tokens.ne(PAD)
        self.lengths = self.real.sum(1)
        self.passes = torch.zeros_like(self.lengths)

    def predict(
        self, model: Network, encoded: Encoded, masked: Tensor, correct: bool = False
    ) -> None:
        """Choose the most probable symbols at `masked` positions in one bidirectional pass.

        Canvases of similar length are decoded together: a length beam contains lengths that are
        many times the most probable one, and all would be padded to the longest.

        The decoder sees MASK at `masked` positions [N, T] and the symbols at all others. With
        `correct` it replaces these too; otherwise canvases without a masked position are skipped.
        BLANK is chosen only by a model that was trained with it as the empty token.

        `encoded` has the encoder states of the sentence of each canvas, by the same model.
        """
        chosen = self.real if correct else masked
        for rows, width in _of_like_length(self.lengths, chosen.any(1).nonzero()[:, 0]):
            padding, wanted = ~self.real[rows, :width], chosen[rows, :width]
            tokens = torch.where(masked[rows, :width], MASK, self.tokens[rows, :width])
            states = encoded if rows.numel() == len(self.tokens) else encoded.rows(rows)
            best = predict(model, tokens, padding, states, wanted)
            row, position = wanted.nonzero(as_tuple=True)
            self.tokens[rows[row], position] = best.symbols
            self.log_probabilities[rows[row], position] = best.log_probabilities
            self.passes[rows] += 1
        if self.history is not None:
            now = self.tokens.clone(), self.log_probabilities.clone()
            self.history.append(Moment(masked, chosen, *now))

    @property
    def scores(self) -> Tensor:
        """Mean log-probability per position, empty tokens and EOS included, nats, [N]."""
        return self.log_probabilities.sum(1) / self.lengths

    def all(self) -> list[Hypothesis]:
        """Every canvas, with its score."""
        return written(self.tokens, self.scores, self.passes)

    def best(self) -> list[Hypothesis]:
        """The canvas of each sentence with the highest score.

        Of equal ones, the one with the more probable length. Its number of steps is the largest of
        the sentence's canvases.
        """
        rows, passes = self._best_rows, self.passes.view(-1, self.length_beam).amax(1)
        return written(self.tokens[rows], self.scores[rows], passes)

    @property
    def _best_rows(self) -> Tensor:
        """Number of each sentence's canvas with the highest score, [B]."""
        chosen = self.scores.view(-1, self.length_beam).argmax(1)
        return torch.arange(len(chosen), device=chosen.device) * self.length_beam + chosen

    def recorded(self) -> list[list[Pass]]:
        """The passes of the history behind the `best` canvas of each sentence."""
        return passes_of(self.history or (), self._best_rows, self.lengths)


def _of_like_length(lengths: Tensor, rows: Tensor) -> Iterator[tuple[Tensor, int]]:
    """Split `rows` into parts whose longest length is less than twice the shortest.

    Yields:
        Numbers of rows in increasing order, and the greatest of their `lengths`.
    """
    left = lengths[rows]
    while rows.numel():
        longest = int(left.max())
        alike = left * 2 > longest
        yield rows[alike], longest
        rows, left = rows[~alike], left[~alike]


def canvases_of(
    model: Network,
    encoded: Encoded,
    length_beam: int,
    length_factor: float = 1.0,
    history: list[Moment] | None = None,
) -> Canvases:
    """Canvases of masks for the `length_beam` most probable target lengths of each sentence."""
    lengths = lengths_of(model, encoded, length_beam, length_factor)
    width = int(lengths.max()) if lengths.numel() else 0
    real = torch.arange(width, device=lengths.device) < lengths[:, None]
    return Canvases(torch.where(real, MASK, PAD), encoded, length_beam, history)


def lengths_of(
    model: Network, encoded: Encoded, length_beam: int, length_factor: float = 1.0
) -> Tensor:
    """The `length_beam` most probable target lengths of each sentence, [B * length_beam].

    Predicted lengths are multiplied with `length_factor`, then rounded (halves to the even number).
    A canvas that ends in EOS has at least two positions, as for the authors of Mask-Predict.
    """
    predictor = model.length_predictor
    if predictor is None:
        raise ValueError("this decoding method needs a model with a length predictor")
    longest = model.architecture.max_positions
    states = encoded.length_states
    lengths = predictor.candidates(states, encoded.padding, length_beam, longest).flatten()
    if length_factor != 1:
        lengths = share_of(lengths, length_factor).round().long().clamp(1, longest)
    return lengths.clamp(min=1 + int(model.predicts_end))
