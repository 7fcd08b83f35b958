"""Correction (CMLMC): a conditional masked language model that also learns from its own mistakes.

Huang, Perez and Volkovs (2022), "Improving Non-Autoregressive Translation Models Without
Distillation". A plain CMLM sees no wrong token in training and so never learns to correct one,
while in decoding it sees its own mistakes. The decoding `mask_correct` replaces visible tokens.
"""

from dataclasses import replace

import torch
from torch import Tensor

from nat.alignment.reveal import least_confident, share_of
from nat.data.vocabulary import EOS, MASK, NEVER_WRITTEN, PAD
from nat.objective.context import BatchContext, DecoderInput, Loss, sum_by_sentence
from nat.targets.cross_entropy import CrossEntropy
from nat.targets.options import CmlmcOptions

MOST_MASKED, SOURCE_WEIGHT = 0.1, 0.01
"""Of `mask_source`: most of a source that is masked beyond one token, and the loss's weight."""


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

    With `mask_source`, which the published code has and no paper mentions, all passes in training
    see a source in which 1 + floor(u n / 10) of n tokens are masked, u uniform in [0, 1), and a
    hundredth of the mean cross-entropy of these tokens, predicted from their encoder states, is
    added for each position that carries the loss. The length is predicted from the whole source.
    """

    def __call__(self, context: BatchContext, decoder_input: DecoderInput) -> Loss:
        """Loss of each sentence.

        Parts, both without smoothing: `nll` at the masked positions and `correction_nll` at the
        replaced ones; `source` is what is added for masked sources, before its weight.
        """
        source_masked = None
        if self.mask_source and context.model.training:
            source_masked = self.source_masks(context)
            source = context.batch.source.masked_fill(source_masked, MASK)
            context = replace(context, encoded=context.model.encode(source))
        target = CrossEntropy(label_smoothing=self.label_smoothing)
        masked = target(context, decoder_input)
        replaced = target(context, self.replace(context, decoder_input))
        loss = masked + replaced
        parts = {"nll": masked.parts["nll"], "correction_nll": replaced.parts["nll"]}
        if source_masked is None:
            return replace(loss, parts=parts)
        parts["source"] = loss.positions * self.source_loss(context, source_masked)
        return replace(loss, value=loss.value + SOURCE_WEIGHT * parts["source"], parts=parts)

    def source_masks(self, context: BatchContext) -> Tensor:
        """Draw the source tokens that are masked, [B, S]; streams 3 and 4 of the random numbers."""
        source = context.batch.source
        words = source.ne(PAD) & source.ne(EOS)
        share = MOST_MASKED * context.uniform(1, stream=3)[:, 0]
        order = context.uniform(source.size(1), stream=4)
        return least_confident(order, 1 + (share * words.sum(1)).long(), words)

    def source_loss(self, context: BatchContext, masked: Tensor) -> Tensor:
        """Mean smoothed cross-entropy of the masked source tokens of each sentence, nats, [B]."""
        table, output = context.model.source_embedding, context.output
        if table is not None:
            output = output._replace(weight=table.weight)
        states = context.encoded.source_states[masked]
        rows = output.cross_entropy(states, context.batch.source[masked], self.label_smoothing)
        return sum_by_sentence(rows.value, masked) / masked.sum(1).clamp(min=1)

    @torch.no_grad()
    def replace(self, context: BatchContext, decoder_input: DecoderInput) -> DecoderInput:
        """Replace visible tokens by the model's own predictions; the replaced ones carry the loss.

        Uses stream 2 of the context's random numbers.
        """
        tokens, padding = decoder_input.tokens, decoder_input.padding
        visible = ~padding & tokens.ne(MASK)
        order = context.uniform(tokens.size(1), stream=2)
        count = share_of(visible.sum(1), self.replace_factor).long()
        chosen = least_confident(order, count, visible)
        blank = replace(decoder_input, tokens=tokens.masked_fill(~padding, MASK))
        states = context.decode(blank)[chosen]
        predicted = context.output.best(states, NEVER_WRITTEN)
        return replace(
            decoder_input,
            tokens=tokens.masked_scatter(chosen, predicted.symbols),
            loss_mask=chosen,
        )


METHOD = Cmlmc
