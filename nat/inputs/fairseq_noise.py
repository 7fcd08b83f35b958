"""The noise of fairseq's task `translation_lev`, for models of fairseq's own."""

import torch

from nat.data.vocabulary import PAD
from nat.fairseq_plugin.own_models import OfFairseq
from nat.inputs.options import FairseqNoiseOptions
from nat.objective.context import BatchContext, DecoderInput


class FairseqNoise(FairseqNoiseOptions):
    """The input of a model of fairseq's own: the target, between BOS and EOS.

    Random numbers are those of torch, which fairseq seeds at each update. In validation they are
    the same for all batches, as with fairseq's option `--fixed-validation-seed`.
    """

    def __call__(self, context: BatchContext) -> DecoderInput:
        """Noise on the targets, [B, at most T + 2]; labels are found by the model itself."""
        assert isinstance(context.model, OfFairseq)
        if not context.model.training:
            torch.manual_seed(context.seed)
        tokens = context.model.noised(context.batch.target, self.noise)
        padding = tokens.eq(PAD)
        return DecoderInput(tokens, padding, tokens, ~padding)


METHOD = FairseqNoise
