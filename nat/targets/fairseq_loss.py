"""The loss of fairseq's own models, by fairseq's criterion `nat_loss`."""

from nat.configuration.models import Training
from nat.data.vocabulary import VocabularySizes
from nat.fairseq_plugin.own_models import OfFairseq
from nat.objective.context import BatchContext, DecoderInput, Loss
from nat.options import options_of
from nat.targets.options import FairseqLossOptions


class FairseqLoss(FairseqLossOptions):
    """The losses of a model of fairseq's own: words, and lengths, transitions or edits.

    The loss is one number for a batch, the mean over its tokens, and each batch of an update counts
    the same, as in fairseq.
    """

    def network(self, training: Training, sizes: VocabularySizes) -> OfFairseq:
        """The untrained model of fairseq's own."""
        options = {
            "dropout": training.recipe.dropout,
            "label_smoothing": self.label_smoothing,
            "length_loss_factor": training.recipe.length_loss_weight,
            **options_of(self.options),
        }
        return OfFairseq(training.architecture, sizes, self.model, options)

    def __call__(self, context: BatchContext, decoder_input: DecoderInput) -> Loss:
        """Loss of a batch as that of one sentence with one position."""
        model, batch = context.model, context.batch
        assert isinstance(model, OfFairseq)
        value, parts = model.loss(batch.source, decoder_input.tokens, batch.target)
        one = {name: part[None] for name, part in parts.items()}
        return Loss(value[None], value.new_ones(1, dtype=int), one)


METHOD = FairseqLoss
