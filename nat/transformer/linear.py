"""Linear layers whose matrix products take bfloat16 inputs.

Products are accumulated in float32 and rounded to bfloat16. On a CPU the result is float32 again,
and so is everything else: with bfloat16 instructions this is faster than `torch.autocast`, which
also computes attention in bfloat16. On a GPU it stays bfloat16 up to the next residual connection,
so that attention takes its fused kernels and activations half of the memory; residual connections
and normalisation are float32.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def bfloat16_rows(rows: Tensor) -> Tensor:
    """Rows [N, K] as bfloat16, on a CPU followed by some rows of zeros.

    On a CPU a product of a new shape takes several times as long as one of a shape that occurred
    before, and the number of positions of a batch varies all the time. So N is rounded up, by at
    most an eighth, to one of eight numbers between one power of two and the next.
    """
    if rows.device.type != "cpu":
        return rows.bfloat16()
    count = rows.size(0)
    step = 1 << max(3, count.bit_length() - 4)
    rounded = rows.new_empty((-(-count // step) * step, rows.size(1)), dtype=torch.bfloat16)
    rounded[:count] = rows
    rounded[count:] = 0
    return rounded


class _Bfloat16Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        rows = inputs.flatten(0, -2)
        rounded, weight = bfloat16_rows(rows), weight.bfloat16()
        ctx.save_for_backward(rounded, weight)
        ctx.has_bias = bias is not None
        product = F.linear(rounded, weight)[: rows.size(0)].float()
        if bias is not None:
            product += bias
        return product.view(*inputs.shape[:-1], weight.size(0))

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        inputs, weight = ctx.saved_tensors
        rows = gradient.flatten(0, -2)
        rounded = bfloat16_rows(rows)
        of_inputs = (rounded @ weight)[: rows.size(0)].float()
        return (
            of_inputs.view(*gradient.shape[:-1], weight.size(1)),
            (rounded.t() @ inputs).float(),
            rows.sum(0) if ctx.has_bias else None,
        )


class Linear(nn.Linear):
    """`nn.Linear` with Xavier weights, zero bias, and optionally bfloat16 products."""

    bfloat16_products = False

    def reset_parameters(self) -> None:
        """Glorot and Bengio (2010), uniform."""
        nn.init.xavier_uniform_(self.weight)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(self, inputs: Tensor) -> Tensor:
        """Map [..., in] to [..., out]; bfloat16 with bfloat16 products on a GPU."""
        if not self.bfloat16_products or inputs.dtype == torch.float64:
            return super().forward(inputs)
        if inputs.device.type != "cpu":
            bias = None if self.bias is None else self.bias.bfloat16()
            return F.linear(inputs.bfloat16(), self.weight.bfloat16(), bias)
        return _Bfloat16Linear.apply(inputs, self.weight, self.bias)


def use_bfloat16_products(module: nn.Module, enabled: bool) -> None:
    """Switch bfloat16 products of every `Linear` inside `module` on or off."""
    for child in module.modules():
        if isinstance(child, Linear):
            child.bfloat16_products = enabled


def has_bfloat16_products(device: torch.device) -> bool:
    """Return True if the device multiplies bfloat16 matrices in hardware."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    return torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
