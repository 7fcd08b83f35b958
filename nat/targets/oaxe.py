"""Order-agnostic cross-entropy (OaXE): the loss of the best one-to-one assignment.

Du et al. (2021), section 3. As a proxy target: MPLE (Huang et al. 2022), appendix E.4; T* is the
permutation of the reference with the highest probability. The assignment of an untrained model is
arbitrary, so training starts from a model that was trained with cross-entropy (`init_from`). The
alternative in Du et al., a sum of both losses with an annealed weight, is not implemented, since no
system of the five papers uses it.
"""

import math

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from nat.objective.context import BatchContext, DecoderInput, Loss
from nat.targets.options import OaxeOptions

IMPOSSIBLE = 1e6
"""Finite cost of a probability of zero when assignments are compared, nats."""


def assign(log_probabilities: Tensor, taking_part: Tensor) -> Tensor:
    """Find the cheapest one-to-one assignment of targets and predictions (Hungarian method).

    The targets that take part are permuted among their own positions; the others keep theirs. The
    sentences are solved one after the other on the CPU, in float64, after a single copy from the
    device. The choice among equally cheap assignments is deterministic.

    Args:
        log_probabilities: of target i at prediction j, [B, T, T], as [:, j, i].
        taking_part: [B, T].

    Returns:
        The target that each prediction is to predict: a permutation of 0 to T - 1, [B, T].
    """
    finite = log_probabilities.detach().double().nan_to_num(nan=-IMPOSSIBLE).clamp(min=-IMPOSSIBLE)
    costs, which = (-finite).cpu().numpy(), taking_part.cpu().numpy()
    places = np.tile(np.arange(which.shape[1]), (len(which), 1))
    for row, (cost, chosen) in enumerate(zip(costs, which, strict=True)):
        numbers = chosen.nonzero()[0]
        _, best = linear_sum_assignment(cost[np.ix_(numbers, numbers)])
        places[row, numbers] = numbers[best]
    return torch.from_numpy(places).to(log_probabilities.device)


def probable(log_probabilities: Tensor, margin: float) -> Tensor:
    """True where a probability is not below the margin, from natural log-probabilities.

    One that is not a number is kept, so that the loss is no number either, and training stops.
    """
    return ~(log_probabilities < math.log(margin))


class OaXe(OaxeOptions):
    """Cross-entropy of the best assignment of the target's tokens to the predictions.

    Where the papers are ambiguous: a prediction whose assigned token has a probability below the
    margin is dropped from the loss, one at the margin is not; dropped predictions still count in
    the denominator, so that dropping terms cannot increase the loss; only the tokens at positions
    that carry loss are permuted. MPLE (appendix G) trains without truncation.
    """

    def __call__(self, context: BatchContext, decoder_input: DecoderInput) -> Loss:
        """Loss of each sentence.

        Parts: `nll` under the assignment, with all terms (nats), and `dropped`, the number of
        dropped tokens.
        """
        loss_mask, symbols = decoder_input.loss_mask, decoder_input.target
        states = context.decode(decoder_input)
        own = context.output.own_log_probabilities(states, loss_mask, symbols)
        assigned = assign(own, loss_mask)
        chosen = own.gather(2, assigned[:, :, None])[:, :, 0]
        kept = loss_mask
        if self.truncation_margin is not None:
            kept = loss_mask & probable(chosen, self.truncation_margin)
        value = -torch.where(kept, chosen, 0).sum(1)
        if self.label_smoothing:
            in_order = own.diagonal(dim1=1, dim2=2)
            spread = context.output.smoothing(states, kept, symbols, in_order)
            value = (1 - self.label_smoothing) * value + self.label_smoothing * spread.sum(1)
        parts = {
            "nll": -torch.where(loss_mask, chosen.detach(), 0).sum(1),
            "dropped": (loss_mask & ~kept).sum(1).to(chosen.dtype),
        }
        return Loss(value, loss_mask.sum(1), parts, symbols.gather(1, assigned))


METHOD = OaXe
