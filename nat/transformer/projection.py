"""Logits a few hundred rows at a time, and gradients that are computed in the same sweep."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from nat.transformer.linear import bfloat16_rows

CHUNK = 256
"""Rows of logits that are computed at a time."""

CUDA_CHUNK = 8192
"""The same on a GPU, which small products would not keep busy."""

BLOCK = 64
"""Columns of a block, among whose maxima the largest is searched."""

FEW = 2**17
"""Logits that are not worth what a processor can save with many."""

CACHE_LINE = 16
"""Numbers of a cache line, 64 bytes of float32."""


def largest(logits: Tensor) -> tuple[Tensor, Tensor]:
    """The largest logit of each row [N, V] and its column, the first of equal ones, [N] each."""
    if _plainly(logits):
        return logits.max(1)
    end = whole_blocks(logits.size(1))
    value, column = (each[:, 0] for each in largest_in_blocks(logits[:, :end]))
    if end == logits.size(1):
        return value, column
    of_rest, place = logits[:, end:].max(1)
    in_rest = of_rest > value
    return torch.where(in_rest, of_rest, value), torch.where(in_rest, place + end, column)


def largest_symbols(logits: Tensor, number: int) -> tuple[Tensor, Tensor]:
    """The largest logits of each row [N, V], largest first, and their columns, [N, K] each.

    K is `number`, or that of the symbols if there are fewer.
    """
    columns, end = logits.size(1), whole_blocks(logits.size(1))
    if _plainly(logits) or 2 * number > end // BLOCK:
        most = logits.topk(min(number, columns), dim=1)
        return most.values, most.indices
    # no other block has one of them, since each of the chosen ones has a logit that is as large
    blocks = logits[:, :end].unflatten(1, (-1, BLOCK))
    chosen = blocks.amax(2).topk(number, dim=1).indices[:, :, None]
    inside = blocks.gather(1, chosen.expand(-1, -1, BLOCK)).flatten(1)
    places = (chosen * BLOCK + torch.arange(BLOCK)).flatten(1)
    rest = torch.arange(end, columns).expand(len(logits), -1)
    values, at = torch.cat((inside, logits[:, end:]), 1).topk(number, dim=1)
    return values, torch.cat((places, rest), 1).gather(1, at)


def log_sums(logits: Tensor) -> Tensor:
    """Logarithm of the sum of exp(logits) of each row, [N]."""
    return logits.logsumexp(1) if _plainly(logits) else softmax(logits)[1]


def _plainly(logits: Tensor) -> bool:
    """Return True where the plain way is taken: on a GPU, and with few logits."""
    return logits.is_cuda or logits.numel() < FEW


def whole_blocks(columns: int) -> int:
    """Number of columns, of so many, that `largest_in_blocks` can search."""
    return columns - columns % min(BLOCK, columns)


def largest_in_blocks(logits: Tensor) -> tuple[Tensor, Tensor]:
    """The largest logit of each row [N, C] and its column, the first of equal ones, [N, 1] each.

    On a CPU the place of a maximum takes some fifteen times as long as its value, and six times in
    ONNX Runtime. So the maximum is searched in blocks of columns first, and then in one block.
    """
    width = min(BLOCK, logits.size(1))
    blocks = logits.unflatten(1, (logits.size(1) // width, width))
    block = blocks.amax(2).argmax(1, keepdim=True)
    in_block = blocks.gather(1, block.unsqueeze(2).expand(-1, 1, width)).squeeze(1)
    place = in_block.argmax(1, keepdim=True)
    return in_block.gather(1, place), block * width + place


def operand_of(weight: Tensor, bfloat16: bool) -> Tensor:
    """The weight as an input of products, without gradient."""
    return weight.detach().bfloat16() if bfloat16 else weight.detach()


def logits_of(states: Tensor, operand: Tensor) -> Tensor:
    """Logits of states [n, D], without gradient, [n, V]."""
    if operand.dtype == states.dtype:
        rows, columns = states.size(0), operand.size(0)
        if columns % CACHE_LINE == 0 or states.is_cuda or rows * columns < FEW:
            return states @ operand.t()
        # A product whose rows begin anywhere takes 1.3 to 1.7 times as long.
        aligned = states.new_empty((rows, -(-columns // CACHE_LINE) * CACHE_LINE))
        return torch.mm(states, operand.t(), out=aligned[:, :columns])
    if operand.dtype != torch.bfloat16:
        return states.to(operand.dtype) @ operand.t()
    logits = (bfloat16_rows(states) @ operand.t())[: states.size(0)]
    return logits.to(states.dtype) if states.device.type == "cpu" else logits


def chunks_of_logits(states: Tensor, operand: Tensor) -> Iterator[tuple[slice, Tensor]]:
    """Logits of states [N, D] under an operand [V, D], a few hundred rows at a time, no gradient.

    With the rows come their logits [rows, V], which the caller may overwrite; on a GPU in the
    precision of the operand.
    """
    size = CUDA_CHUNK if states.is_cuda else CHUNK
    for start in range(0, states.size(0), size):
        rows = slice(start, start + size)
        yield rows, logits_of(states[rows], operand)


def softmax(logits: Tensor) -> tuple[Tensor, Tensor]:
    """Probabilities, and the logarithm of the sum of exp(logits), in float32 at least.

    On a CPU this is several times faster than `torch.logsumexp`: the largest probability is at
    least 1 / V, so its logarithm is exact enough.
    """
    if logits.dtype == torch.bfloat16:
        exact = logits.log_softmax(1, dtype=torch.float32)
        normaliser = logits[:, 0].float() - exact[:, 0]
        return torch.exp(exact, out=torch.empty_like(logits)), normaliser
    probabilities = logits.softmax(1)
    return probabilities, logits.amax(1) - probabilities.amax(1).log()


Sweep = Callable[[slice, Tensor, bool], tuple[Tensor, Tensor | None]]
"""From rows, their logits (which it may overwrite) and whether a gradient is needed, to the loss
of each row and its gradient with respect to the logits."""


def row_loss(states: Tensor, weight: Tensor, sweep: Sweep, bfloat16: bool) -> Tensor:
    """A loss of each row of states [N, D], with its gradient, [N]."""
    needed = torch.is_grad_enabled() and (states.requires_grad or weight.requires_grad)
    return _RowLoss.apply(states, weight, sweep, bfloat16, needed)


class _RowLoss(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, states: Tensor, weight: Tensor, sweep: Sweep, bfloat16: bool, needed: bool
    ) -> Tensor:
        operand = operand_of(weight, bfloat16)
        value = states.new_empty(states.size(0))
        of_states = torch.empty_like(states) if needed else None
        of_weight = torch.zeros_like(weight) if needed else None
        for rows, logits in chunks_of_logits(states, operand):
            value[rows], gradient = sweep(rows, logits, needed)
            if gradient is not None and of_states is not None and of_weight is not None:
                _accumulate(gradient, states[rows], operand, of_states[rows], of_weight)
        ctx.save_for_backward(states, operand, of_states, of_weight)
        ctx.sweep = sweep
        return value

    @staticmethod
    def backward(ctx: Any, of_value: Tensor) -> tuple[Tensor, Tensor, None, None, None]:
        states, operand, of_states, of_weight = ctx.saved_tensors
        of_states = of_states * of_value[:, None]
        if of_value.numel() and (of_value == of_value[0]).all():
            return of_states, of_weight * of_value[0], None, None, None
        # rows of unequal weight: the contribution of each to the sum was not stored
        of_weight, unused = torch.zeros_like(of_weight), torch.empty_like(of_states)
        for rows, logits in chunks_of_logits(states, operand):
            gradient = ctx.sweep(rows, logits, True)[1] * of_value[rows, None]
            _accumulate(gradient, states[rows], operand, unused[rows], of_weight)
        return of_states, of_weight, None, None, None


class _OwnLogProbabilities(torch.autograd.Function):
    """With p the softmax, d log p_k / d logit_j is [j = k] - p_j.

    The gradient has two parts: that of a sentence's own symbols, which is small, and that of all
    others, which is `rest` times minus the sum over k of the incoming gradient.
    """

    @staticmethod
    def forward(
        ctx: Any,
        states: Tensor,
        weight: Tensor,
        chosen: Tensor,
        symbols: Tensor,
        bfloat16: bool,
        shares: Tensor | None,
        needed: bool,
    ) -> Tensor:
        operand, rows = operand_of(weight, bfloat16), states[chosen]
        sentences = chosen.nonzero()[:, 0]
        own = symbols[sentences]
        row_shares = None if shares is None else shares.detach()[sentences, None]
        gathered = rows.new_empty(own.shape)
        rest_of_rows = torch.empty_like(rows) if needed else None
        rest_of_weight = torch.zeros_like(weight) if needed else None
        for part, logits in chunks_of_logits(rows, operand):
            probabilities, normaliser = softmax(logits)
            gathered[part] = logits.gather(1, own[part]) - normaliser[:, None]
            if rest_of_rows is not None and rest_of_weight is not None:
                rest = probabilities.scatter_(1, own[part], 0)
                weighted = rows[part] if row_shares is None else rows[part] * row_shares[part]
                _accumulate(rest, weighted, operand, rest_of_rows[part], rest_of_weight)
        looked_up = states.new_zeros(*chosen.shape, symbols.size(1))
        looked_up[chosen] = gathered
        ctx.save_for_backward(
            rows, operand, chosen, symbols, own, row_shares, looked_up, rest_of_rows, rest_of_weight
        )
        return looked_up

    @staticmethod
    def backward(
        ctx: Any, of_looked_up: Tensor
    ) -> tuple[Tensor, Tensor, None, None, None, None, None]:
        rows, operand, chosen, symbols, own, shares, *kept = ctx.saved_tensors
        looked_up, rest_of_rows, rest_of_weight = kept
        if not own.numel():  # nothing was looked up
            nothing = rows.new_zeros(*chosen.shape, rows.size(1))
            return nothing, torch.zeros_like(rest_of_weight), *(None,) * 5
        of_looked_up = torch.where(chosen[:, :, None], of_looked_up, 0)
        totals = of_looked_up.sum(2)
        # the softmax counts a symbol once, even if it is looked up several times
        first = symbols[:, :, None].eq(symbols[:, None, :]).to(torch.uint8).argmax(2)
        once = first.eq(torch.arange(symbols.size(1), device=first.device))[:, None, :]
        of_own = of_looked_up - torch.where(once, totals[:, :, None] * looked_up.exp(), 0)
        states = rows.new_zeros(*chosen.shape, rows.size(1))
        states[chosen] = rows
        of_states = of_own @ operand[symbols].to(rows.dtype)
        of_weight = torch.zeros_like(rest_of_weight)
        of_weight.index_add_(0, symbols.flatten(), (of_own.mT @ states).flatten(0, 1))
        totals = totals[chosen]
        of_states[chosen] -= totals[:, None] * rest_of_rows
        relative = totals if shares is None else totals / shares[:, 0]
        usual = relative.median()
        of_weight -= usual * rest_of_weight
        # weights that differ only by rounding count as equal
        rounding = torch.finfo(rows.dtype).eps ** 0.5
        others = ((relative - usual).abs() > rounding * usual.abs()).nonzero()[:, 0]
        unused = torch.empty_like(rows[others])
        excess = (usual - relative[others])[:, None]
        if shares is not None:
            excess = excess * shares[others]
        for part, logits in chunks_of_logits(rows[others], operand):
            rest = softmax(logits)[0].scatter_(1, own[others[part]], 0).mul_(excess[part])
            _accumulate(rest, rows[others[part]], operand, unused[part], of_weight)
        return of_states, of_weight, *(None,) * 5


own_log_probabilities: Callable[..., Tensor] = _OwnLogProbabilities.apply
"""See `nat.transformer.output.Output.own_log_probabilities`, [B, T, K]."""


def _accumulate(
    gradient: Tensor, states: Tensor, operand: Tensor, of_states: Tensor, of_weight: Tensor
) -> None:
    """Propagate the gradient of a chunk of logits to its states and to the weight, in place."""
    if operand.dtype == states.dtype:
        torch.mm(gradient, operand, out=of_states)
        of_weight.addmm_(gradient.t(), states)
        return
    gradient, states = bfloat16_rows(gradient), bfloat16_rows(states)
    of_states.copy_((gradient @ operand)[: of_states.size(0)])
    of_weight.add_(gradient.t() @ states)
