"""Block masking of an alignment (Imputer)."""

import torch
from torch import Tensor

from nat.data.vocabulary import MASK
from nat.inputs.options import BlockMaskOptions
from nat.objective.context import BatchContext, DecoderInput
from nat.objective.first_pass import FirstPass

SIZES = (2, 4, 8, 16)
"""Positions of a block."""


class BlockMask(BlockMaskOptions):
    """Reveal part of the best alignment of the target with an upsampled canvas, block by block.

    Saharia et al. (2020), section 3.2, with the changes of DiMS (Norouzi et al. 2022, appendix F):
    the alignment is found during training, by a pass over nothing but masks without gradient and
    the Viterbi algorithm, and masks are arranged in blocks.

    Where the papers are ambiguous: the size b of the blocks, one of `SIZES`, and the number of
    masks in each, 1 to b, are drawn uniformly for each sentence and are the same in all of its
    blocks. (In distillation the published code of DiMS takes blocks of 4 to 16 positions, one size
    for a batch, and at least as many masks in each as the teacher has steps.) The positions are
    drawn uniformly in each block. A shorter last block has the same number of masks, or is all
    masks. So is a sentence that has no alignment.
    """

    def __call__(self, context: BatchContext) -> DecoderInput:
        """Mask part of the alignment [B, T]; the masked positions carry the loss.

        Uses streams 1 and 2 of the context's random numbers.
        """
        first = FirstPass(context, context.teacher if self.aligned_by == "teacher" else None)
        labels, padding = first.labels, first.canvas.padding
        masked = (self.masks(context, padding) | labels.eq(MASK)) & ~padding
        return DecoderInput(torch.where(masked, MASK, labels), padding, labels, masked)

    def masks(self, context: BatchContext, padding: Tensor) -> Tensor:
        """Draw what is masked on canvases of this padding [B, T], [B, T]; anything at padding."""
        size_and_masks = context.uniform(2, stream=2)
        sizes = torch.tensor(SIZES, device=padding.device)
        sizes = sizes[(size_and_masks[:, 0] * len(SIZES)).long()][:, None]
        masks = (size_and_masks[:, 1:] * sizes).long() + 1
        places = torch.arange(padding.size(1), device=padding.device)
        blocks = places // sizes
        # padding comes last in its block
        order = context.uniform(padding.size(1), stream=1).double().masked_fill(padding, 1.0)
        ranks = (2 * blocks + order).argsort(stable=True, dim=1).argsort(1)
        # all blocks before are whole, so ranks count on from one to the next
        return ranks - blocks * sizes < masks


METHOD = BlockMask
