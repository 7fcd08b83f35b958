"""Correction (CMLMC): a conditional masked language model that also learns from its own mistakes.

Huang, Perez and Volkovs (2022), "Improving Non-Autoregressive Translation Models Without
Distillation". A plain CMLM sees no wrong token in training and so never learns to correct one,
while in decoding it sees its own mistakes. The decoding `mask_correct` replaces visible tokens.
"""

from dataclasses import replace

import torch

from nat.alignment.reveal import least_confident, share_of
from nat.data.vocabulary import MASK, NEVER_WRITTEN
from nat.objective.context import BatchContext, DecoderInput, Loss, sum_of_losses
from nat.targets.cross_entropy import CrossEntropy
from nat.targets.options import CmlmcOptions


class Cmlmc(CmlmcOptions):
    """Cross-entropy at masked positions, and at visible ones that were replaced: L_mask + L_corr.

    A pass over nothing but masks, without gradient, predicts every token. Of the n visible
    positions, floor(n * replace_factor) uniformly drawn ones get the token that was predicted
    there. A second pass over this input, with its masks, learns the true tokens of these positions,
    whether or not the prediction was wrong. The loss at masked positions comes from the original
    input.

    Where the paper is ambiguous: the two losses are summed over positions and divided by the number
    of positions that carry either of them (as in the published code of DiMS; that of CMLMC takes
    the mean of the two means); special symbols are never predicted.
    """

    def __call__(self, context: BatchContext, decoder_input: DecoderInput) -> Loss:
        """Loss of each sentence.

        Parts, both without smoothing: `nll` at the masked positions and `correction_nll` at the
        replaced ones.
        """
        target = CrossEntropy(label_smoothing=self.label_smoothing)
        masked = target(context, decoder_input)
        replaced = target(context, self.replace(context, decoder_input))
        parts = {"nll": masked.parts["nll"], "correction_nll": replaced.parts["nll"]}
        return replace(sum_of_losses([masked, replaced]), parts=parts)

    @torch.no_grad()
    def replace(self, context: BatchContext, decoder_input: DecoderInput) -> DecoderInput:
        """Replace visible tokens by the model's own predictions; the replaced ones carry the loss.

        Uses stream 2 of the context's random numbers.
        """
        tokens, padding = decoder_input.tokens, decoder_input.padding
        visible = ~padding & tokens.ne(MASK)
        order = context.uniform(tokens.size(1), stream=2).masked_fill(~visible, 2.0)
        count = share_of(visible.sum(1), self.replace_factor).long()
        chosen = least_confident(order, count) & visible
        blank = replace(decoder_input, tokens=tokens.masked_fill(~padding, MASK))
        states = context.decode(blank)[chosen]
        never = torch.tensor(NEVER_WRITTEN, device=tokens.device)
        predicted = context.output.best(states, never)
        return replace(
            decoder_input,
            tokens=tokens.masked_scatter(chosen, predicted.symbols),
            loss_mask=chosen,
        )


METHOD = Cmlmc
