"""Encoder and decoder layers."""

from collections.abc import Callable

import torch.nn.functional as F
from torch import Tensor, nn

from nat.transformer.architecture import Architecture
from nat.transformer.attention import CrossAttention, PositionalAttention, SelfAttention
from nat.transformer.decoder_options import DecoderOptions
from nat.transformer.dropout import dropout
from nat.transformer.linear import Linear
from nat.transformer.trace import DecoderTrace

UNCHANGED = DecoderOptions()
"""The layers of Vaswani et al. (2017)."""


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
        self.norm = nn.LayerNorm(architecture.model_dim)
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
    """Self-attention, cross-attention and feed-forward.

    Args:
        architecture: sizes.
        dropout: on the output of every sublayer.
        options: changes of the layer.
    """

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

    def keys_and_values(self, encoded: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of the cross-attention for encoder states [B, S, D]."""
        return self.cross_attention.keys_and_values(encoded)

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
        """Map states of whole sentences.

        Args:
            states: [B, T, D].
            visible: True where a position may be seen, [B, 1, 1, T]; None if `causal`.
            causal: each position sees itself and those before it.
            source: the cross-attention's keys and values.
            source_visible: [B, 1, 1, S].
            positions: vectors of the positions, [B, T, D] or [1, T, D], which positional
                attention needs.
            trace: records states and attention weights of the layer.

        Returns:
            [B, T, D].
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
        history: Tensor,
        source: tuple[Tensor, Tensor],
        source_visible: Tensor,
        beam: int,
    ) -> Tensor:
        """Map the next positions of `beam` hypotheses per sentence; new positions see each other.

        Args:
            states: [B * beam, n, D].
            history: keys and values of the earlier positions and room for these, see
                `SelfAttention.step`.
            source: the cross-attention's keys and values, per sentence.
            source_visible: [B, 1, 1, S].
            beam: hypotheses per sentence.
        """
        states = self.around_attention(states, lambda x: self.attention.step(x, history))
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
