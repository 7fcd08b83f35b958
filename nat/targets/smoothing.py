"""Label smoothing from log-probabilities that have already been computed."""

import torch
from torch import Tensor
from torch.nn.functional import embedding


def smoothing_loss(
    states: Tensor, weight: Tensor, chosen: Tensor, symbols: Tensor, log_probabilities: Tensor
) -> Tensor:
    """Cross-entropy of each chosen position with the uniform distribution, nats.

    The mean of the logits is the product of the state with the mean embedding, so no logits are
    needed. The normaliser follows from the log-probability of any one symbol.

    Args:
        states: [B, T, D].
        weight: output embedding, [V, D].
        chosen: True at the positions to compute, [B, T].
        symbols: one symbol of each position, [B, T].
        log_probabilities: of these symbols, [B, T].

    Returns:
        [B, T]; zero at positions that are not chosen.
    """
    mean = (states * (weight.mean(0) - embedding(symbols, weight))).sum(2) + log_probabilities
    return -torch.where(chosen, mean, 0)
