"""What one training update hands from the proxy input to the proxy target."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from nat import randomness
from nat.data.batch import Batch
from nat.data.vocabulary import PAD
from nat.transformer.model import Encoded, Transformer


@dataclass(frozen=True)
class DecoderInput:
    """What the decoder sees in training, Z, and what is to be learnt there.

    Attributes:
        tokens: decoder input, [B, T].
        target: symbol to predict at each position, PAD at padding, [B, T].
        carries_loss: True at positions that enter the loss, [B, T].
        causal: whether the decoder is autoregressive.
    """

    tokens: Tensor
    target: Tensor
    carries_loss: Tensor
    causal: bool = False

    @property
    def padding(self) -> Tensor:
        """True at padding, [B, T]."""
        return self.target.eq(PAD)


@dataclass(frozen=True)
class Step:
    """One forward pass in training or validation.

    Attributes:
        model: the model that learns.
        batch: sentence pairs.
        encoded: its encoder states of the batch.
        seed: of the run.
        update: number of the update, from 0.
        teacher: frozen model of distillation while training, or None.
        bfloat16: whether products take bfloat16 inputs.
    """

    model: Transformer
    batch: Batch
    encoded: Encoded
    seed: int
    update: int
    teacher: Transformer | None = None
    bfloat16: bool = False

    def uniform(self, width: int, stream: int = 0) -> Tensor:
        """Random numbers in [0, 1) of this update, one row per sentence, [B, width]."""
        return randomness.uniform(self.seed, self.update, self.batch.ids, width, stream)

    def decode(self, decoder_input: DecoderInput) -> Tensor:
        """The model's last decoder states, [B, T, D]."""
        return self.model.decode(
            decoder_input.tokens, decoder_input.padding, self.encoded, decoder_input.causal
        )


@dataclass(frozen=True)
class Loss:
    """A loss per sentence, so that it cannot depend on what else is in the batch.

    Attributes:
        value: what training minimises, summed over a sentence's positions, nats, [B].
        positions: how many positions of each sentence carry it, [B].
        parts: named contributions for the training curve, same shape and meaning as `value`.
    """

    value: Tensor
    positions: Tensor
    parts: Mapping[str, Tensor] = field(default_factory=dict)


def sum_by_sentence(values: Tensor, carries_loss: Tensor) -> Tensor:
    """Sum values of the positions that carry loss, [N], into their sentences, [B]."""
    sentences = carries_loss.nonzero()[:, 0]
    sums = values.new_zeros(carries_loss.size(0))
    return torch.index_add(sums, 0, sentences, values)
