"""A record of decoder states and attention weights, collected on request."""

from dataclasses import dataclass, field

from torch import Tensor


@dataclass
class DecoderTrace:
    """States and attention weights of all layers, collected by `Transformer.decode`.

    Attributes:
        states: output of each layer, after its feed-forward part, [B, T, D].
        attention: each layer's cross-attention weights, [B, heads, T, S].
    """

    states: list[Tensor] = field(default_factory=list)
    attention: list[Tensor] = field(default_factory=list)
