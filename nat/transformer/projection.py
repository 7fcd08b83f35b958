"""Log-probabilities of the symbols that an objective asks for, without a logits tensor.

The output projection is the largest product of a small model, and most objectives need only
a few of its columns per position. These functions compute the logits of a few hundred rows at a
time, keep what was asked for, and compute them again for the gradient: a tensor of
(positions x vocabulary) never exists, and positions that carry no loss never enter.
All values are in nats.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor

CHUNK = 256
"""Rows of logits that exist at one time."""


class LogProbabilities(NamedTuple):
    """Results of `gathered_log_probabilities`.

    Attributes:
        chosen: log-probabilities of the symbols asked for, [N, K].
        mean: mean log-probability over the whole vocabulary, [N], for label smoothing.
    """

    chosen: Tensor
    mean: Tensor


class Best(NamedTuple):
    """Most likely symbol of each row and its log-probability, [N] each."""

    symbols: Tensor
    log_probabilities: Tensor


def gathered_log_probabilities(
    states: Tensor, weight: Tensor, symbols: Tensor, bfloat16: bool = False
) -> LogProbabilities:
    """Log-softmax of `states @ weight.T` at chosen symbols.

    Args:
        states: [N, D].
        weight: output embedding, [V, D].
        symbols: ids to look up, [N, K]; an id may appear more than once in a row.
        bfloat16: round both inputs of the product to bfloat16; sums stay float32.
    """
    chosen, mean = _Gathered.apply(states, weight, symbols, bfloat16)
    return LogProbabilities(chosen, mean)


def soft_label_divergence(
    states: Tensor,
    weight: Tensor,
    teacher_states: Tensor,
    teacher_weight: Tensor,
    temperature: float,
    bfloat16: bool = False,
) -> Tensor:
    """KL(teacher || student) of each row, [N].

    The teacher's distribution is softmax(teacher logits / temperature), the student's has
    temperature one. No gradient reaches the teacher.

    Args:
        states: student's states, [N, D].
        weight: student's output embedding, [V, D].
        teacher_states: [N, D].
        teacher_weight: [V, D].
        temperature: above zero; below one sharpens the labels.
        bfloat16: as in `gathered_log_probabilities`.
    """
    return _SoftLabels.apply(
        states, weight, teacher_states.detach(), teacher_weight.detach(), temperature, bfloat16
    )


@torch.no_grad()
def best_symbols(
    states: Tensor, weight: Tensor, bfloat16: bool = False, forbidden: Tensor | None = None
) -> Best:
    """Most likely symbol of each row and its log-probability under the full softmax.

    Args:
        states: [N, D].
        weight: [V, D].
        bfloat16: as in `gathered_log_probabilities`.
        forbidden: ids that are never chosen (they keep their probability mass), [F].
    """
    symbols, scores = [], []
    for _, logits in _chunks(states, _operand(weight, bfloat16)):
        normaliser = logits.logsumexp(1)
        if forbidden is not None:
            logits[:, forbidden] = -torch.inf
        top, ids = logits.max(1)
        symbols.append(ids)
        scores.append(top - normaliser)
    if not symbols:
        empty = states.new_empty(0)
        return Best(empty.long(), empty)
    return Best(torch.cat(symbols), torch.cat(scores))


@torch.no_grad()
def log_probabilities(states: Tensor, weight: Tensor, bfloat16: bool = False) -> Tensor:
    """The whole log-softmax, [N, V]; for search, where N is small."""
    operand = _operand(weight, bfloat16)
    return (states.to(operand.dtype) @ operand.t()).to(states.dtype).log_softmax(-1)


def _operand(weight: Tensor, bfloat16: bool) -> Tensor:
    return weight.bfloat16() if bfloat16 else weight


def _chunks(states: Tensor, operand: Tensor) -> Iterator[tuple[slice, Tensor]]:
    transposed = operand.t()
    for start in range(0, states.size(0), CHUNK):
        rows = slice(start, start + CHUNK)
        yield rows, (states[rows].to(operand.dtype) @ transposed).to(states.dtype)


class _Gathered(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, states: Tensor, weight: Tensor, symbols: Tensor, bfloat16: bool
    ) -> tuple[Tensor, Tensor]:
        operand = _operand(weight, bfloat16)
        chosen = states.new_empty(symbols.shape)
        mean = states.new_empty(states.size(0))
        normaliser = states.new_empty(states.size(0))
        for rows, logits in _chunks(states, operand):
            normaliser[rows] = logits.logsumexp(1)
            chosen[rows] = logits.gather(1, symbols[rows])
            mean[rows] = logits.mean(1)
        ctx.save_for_backward(states, operand, symbols, normaliser)
        return chosen - normaliser[:, None], mean - normaliser

    @staticmethod
    def backward(ctx: Any, of_chosen: Tensor, of_mean: Tensor) -> tuple[Tensor, Tensor, None, None]:
        states, operand, symbols, normaliser = ctx.saved_tensors
        of_states = torch.empty_like(states)
        of_weight = torch.zeros(operand.shape, dtype=states.dtype, device=states.device)
        total = of_chosen.sum(1) + of_mean
        vocabulary = operand.size(0)
        for rows, logits in _chunks(states, operand):
            gradient = (logits - normaliser[rows, None]).exp_()
            gradient.mul_(-total[rows, None]).add_((of_mean[rows] / vocabulary)[:, None])
            gradient.scatter_add_(1, symbols[rows], of_chosen[rows])
            _accumulate(gradient, states[rows], operand, of_states[rows], of_weight)
        return of_states, of_weight, None, None


class _SoftLabels(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        states: Tensor,
        weight: Tensor,
        teacher_states: Tensor,
        teacher_weight: Tensor,
        temperature: float,
        bfloat16: bool,
    ) -> Tensor:
        operand = _operand(weight, bfloat16)
        teacher_operand = _operand(teacher_weight, bfloat16)
        divergence = states.new_empty(states.size(0))
        pairs = zip(_chunks(states, operand), _chunks(teacher_states, teacher_operand), strict=True)
        for (rows, logits), (_, teacher_logits) in pairs:
            student = logits.log_softmax(1)
            teacher = teacher_logits.div_(temperature).log_softmax(1)
            divergence[rows] = (teacher.exp() * (teacher - student)).sum(1)
        ctx.save_for_backward(states, operand, teacher_states, teacher_operand)
        ctx.temperature = temperature
        return divergence

    @staticmethod
    def backward(ctx: Any, of_divergence: Tensor) -> tuple[Tensor, Tensor, None, None, None, None]:
        states, operand, teacher_states, teacher_operand = ctx.saved_tensors
        of_states = torch.empty_like(states)
        of_weight = torch.zeros(operand.shape, dtype=states.dtype, device=states.device)
        pairs = zip(_chunks(states, operand), _chunks(teacher_states, teacher_operand), strict=True)
        for (rows, logits), (_, teacher_logits) in pairs:
            gradient = logits.softmax(1).sub_(teacher_logits.div_(ctx.temperature).softmax(1))
            gradient.mul_(of_divergence[rows, None])
            _accumulate(gradient, states[rows], operand, of_states[rows], of_weight)
        return of_states, of_weight, None, None, None, None


def _accumulate(
    gradient: Tensor, states: Tensor, operand: Tensor, of_states: Tensor, of_weight: Tensor
) -> None:
    """Send the gradient of a chunk of logits on to its states and to the weight, in place."""
    gradient = gradient.to(operand.dtype)
    of_states.copy_(gradient @ operand)
    of_weight.add_(gradient.t() @ states.to(operand.dtype))
