"""Multi-head attention, whole sentences at once or one token at a time with a cache."""

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nat.transformer.linear import Linear

HIDDEN = -1e9
"""Added to the score of a key that may not be seen, where an operation has no mask."""


Extended = Callable[[Tensor, Tensor], tuple[Tensor, Tensor, Tensor | None]]
"""Keys and values of new positions, [N, heads, n, D / heads] each, to those of all positions so
far, and True where a key may be seen, [1, 1, 1, T]; None for everywhere."""


class Attention(nn.Module):
    """Attention of several heads; a subclass adds its projections, `output` last.

    Only the first sizes are read from a tensor, and the others are numbers, so that an exported
    graph computes no shapes.
    """

    output: Linear

    def __init__(self, model_dim: int, heads: int) -> None:
        super().__init__()
        self.model_dim, self.heads, self.size = model_dim, heads, model_dim // heads

    def _split(self, states: Tensor) -> Tensor:
        """The share of each head, [B, T, D] to [B, heads, T, D / heads]."""
        sentences, length, _ = states.shape
        return states.view(sentences, length, self.heads, self.size).transpose(1, 2)

    def _joined(self, mixtures: Tensor) -> Tensor:
        """The output of all heads, [B, heads, T, D / heads] to [B, T, D]."""
        mixtures = mixtures.transpose(1, 2)
        rows = mixtures.reshape(mixtures.size(0), mixtures.size(1), self.model_dim)
        return self.output(rows)


class SelfAttention(Attention):
    """Attention of a sequence to itself."""

    def __init__(self, model_dim: int, heads: int) -> None:
        super().__init__(model_dim, heads)
        self.query_key_value = Linear(model_dim, 3 * model_dim)
        self.output = Linear(model_dim, model_dim)

    def forward(self, states: Tensor, visible: Tensor | None, causal: bool) -> Tensor:
        """Attend, [B, T, D] to [B, T, D].

        Args:
            visible: True where a key may be seen, [B, 1, 1, T]; None if `causal`, where right
                padding is never seen by a real token.
            causal: each position sees itself and those before it.
        """
        return self._joined(_attended(*self._projected(states), visible, causal))

    def step(self, states: Tensor, extended: Extended) -> Tensor:
        """Attend from new positions to all of them and all earlier ones, [N, n, D] to [N, n, D].

        Args:
            extended: keeps the keys and values of the new positions and returns those of all.
        """
        query, key, value = self._projected(states)
        return self._joined(_attended(query, *extended(key, value)))

    def _projected(self, states: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        query, key, value = self.query_key_value(states).split(self.model_dim, dim=-1)
        return self._split(query), self._split(key), self._split(value)


class PositionalAttention(Attention):
    """Attention by position: queries and keys are vectors of positions, values are states.

    Gu et al. (2018), section 3.2. It can move a state by a fixed distance, whatever its content.
    """

    def __init__(self, model_dim: int, heads: int) -> None:
        super().__init__(model_dim, heads)
        self.query_key = Linear(model_dim, 2 * model_dim)
        self.value = Linear(model_dim, model_dim)
        self.output = Linear(model_dim, model_dim)

    def forward(
        self, states: Tensor, positions: Tensor, visible: Tensor | None, causal: bool
    ) -> Tensor:
        """Attend, see `SelfAttention.forward`.

        The vectors of positions are [B, T, D], or [1, T, D] for all sentences.
        """
        query, key = (
            self._split(part).expand(states.size(0), -1, -1, -1)
            for part in self.query_key(positions).split(self.model_dim, dim=-1)
        )
        value = self._split(self.value(states))
        return self._joined(_attended(query, key, value, visible, causal))


class CrossAttention(Attention):
    """Attention of a sequence to encoder states."""

    def __init__(self, model_dim: int, heads: int) -> None:
        super().__init__(model_dim, heads)
        self.query = Linear(model_dim, model_dim)
        self.key_value = Linear(model_dim, 2 * model_dim)
        self.output = Linear(model_dim, model_dim)

    def keys_and_values(self, encoded: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of encoder states [B, S, D], each [B, heads, S, D / heads]."""
        key, value = self.key_value(encoded).split(self.model_dim, dim=-1)
        return self._split(key), self._split(value)

    def forward(
        self, states: Tensor, keys_and_values: tuple[Tensor, Tensor], visible: Tensor
    ) -> Tensor:
        """Attend from states [B, T, D] to keys of which `visible` [B, 1, 1, S] are real."""
        query = self._split(self.query(states))
        return self._joined(_attended(query, *keys_and_values, visible))

    def traced(
        self, states: Tensor, keys_and_values: tuple[Tensor, Tensor], visible: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The same, and the attention weights, [B, heads, T, S]; slower than `forward`."""
        query, (key, value) = self._split(self.query(states)), keys_and_values
        scores = (query @ key.transpose(2, 3)).to(states.dtype) / math.sqrt(key.size(3))
        weights = scores.masked_fill(~visible, -torch.inf).softmax(3)
        return self._joined(weights.to(value.dtype) @ value), weights


def _attended(
    query: Tensor, key: Tensor, value: Tensor, visible: Tensor | None = None, causal: bool = False
) -> Tensor:
    """The heads' mixtures of values, [B, heads, T, D / heads]."""
    if torch.jit.is_tracing() and not causal:
        return _plain(query, key, value, visible)
    if visible is not None and _hides_nothing(visible):
        visible = None
    return F.scaled_dot_product_attention(query, key, value, attn_mask=visible, is_causal=causal)


def _plain(query: Tensor, key: Tensor, value: Tensor, visible: Tensor | None) -> Tensor:
    """The same in few operations, for exported graphs; where all keys are hidden, their mean."""
    scores = (query / math.sqrt(query.size(3))) @ key.transpose(2, 3)
    if visible is not None:
        scores = scores + torch.where(visible, 0.0, HIDDEN)
    return scores.softmax(3) @ value


def choose_kernels() -> None:
    """Let a training on a GPU attend with the memory-efficient kernels, in the whole process.

    Not for a training on a processor: there PyTorch's only fused kernel is FlashAttention.

    cuDNN makes a plan for each new shape, which takes longer than an update, and nearly every batch
    of a training has a shape of its own. The blocks of FlashAttention are longer than most
    sentences; with 30 tokens its backward pass took three times as long.
    """
    torch.backends.cuda.enable_cudnn_sdp(False)
    torch.backends.cuda.enable_flash_sdp(False)


def _hides_nothing(visible: Tensor) -> bool:
    """Return True if a mask can be left out, which a processor attends faster without.

    The outcome is the same bit by bit. A GPU is not asked, since it would have to be waited for.
    """
    return visible.device.type == "cpu" and bool(visible.all())
