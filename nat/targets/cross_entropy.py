"""Cross-entropy with label smoothing at the positions that carry loss."""

from nat.objective.context import BatchContext, DecoderInput, Loss, sum_by_sentence
from nat.targets.options import CrossEntropyOptions
from nat.transformer.layers import DecoderTrace


class CrossEntropy(CrossEntropyOptions):
    """Negative log-likelihood of the labels, position by position."""

    def __call__(
        self, context: BatchContext, decoder_input: DecoderInput, trace: DecoderTrace | None = None
    ) -> Loss:
        """Loss of each sentence; the part `nll` is without smoothing."""
        loss_mask = decoder_input.loss_mask
        states = context.decode(decoder_input, trace)[loss_mask]
        symbols = decoder_input.target[loss_mask]
        rows = context.output.cross_entropy(states, symbols, self.label_smoothing)
        return Loss(
            sum_by_sentence(rows.value, loss_mask),
            loss_mask.sum(1),
            {"nll": sum_by_sentence(rows.nll, loss_mask)},
        )


METHOD = CrossEntropy
