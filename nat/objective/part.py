"""The share of a network part in training."""

from nat.objective.context import BatchContext, DecoderInput, Loss
from nat.transformer.part import Part


class TrainedPart(Part):
    """A part of the network with a share of the objective; each method can be left as it is."""

    def in_training(self, context: BatchContext) -> BatchContext:
        """Change what an update or a validation sees, before the proxy input is made."""
        return context

    def with_loss(self, loss: Loss, context: BatchContext, decoder_input: DecoderInput) -> Loss:
        """Add a term to the loss of each sentence."""
        return loss
