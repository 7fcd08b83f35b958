"""Choosing positions by confidence, for iterative decoding and for its distillation."""

from torch import Tensor


def most_confident(confidence: Tensor, number: Tensor) -> Tensor:
    """Mark the most confident positions of each row; ties go to the leftmost.

    Args:
        confidence: [B, T]; -inf where a position may not be chosen.
        number: how many to choose in each row, [B]; not more than may be chosen.

    Returns:
        True at the chosen positions, [B, T].
    """
    ranks = confidence.argsort(stable=True, dim=1, descending=True).argsort(1)
    return ranks < number[:, None]


def least_confident(confidence: Tensor, number: Tensor) -> Tensor:
    """Mark the least confident positions of each row; ties go to the leftmost.

    Args:
        confidence: [B, T]; +inf where a position may not be chosen.
        number: how many to choose in each row, [B].

    Returns:
        True at the chosen positions, [B, T].
    """
    ranks = confidence.argsort(stable=True, dim=1).argsort(1)
    return ranks < number[:, None]
