"""Aligned cross-entropy (AXE): the loss of the best monotone alignment.

Ghazvininejad et al. (2020), section 3. As a proxy target: MPLE (Huang et al. 2022), appendix E.3.
Each prediction learns the token that is aligned with it, or BLANK, the empty token, if there is
none. Empty tokens are removed from translations.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from nat.data.vocabulary import BLANK, PAD
from nat.objective.context import BatchContext, DecoderInput, Loss
from nat.targets.options import AxeOptions

IMPOSSIBLE = 1e6
"""Finite cost of a probability of zero when alignments are compared, nats."""


class AlignedTargets(NamedTuple):
    """The cheapest alignment of each sentence: N targets, M predictions.

    Attributes:
        value: its cost, nats, differentiable with respect to the log-probabilities, [B].
        predictions: the prediction that each target is aligned with, or onto which it is skipped;
            -1 at padding, [B, N].
        skipped: True at targets that are aligned with no prediction, [B, N].
        targets: the target that each prediction is aligned with; -1 at empty predictions and at
            padding, [B, M].
        empty: True at predictions that no target is aligned with, [B, M].
    """

    value: Tensor
    predictions: Tensor
    skipped: Tensor
    targets: Tensor
    empty: Tensor


def align(
    log_probabilities: Tensor,
    empty: Tensor,
    predictions: Tensor,
    targets: Tensor,
    skip_penalty: float,
) -> AlignedTargets:
    """Find the cheapest monotone alignment of targets r_1 .. r_N and predictions P_1 .. P_M.

    The dynamic programme over i targets and j predictions is

        A[i][j] = min(A[i-1][j-1] - log P_j(r_i),               align
                      A[i-1][j] - skip_penalty * log P_j(r_i),  skip the target, onto P_j
                      A[i][j-1] - log P_j(empty))               leave the prediction empty

    with A[0][0] = 0. Where MPLE is ambiguous, as in Ghazvininejad et al.: targets before the first
    prediction are skipped onto P_1, A[i][0] = A[i-1][0] - skip_penalty * log P_1(r_i). So every
    aligned token has weight 1 and every skipped one the penalty, even if it is skipped onto an
    empty prediction.

    A row takes a few operations for the whole batch: leaving predictions empty within it is a
    cumulative minimum, A[j] = min(base[j], A[j-1] + e[j]) = cummin(base - E)[j] + E[j] with E the
    cumulative sum of e. Costs are compared in float64. Among equally cheap moves into a cell,
    aligning is preferred to skipping, and both to leaving a prediction empty.

    Args:
        log_probabilities: log P_j(r_i), [B, M, N]; anything at padding.
        empty: log P_j(empty), [B, M].
        predictions: M of each sentence, at least 1 where there are targets, [B].
        targets: N of each sentence, [B].
        skip_penalty: above zero.
    """
    batch, width, length = log_probabilities.shape
    device = log_probabilities.device
    starts, aligns = _best_moves(log_probabilities, empty, skip_penalty)

    at = predictions
    owners = torch.full((batch, length), -1, device=device)
    skipped = torch.zeros(batch, length, dtype=torch.bool, device=device)
    own = torch.full((batch, width + 1), -1, device=device)
    rows = torch.arange(batch, device=device)
    for target in reversed(range(length)):
        active = target < targets
        # predictions behind `start` are left empty
        start = starts[target].gather(1, at[:, None])[:, 0]
        aligned = active & aligns[target].gather(1, start[:, None])[:, 0]
        owners[:, target] = torch.where(active, (start - 1).clamp(min=0), -1)
        skipped[:, target] = active & ~aligned
        own[rows, torch.where(aligned, start, 0)] = target
        at = torch.where(active, start - aligned.long(), at)
    own = own[:, 1:]
    unused = (torch.arange(width, device=device) < predictions[:, None]) & own.lt(0)

    real = owners.ge(0)
    of_targets = log_probabilities.gather(1, owners.clamp(min=0)[:, None])[:, 0]
    of_targets = torch.where(skipped, skip_penalty * of_targets, of_targets)
    value = -torch.where(real, of_targets, 0).sum(1) - torch.where(unused, empty, 0).sum(1)
    return AlignedTargets(value, owners, skipped, own, unused)


@torch.no_grad()
def _best_moves(
    log_probabilities: Tensor, empty: Tensor, skip_penalty: float
) -> tuple[list[Tensor], list[Tensor]]:
    """Moves of the dynamic programme, for each of N targets.

    Returns:
        For each cell [B, M + 1] of a row, the cell of the same row from which predictions are left
        empty up to here; and whether a cell is entered by aligning, rather than by skipping.
    """
    costs = _costs(log_probabilities).permute(2, 0, 1).contiguous()
    of_empty = F.pad(_costs(empty).cumsum(1), (1, 0))
    row = of_empty
    starts, aligns = [], []
    for cost in costs:
        skipping = row + skip_penalty * torch.cat((cost[:, :1], cost), 1)
        aligning = F.pad(row[:, :-1] + cost, (1, 0), value=torch.inf)
        row, start = (torch.minimum(aligning, skipping) - of_empty).cummin(1)
        row = row + of_empty
        starts.append(start)
        aligns.append(aligning <= skipping)
    return starts, aligns


def _costs(log_probabilities: Tensor) -> Tensor:
    """Negative log-probabilities in float64, all of them finite."""
    return -log_probabilities.double().clamp(min=-IMPOSSIBLE)


class Axe(AxeOptions):
    """Cost of the best monotone alignment of the target with the predictions, see `align`.

    Where the papers are ambiguous: a revealed position is aligned with its own token at no cost, so
    that the others are aligned between the revealed ones; the denominator of the loss is the number
    of positions that carry it, whatever the alignment; label smoothing applies once to each
    prediction, empty or not, and does not influence the alignment.
    """

    def __call__(self, context: BatchContext, decoder_input: DecoderInput) -> Loss:
        """Loss of each sentence.

        Parts: `nll` of the labels of all predictions (nats) and, for the training curve, the
        numbers of `empty` predictions and of `skipped` targets.
        """
        loss_mask, symbols = decoder_input.loss_mask, decoder_input.target
        states = context.decode(decoder_input)
        classes = F.pad(symbols, (0, 1), value=BLANK)
        own = context.output.own_log_probabilities(states, loss_mask, classes)
        lengths = symbols.ne(PAD).sum(1)
        # a revealed position is aligned with its own token at no cost
        revealed = torch.eye(symbols.size(1), device=own.device, dtype=own.dtype).log()
        best = align(
            torch.where(loss_mask[:, :, None], own[:, :, :-1], revealed),
            torch.where(loss_mask, own[:, :, -1], -torch.inf),
            lengths,
            lengths,
            self.skip_penalty,
        )
        value = best.value
        if self.label_smoothing:
            in_order = own.diagonal(dim1=1, dim2=2)
            spread = context.output.smoothing(states, loss_mask, symbols, in_order)
            value = (1 - self.label_smoothing) * value + self.label_smoothing * spread.sum(1)
        learned = torch.where(best.empty, symbols.size(1), best.targets).clamp(min=0)
        nll = -own.detach().gather(2, learned[:, :, None])[:, :, 0]
        parts = {
            "nll": torch.where(loss_mask, nll, 0).sum(1),
            "empty": best.empty.sum(1).to(nll.dtype),
            "skipped": best.skipped.sum(1).to(nll.dtype),
        }
        labels = classes.gather(1, learned).masked_fill(decoder_input.padding, PAD)
        return Loss(value, loss_mask.sum(1), parts, labels)


METHOD = Axe
