"""Encoder and decoder layers."""

import torch.nn.functional as F
from torch import Tensor, nn

from nat.transformer.architecture import Architecture
from nat.transformer.attention import CrossAttention, SelfAttention
from nat.transformer.dropout import dropout
from nat.transformer.linear import Linear


class FeedForward(nn.Module):
    """Two linear layers with an activation between them."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        self.inner = Linear(architecture.model_dim, architecture.ffn_dim)
        self.outer = Linear(architecture.ffn_dim, architecture.model_dim)
        self.activation = F.relu if architecture.activation == "relu" else F.gelu

    def forward(self, states: Tensor) -> Tensor:
        """Map [..., D] to [..., D]."""
        return self.outer(self.activation(self.inner(states)))


class Residual(nn.Module):
    """Normalisation, dropout and the residual path around a part of a layer."""

    def __init__(self, architecture: Architecture, dropout: float) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(architecture.model_dim)
        self.pre_norm = architecture.pre_norm
        self.dropout = dropout

    def before(self, states: Tensor) -> Tensor:
        """What the part sees."""
        return self.norm(states) if self.pre_norm else states

    def after(self, states: Tensor, change: Tensor) -> Tensor:
        """What the next part sees, from the part's input and its result."""
        states = states + dropout(change, self.dropout, self.training)
        return states if self.pre_norm else self.norm(states)


class EncoderLayer(nn.Module):
    """Self-attention and feed-forward."""

    def __init__(self, architecture: Architecture, dropout: float) -> None:
        super().__init__()
        self.attention = SelfAttention(architecture.model_dim, architecture.heads)
        self.feed_forward = FeedForward(architecture)
        self.around_attention = Residual(architecture, dropout)
        self.around_feed_forward = Residual(architecture, dropout)

    def forward(self, states: Tensor, visible: Tensor) -> Tensor:
        """Map [B, S, D] to [B, S, D]; `visible` [B, 1, 1, S] is True at real tokens."""
        around = self.around_attention
        states = around.after(states, self.attention(around.before(states), visible, causal=False))
        around = self.around_feed_forward
        return around.after(states, self.feed_forward(around.before(states)))


class DecoderLayer(nn.Module):
    """Self-attention, cross-attention and feed-forward."""

    def __init__(self, architecture: Architecture, dropout: float) -> None:
        super().__init__()
        self.attention = SelfAttention(architecture.model_dim, architecture.heads)
        self.cross_attention = CrossAttention(architecture.model_dim, architecture.heads)
        self.feed_forward = FeedForward(architecture)
        self.around_attention = Residual(architecture, dropout)
        self.around_cross_attention = Residual(architecture, dropout)
        self.around_feed_forward = Residual(architecture, dropout)

    def keys_and_values(self, encoded: Tensor) -> tuple[Tensor, Tensor]:
        """What the cross-attention keeps of encoder states [B, S, D]."""
        return self.cross_attention.keys_and_values(encoded)

    def forward(
        self,
        states: Tensor,
        visible: Tensor | None,
        causal: bool,
        source: tuple[Tensor, Tensor],
        source_visible: Tensor,
    ) -> Tensor:
        """Map [B, T, D] to [B, T, D]; `source` holds the cross-attention's keys and values."""
        around = self.around_attention
        states = around.after(states, self.attention(around.before(states), visible, causal))
        return self._rest(states, source, source_visible)

    def step(
        self,
        states: Tensor,
        history: Tensor,
        source: tuple[Tensor, Tensor],
        source_visible: Tensor,
        beam: int,
    ) -> Tensor:
        """One position of `beam` hypotheses per sentence.

        Args:
            states: [B * beam, 1, D].
            history: keys and values of the earlier positions and room for this one, see
                `SelfAttention.step`.
            source: the cross-attention's keys and values, per sentence.
            source_visible: [B, 1, 1, S].
            beam: hypotheses per sentence.
        """
        around = self.around_attention
        states = around.after(states, self.attention.step(around.before(states), history))
        # The hypotheses of a sentence share its keys, so they are queries of one attention.
        states = states.view(-1, beam, states.size(-1))
        states = self._rest(states, source, source_visible)
        return states.reshape(-1, 1, states.size(-1))

    def _rest(
        self, states: Tensor, source: tuple[Tensor, Tensor], source_visible: Tensor
    ) -> Tensor:
        around = self.around_cross_attention
        states = around.after(
            states, self.cross_attention(around.before(states), source, source_visible)
        )
        around = self.around_feed_forward
        return around.after(states, self.feed_forward(around.before(states)))
