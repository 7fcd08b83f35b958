"""Connectionist temporal classification: the sum over alignments with an upsampled canvas."""

import torch

from nat.alignment.ctc import frames_needed, negative_log_likelihood, own_symbols
from nat.objective.context import BatchContext, DecoderInput, Loss
from nat.targets.options import CtcOptions


class Ctc(CtcOptions):
    """Negative log-likelihood of the target, summed over all of its alignments with the canvas.

    Graves et al. (2006); Libovicky and Helcl (2018) and Gu and Kong (2021), section 3.3, for
    non-autoregressive translation: log p(y|x) is the logarithm of the sum over alignments a of
    the product over frames j of p(a_j|x). All frames are included, also those whose label the
    decoder sees. A pair whose target needs more frames than there are has no alignment and no loss.

    Where the paper is ambiguous: Gu and Kong use label smoothing, but with CTC no frame has a label
    of its own. The loss of a sentence is (1 - label_smoothing) * nll + label_smoothing * S, where S
    comes from the cross-entropy of each real frame with the uniform distribution: its mean over
    the frames times the number of target tokens. This is what the published code weighs against
    the NLL per token (except that its mean is over the frames of a batch, padding included). The
    sum over frames would stand to the likelihood of an alignment, also a product over frames, as
    smoothing does in cross-entropy; at an upsampling of 3 it is about three times as large.
    """

    def __call__(self, context: BatchContext, decoder_input: DecoderInput) -> Loss:
        """Loss of each sentence; its positions are the target's tokens.

        Parts: `nll`, without smoothing (nats), and `infeasible`, the tokens of targets that do not
        fit their canvas.
        """
        targets, lengths = context.batch.target, context.batch.target_lengths
        padding, output = decoder_input.padding, context.output
        feasible = frames_needed(targets) <= (~padding).sum(1)
        trained = feasible & (lengths > 0)
        frames = trained[:, None] & ~padding
        symbols = own_symbols(targets)
        states = context.decode(decoder_input)
        smoothed = self.label_smoothing * lengths.to(states.dtype) / frames.sum(1).clamp(min=1)
        shares = 1 - self.label_smoothing + smoothed if self.label_smoothing else None
        own = output.own_log_probabilities(states, frames, symbols, shares)
        nll = torch.where(trained, negative_log_likelihood(own, targets, padding), 0)
        value = nll
        if self.label_smoothing:
            blank = symbols[:, :1].expand_as(padding)
            spread = output.smoothing(states, frames, blank, own[:, :, 0]).sum(1)
            value = (1 - self.label_smoothing) * nll + smoothed * spread
        infeasible = torch.where(feasible, 0, lengths).to(nll.dtype)
        parts = {"nll": nll.detach(), "infeasible": infeasible}
        return Loss(value, torch.where(trained, lengths, 0), parts)


METHOD = Ctc
