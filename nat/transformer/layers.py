"""Encoder and decoder layers."""

from collections.abc import Callable
from dataclasses import dataclass, field

import torch.nn.functional as F
from torch import Tensor, nn

from nat.transformer.architecture import Architecture, DecoderOptions
from nat.transformer.attention import CrossAttention, Extended, PositionalAttention, SelfAttention
from nat.transformer.dropout import dropout
from nat.transformer.linear import Linear

UNCHANGED = DecoderOptions()
"""The layers of Vaswani et al. (2017)."""


@dataclass
class DecoderTrace:
    """States and attention weights of all layers, collected by `Transformer.decode`.

    Attributes:
        states: output of each layer, after its feed-forward part, [B, T, D].
        attention: each layer's cross-attention weights, [B, heads, T, S].
    """

    states: list[Tensor] = field(default_factory=list)
    attention: list[Tensor] = field(default_factory=list)


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
    """Normalisation, dropout and the residual connection around a sublayer."""

    def __init__(self, architecture: Architecture, dropout: float) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(architecture.model_dim, architecture.norm_epsilon)
        self.pre_norm = architecture.pre_norm
        self.dropout = dropout

    def forward(self, states: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """Map [..., D] to [..., D]."""
        change = sublayer(self.norm(states) if self.pre_norm else states)
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
        states = self.around_attention(states, lambda x: self.attention(x, visible, causal=False))
        return self.around_feed_forward(states, self.feed_forward)


class DecoderLayer(nn.Module):
    """Self-attention, cross-attention and feed-forward, and what the options add."""

    def __init__(
        self, architecture: Architecture, dropout: float, options: DecoderOptions = UNCHANGED
    ) -> None:
        super().__init__()
        sizes = architecture.model_dim, architecture.heads
        self.attention = SelfAttention(*sizes)
        self.cross_attention = CrossAttention(*sizes)
        self.feed_forward = FeedForward(architecture)
        self.around_attention = Residual(architecture, dropout)
        self.positional_attention: PositionalAttention | None = None
        if options.positional_attention:
            self.positional_attention = PositionalAttention(*sizes)
            self.around_positional_attention = Residual(architecture, dropout)
        self.around_cross_attention = Residual(architecture, dropout)
        self.around_feed_forward = Residual(architecture, dropout)
        self.causal_attention: SelfAttention | None = None
        if options.causal_attention:
            self.causal_attention = SelfAttention(*sizes)
            self.around_causal_attention = Residual(architecture, dropout)

    def forward(
        self,
        states: Tensor,
        visible: Tensor | None,
        causal: bool,
        source: tuple[Tensor, Tensor],
        source_visible: Tensor,
        positions: Tensor | None = None,
        trace: DecoderTrace | None = None,
    ) -> Tensor:
        """Map states of whole sentences, [B, T, D] to [B, T, D].

        Args:
            visible, causal: see `SelfAttention.forward`.
            source: the cross-attention's keys and values.
            source_visible: True at real tokens, [B, 1, 1, S].
            positions: vectors of the positions, which positional attention needs.
            trace: records states and attention weights of the layer.
        """
        states = self.around_attention(states, lambda x: self.attention(x, visible, causal))
        if (by_position := self.positional_attention) is not None:
            assert positions is not None
            states = self.around_positional_attention(
                states, lambda x: by_position(x, positions, visible, causal)
            )
        if (further := self.causal_attention) is not None:
            states = self.around_causal_attention(states, lambda x: further(x, None, causal=True))
        return self._rest(states, source, source_visible, trace)

    def step(
        self,
        states: Tensor,
        extended: Extended,
        source: tuple[Tensor, Tensor],
        source_visible: Tensor,
        beam: int,
    ) -> Tensor:
        """Map the next positions of `beam` hypotheses per sentence, which see each other.

        States are [B * beam, n, D]; for `extended` see `SelfAttention.step`, else `forward`.
        """
        states = self.around_attention(states, lambda x: self.attention.step(x, extended))
        # the hypotheses of a sentence share its keys, so they are queries of one attention
        new, dim = states.size(1), states.size(2)
        states = states.reshape(-1, beam * new, dim)
        return self._rest(states, source, source_visible).reshape(-1, new, dim)

    def _rest(
        self,
        states: Tensor,
        source: tuple[Tensor, Tensor],
        source_visible: Tensor,
        trace: DecoderTrace | None = None,
    ) -> Tensor:
        def attend(states: Tensor) -> Tensor:
            if trace is None:
                return self.cross_attention(states, source, source_visible)
            change, weights = self.cross_attention.traced(states, source, source_visible)
            trace.attention.append(weights)
            return change

        states = self.around_cross_attention(states, attend)
        states = self.around_feed_forward(states, self.feed_forward)
        if trace is not None:
            trace.states.append(states)
        return states
