"""Teacher forcing: each position sees the preceding target tokens (autoregressive models)."""

import torch

from nat.data.vocabulary import BOS, EOS, PAD
from nat.inputs.options import PreviousTokensOptions
from nat.objective.context import BatchContext, DecoderInput


class PreviousTokens(PreviousTokensOptions):
    """The input is BOS and the target, the output the target and EOS (Vaswani et al. 2017)."""

    def __call__(self, context: BatchContext) -> DecoderInput:
        """Shift the target [B, T] into an input and an output of [B, T + 1]."""
        target = context.batch.target
        column = (target.size(0), 1)
        tokens = torch.cat((target.new_full(column, BOS), target), 1)
        extended = torch.cat((target, target.new_full(column, PAD)), 1)
        ends = context.batch.target_lengths[:, None]
        extended = extended.scatter(1, ends, EOS)
        padding = extended.eq(PAD)
        return DecoderInput(tokens, padding, extended, ~padding, causal=True)


METHOD = PreviousTokens
