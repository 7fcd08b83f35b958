"""Multi-head attention, whole sentences at once or one token at a time with a cache."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nat.transformer.linear import Linear

HIDDEN = -1e9
"""What is added to the score of a key that may not be seen, where an operation has no mask."""


class SelfAttention(nn.Module):
    """Attention of a sequence to itself."""

    def __init__(self, model_dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query_key_value = Linear(model_dim, 3 * model_dim)
        self.output = Linear(model_dim, model_dim)

    def forward(self, states: Tensor, visible: Tensor | None, causal: bool) -> Tensor:
        """Attend.

        Args:
            states: [B, T, D].
            visible: True where a key may be seen, [B, 1, 1, T]; None if `causal`, where right
                padding is never seen by a real token.
            causal: each position sees itself and those before it.

        Returns:
            [B, T, D].
        """
        query, key, value = self._project(states)
        return self.output(_attended(query, key, value, visible, causal))

    def step(self, states: Tensor, history: Tensor) -> Tensor:
        """Attend from new positions to all of them and all earlier ones.

        Args:
            states: [N, n, D].
            history: keys and values of the earlier positions, and room for the new ones at the
                end, which is written: [t + n, 2, N, heads, D / heads].

        Returns:
            [N, n, D].
        """
        query, key, value = self._project(states)
        new = slice(len(history) - states.size(1), None)
        history[new, 0], history[new, 1] = key.permute(2, 0, 1, 3), value.permute(2, 0, 1, 3)
        keys, values = history.permute(1, 2, 3, 0, 4)
        return self.output(_attended(query, keys, values))

    def _project(self, states: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        query, key, value = self.query_key_value(states).split(self.output.in_features, dim=-1)
        return _split(query, self.heads), _split(key, self.heads), _split(value, self.heads)


class PositionalAttention(nn.Module):
    """Attention by position: queries and keys are vectors of positions, values are states.

    Gu et al. (2018), section 3.2. It can move a state by a fixed distance, whatever its content.
    """

    def __init__(self, model_dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query_key = Linear(model_dim, 2 * model_dim)
        self.value = Linear(model_dim, model_dim)
        self.output = Linear(model_dim, model_dim)

    def forward(
        self, states: Tensor, positions: Tensor, visible: Tensor | None, causal: bool
    ) -> Tensor:
        """Attend.

        Args:
            states: [B, T, D].
            positions: vectors of the positions, [B, T, D], or [1, T, D] for all sentences.
            visible: True where a key may be seen, [B, 1, 1, T]; None if `causal`.
            causal: each position sees itself and those before it.

        Returns:
            [B, T, D].
        """
        query, key = (
            _split(part, self.heads).expand(states.size(0), -1, -1, -1)
            for part in self.query_key(positions).split(self.output.in_features, dim=-1)
        )
        value = _split(self.value(states), self.heads)
        return self.output(_attended(query, key, value, visible, causal))


class CrossAttention(nn.Module):
    """Attention of a sequence to encoder states."""

    def __init__(self, model_dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = Linear(model_dim, model_dim)
        self.key_value = Linear(model_dim, 2 * model_dim)
        self.output = Linear(model_dim, model_dim)

    def keys_and_values(self, encoded: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of encoder states [B, S, D], each [B, heads, S, D / heads]."""
        key, value = self.key_value(encoded).split(self.output.in_features, dim=-1)
        return _split(key, self.heads), _split(value, self.heads)

    def forward(
        self, states: Tensor, keys_and_values: tuple[Tensor, Tensor], visible: Tensor
    ) -> Tensor:
        """Attend from states [B, T, D] to keys of which `visible` [B, 1, 1, S] are real."""
        query = _split(self.query(states), self.heads)
        return self.output(_attended(query, *keys_and_values, visible))

    def traced(
        self, states: Tensor, keys_and_values: tuple[Tensor, Tensor], visible: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The same, and the attention weights, [B, heads, T, S]; slower than `forward`."""
        query, (key, value) = _split(self.query(states), self.heads), keys_and_values
        scores = query @ key.transpose(2, 3) / math.sqrt(key.size(3))
        weights = scores.masked_fill(~visible, -torch.inf).softmax(3)
        return self.output(_join(weights @ value)), weights


def _attended(
    query: Tensor, key: Tensor, value: Tensor, visible: Tensor | None = None, causal: bool = False
) -> Tensor:
    """The heads' mixtures of values, [B, T, D]."""
    if torch.jit.is_tracing() and not causal:
        return _join(_plain(query, key, value, visible))
    if visible is not None and _hides_nothing(visible):
        visible = None
    return _join(
        F.scaled_dot_product_attention(query, key, value, attn_mask=visible, is_causal=causal)
    )


def _plain(query: Tensor, key: Tensor, value: Tensor, visible: Tensor | None) -> Tensor:
    """The same in few operations, for exported graphs; where all keys are hidden, their mean."""
    scores = (query / math.sqrt(query.size(3))) @ key.transpose(2, 3)
    if visible is not None:
        scores = scores + torch.where(visible, 0.0, HIDDEN)
    return scores.softmax(3) @ value


def _hides_nothing(visible: Tensor) -> bool:
    """Whether a mask can be left out, which a processor attends faster without.

    The outcome is the same bit by bit. A GPU is not asked, since it would have to be waited for,
    nor is the graph of an export, which is for other batches as well.
    """
    return visible.device.type == "cpu" and not torch.jit.is_tracing() and bool(visible.all())


def _split(states: Tensor, heads: int) -> Tensor:
    # with sizes of the tensor itself, an exported graph computes no shapes; so below
    sentences, length, _ = states.shape
    return states.view(sentences, length, heads, -1).transpose(1, 2)


def _join(states: Tensor) -> Tensor:
    states = states.transpose(1, 2)
    return states.reshape(states.size(0), states.size(1), -1)
