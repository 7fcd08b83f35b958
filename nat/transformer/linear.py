"""Linear layers whose matrix products take bfloat16 inputs; weights and results stay float32.

On processors with bfloat16 instructions this is faster than `torch.autocast`, which also sends
attention and normalisation through bfloat16.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class _Bfloat16Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weight: Tensor) -> Tensor:
        inputs, weight = inputs.bfloat16(), weight.bfloat16()
        ctx.save_for_backward(inputs, weight)
        return F.linear(inputs, weight).float()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:
        inputs, weight = ctx.saved_tensors
        gradient = gradient.bfloat16()
        rows = gradient.flatten(0, -2)
        return (gradient @ weight).float(), (rows.t() @ inputs.flatten(0, -2)).float()


class Linear(nn.Linear):
    """`nn.Linear` with Xavier weights, zero bias, and optionally bfloat16 products."""

    bfloat16_products = False

    def reset_parameters(self) -> None:
        """Glorot and Bengio (2010), uniform."""
        nn.init.xavier_uniform_(self.weight)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(self, inputs: Tensor) -> Tensor:
        """Map [..., in] to [..., out]."""
        if not self.bfloat16_products or inputs.dtype != torch.float32:
            return super().forward(inputs)
        product = _Bfloat16Product.apply(inputs, self.weight)
        return product if self.bias is None else product + self.bias


def use_bfloat16_products(module: nn.Module, enabled: bool) -> None:
    """Switch the products of every `Linear` inside `module`."""
    for child in module.modules():
        if isinstance(child, Linear):
            child.bfloat16_products = enabled


def has_bfloat16_products(device: torch.device) -> bool:
    """Whether the device multiplies bfloat16 matrices in hardware."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    return torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
