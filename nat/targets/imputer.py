"""Imputer: the sum over alignments that complete a partly visible one."""

import torch
from torch import Tensor

from nat.alignment.ctc import frames_needed, negative_log_likelihood, own_symbols
from nat.objective.context import BatchContext, DecoderInput, Loss
from nat.targets.options import ImputerOptions


class Imputer(ImputerOptions):
    """Negative log-likelihood of the target given the visible labels, at the masked positions.

    Saharia et al. (2020), section 3.2: log p(y|a~, x) is the logarithm of the sum, over alignments
    a that collapse to y and equal the visible labels a~ where there are some, of the product over
    masked positions j of p(a_j|a~, x).

    Where the paper is ambiguous: alignments must agree with the symbol at a visible position, not
    with the occurrence of that token in the target; visible positions are given, so that their
    probabilities do not count; the denominator of the loss is the number of masked positions.
    """

    def __call__(self, context: BatchContext, decoder_input: DecoderInput) -> Loss:
        """Loss of each sentence, see `completion_loss`."""
        return completion_loss(context, decoder_input, context.batch.target)


def completion_loss(context: BatchContext, decoder_input: DecoderInput, targets: Tensor) -> Loss:
    """Minus the log-probability that the masked positions complete an alignment of the targets.

    The decoder input is partly visible alignments, whose masked positions carry the loss; they
    collapse to `targets` [B, N], those of the batch or a teacher's. Parts of the loss: `nll`, the
    loss (nats), and `infeasible`, the tokens of targets of the batch that do not fit their canvas;
    these sentences have no loss.
    """
    padding, masked = decoder_input.padding, decoder_input.loss_mask
    lengths = context.batch.target_lengths
    feasible = frames_needed(context.batch.target) <= (~padding).sum(1)
    trained = feasible & (lengths > 0)
    symbols = own_symbols(targets)
    states = context.decode(decoder_input)
    own = context.output.own_log_probabilities(states, masked & trained[:, None], symbols)
    agrees = symbols[:, None, :].eq(decoder_input.tokens[:, :, None])
    given = torch.where(agrees, 0.0, -torch.inf).to(own.dtype)
    own = torch.where((masked | padding)[:, :, None], own, given)
    nll = torch.where(trained, negative_log_likelihood(own, targets, padding), 0)
    parts = {"nll": nll.detach(), "infeasible": torch.where(feasible, 0, lengths).to(nll.dtype)}
    return Loss(nll, torch.where(trained, masked.sum(1), 0), parts)


METHOD = Imputer
