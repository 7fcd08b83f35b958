"""Cross-entropy with label smoothing at the positions that carry loss."""

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from nat.training.step import DecoderInput, Loss, Step, sum_by_sentence
from nat.transformer.projection import cross_entropy
from nat.transformer.trace import DecoderTrace


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class CrossEntropy:
    """Negative log-likelihood of the labels, position by position.

    Attributes:
        label_smoothing: share of the label's probability that is spread evenly over the vocabulary
            (Szegedy et al. 2016).
    """

    label_smoothing: float = Field(default=0.0, ge=0.0, lt=1.0)

    def __call__(
        self, step: Step, decoder_input: DecoderInput, trace: DecoderTrace | None = None
    ) -> Loss:
        """Loss of each sentence; the part `nll` is without smoothing."""
        carries_loss = decoder_input.carries_loss
        states = step.decode(decoder_input, trace)[carries_loss]
        symbols = decoder_input.target[carries_loss]
        found = cross_entropy(
            states, step.model.embedding.weight, symbols, self.label_smoothing, step.bfloat16
        )
        return Loss(
            sum_by_sentence(found.value, carries_loss),
            carries_loss.sum(1),
            {"nll": sum_by_sentence(found.nll, carries_loss)},
        )


METHOD = CrossEntropy
