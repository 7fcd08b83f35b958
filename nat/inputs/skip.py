"""The four tasks of hybrid-regressive translation (HRT): every k-th token, then the rest.

Wang et al. (2022), section 5.2 and algorithm 1. One model learns to generate every k-th token from
left to right (Skip-AT) and to predict the others in parallel (Skip-CMLM). Ordinary AT and CMLM are
auxiliary tasks, which a curriculum gradually replaces.
"""

import torch
from torch import Tensor

from nat.alignment.reveal import least_confident
from nat.data.vocabulary import BEGIN_OF_CHUNKS, BOS, MASK, PAD
from nat.inputs.masks import with_ends
from nat.inputs.options import SkipOptions
from nat.objective.context import BatchContext, DecoderInput

NUMBER, POSITIONS, TASK = 0, 1, 2
"""Streams of the context's random numbers."""


class Skip(SkipOptions):
    """Two inputs for each sentence, one for a causal and one for a bidirectional decoder.

    The target y_1 .. y_N is padded with EOS to a multiple of k, so that the last of its every k-th
    tokens is always EOS. The primary tasks are:

    - Skip-AT: the input [B_k], y_k, y_2k, .. at positions 0, k, 2k, .. predicts y_k, y_2k, .. ;
    - Skip-CMLM: all tokens but every k-th one are MASK, at positions 1, 2, .. ; the masks carry the
      loss.

    The auxiliary tasks are teacher forcing, and masks at uniformly drawn positions of the target
    and its EOS. When the share t / T of the training is done, a sentence has the primary tasks with
    probability (t / T) ** curriculum, and the auxiliary tasks otherwise.

    Where the paper is ambiguous: the tasks are drawn for each sentence instead of taking the first
    part of a batch, which is the same in expectation; positions after the first EOS carry no loss;
    Skip-CMLM has no begin symbol.
    """

    def __call__(self, context: BatchContext) -> tuple[DecoderInput, DecoderInput]:
        """The causal task and the bidirectional one."""
        chunk = context.model.decoder.chunk
        assert chunk is not None
        lengths = context.batch.target_lengths
        ended, real = with_ends(context.batch.target, lengths, chunk)
        primary = torch.ones_like(lengths, dtype=torch.bool)
        if self.curriculum is not None:
            primary = context.uniform(1, TASK)[:, 0] < context.progress**self.curriculum
        return (
            _from_left_to_right(ended, lengths, chunk, primary),
            _at_once(context, ended, real, chunk, primary),
        )


def _from_left_to_right(
    ended: Tensor, lengths: Tensor, chunk: int, primary: Tensor
) -> DecoderInput:
    """Skip-AT for the primary sentences, teacher forcing for the others."""
    places = torch.arange(ended.size(1), device=ended.device)
    strides = torch.where(primary, chunk, 1)[:, None]
    labels_at = (places + 1) * strides - 1
    counts = torch.where(primary, lengths // chunk + 1, lengths + 1)[:, None]
    padding = places >= counts
    labels = ended.gather(1, labels_at.clamp(max=ended.size(1) - 1)).masked_fill(padding, PAD)
    begin = torch.where(primary, BEGIN_OF_CHUNKS, BOS)[:, None]
    tokens = torch.cat((begin, labels[:, :-1]), 1).masked_fill(padding, PAD)
    positions = (places * strides).masked_fill(padding, 0)
    width = int(counts.max()) if len(counts) else 0
    tokens, padding, labels, positions = (
        each[:, :width] for each in (tokens, padding, labels, positions)
    )
    loss_mask = ~padding & lengths.gt(0)[:, None]  # an empty target has nothing to learn
    return DecoderInput(tokens, padding, labels, loss_mask, causal=True, positions=positions)


def _at_once(
    context: BatchContext, ended: Tensor, real: Tensor, chunk: int, primary: Tensor
) -> DecoderInput:
    """Skip-CMLM for the primary sentences, random masks for the others."""
    lengths = context.batch.target_lengths
    places = torch.arange(ended.size(1), device=ended.device)
    to_first_end = places <= lengths[:, None]
    between = (places + 1) % chunk != 0
    masks = (context.uniform(1, NUMBER)[:, 0] * (lengths + 1)).long() + 1
    at_random = least_confident(context.uniform(ended.size(1), POSITIONS), masks, to_first_end)
    masked = torch.where(primary[:, None], between & real, at_random)
    shown = torch.where(primary[:, None], real, to_first_end)
    tokens = torch.where(masked, MASK, ended).masked_fill(~shown, PAD)
    labels = ended.masked_fill(~shown, PAD)
    loss_mask = masked & to_first_end & lengths.gt(0)[:, None]
    positions = (places + 1).expand_as(ended).masked_fill(~shown, 0)
    return DecoderInput(tokens, ~shown, labels, loss_mask, positions=positions)


METHOD = Skip
