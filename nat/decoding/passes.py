"""The passes of a decoding, as figures, tables and the sentence browser show them."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from torch import Tensor

from nat.data.vocabulary import BLANK, MASK, Vocabulary
from nat.transformer.model import Transformer


class Pass(NamedTuple):
    """The effect of a decoder pass on a sentence.

    Attributes:
        tokens: after the pass, MASK where none is chosen yet.
        chosen: positions whose tokens it chose.
        masked: positions at which the decoder saw MASK, or nothing. A pass that corrects also
            chooses tokens that it sees; one that imputes leaves some masks for later passes.
        log_probabilities: of the tokens, each from the pass that chose it, nats; zero at masks.
    """

    tokens: list[int]
    chosen: list[int]
    masked: list[int]
    log_probabilities: list[float]


class Moment(NamedTuple):
    """A batch after a decoder pass, [N, T] each; it saw MASK at `masked`, and chose `chosen`."""

    masked: Tensor
    chosen: Tensor
    tokens: Tensor
    log_probabilities: Tensor

    def of(self, row: int, length: int) -> Pass:
        """The pass of a row that has this length."""
        chosen, masked = (each[row].nonzero()[:, 0] for each in (self.chosen, self.masked))
        shown = self.tokens[row, :length], chosen, masked, self.log_probabilities[row, :length]
        return Pass(*(each.tolist() for each in shown))


def passes_of(moments: Sequence[Moment], rows: Tensor, lengths: Tensor) -> list[list[Pass]]:
    """The passes of some rows [B] of a batch of these lengths [N]; without those of no choice."""
    return [
        [each.of(row, int(lengths[row])) for each in moments if each.chosen[row].any()]
        for row in rows.tolist()
    ]


class Traced(Protocol):
    """A decoding method whose passes can be looked at."""

    def passes(self, model: Transformer, source: Tensor) -> list[list[Pass]]:
        """The passes behind the translation of each source sentence [B, S].

        EOS is the last token where the decoder predicts it. Passes that left the sentence as it
        was because nothing was masked are not there.
        """


def words(tokens: Sequence[int], vocabulary: Vocabulary) -> list[str | None]:
    """Subwords; none for MASK, an empty one for BLANK."""
    special = {MASK: None, BLANK: ""}
    return [special[each] if each in special else vocabulary.symbols[each] for each in tokens]
