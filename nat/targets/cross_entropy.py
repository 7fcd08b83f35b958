"""Cross-entropy with label smoothing at the positions that carry loss."""

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from nat.objective.context import BatchContext, DecoderInput, Loss, sum_by_sentence
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
        self, context: BatchContext, decoder_input: DecoderInput, trace: DecoderTrace | None = None
    ) -> Loss:
        """Loss of each sentence; the part `nll` is without smoothing."""
        loss_mask = decoder_input.loss_mask
        states = context.decode(decoder_input, trace)[loss_mask]
        symbols = decoder_input.target[loss_mask]
        found = cross_entropy(
            states, context.model.embedding.weight, symbols, self.label_smoothing, context.bfloat16
        )
        return Loss(
            sum_by_sentence(found.value, loss_mask),
            loss_mask.sum(1),
            {"nll": sum_by_sentence(found.nll, loss_mask)},
        )


METHOD = CrossEntropy
