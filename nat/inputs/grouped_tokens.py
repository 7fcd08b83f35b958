"""Groups of tokens at a time: the semi-autoregressive Transformer (SAT), Wang et al. (2018)."""

import torch

from nat.data.vocabulary import BOS, PAD
from nat.inputs.masks import with_ends
from nat.inputs.options import GroupedTokensOptions
from nat.objective.context import BatchContext, DecoderInput


class GroupedTokens(GroupedTokensOptions):
    """Each group of k tokens is predicted in parallel from the groups before it.

    The input is k times BOS followed by the target, the output is the target followed by EOS. The
    positions of a group see each other (the relaxed causal mask). The last group is complete, as in
    decoding; positions after EOS carry no loss.
    """

    def __call__(self, context: BatchContext) -> DecoderInput:
        """Shift the target [B, T] into whole groups."""
        chunk = context.model.decoder.chunk
        assert chunk is not None
        target, lengths = context.batch.target, context.batch.target_lengths
        labels, real = with_ends(target, lengths, chunk)
        width = labels.size(1)
        tokens = torch.cat((labels.new_full((len(labels), chunk), BOS), labels), 1)[:, :width]
        places = torch.arange(width, device=target.device)
        loss_mask = (places <= lengths[:, None]) & (lengths > 0)[:, None]
        return DecoderInput(
            tokens.masked_fill(~real, PAD), ~real, labels, loss_mask, causal=True, group=chunk
        )


METHOD = GroupedTokens
