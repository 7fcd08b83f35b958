"""The context of an update, from the proxy input to the proxy target."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from nat import randomness
from nat.data.batch import Batch
from nat.data.vocabulary import MASK, PAD
from nat.errors import UserError
from nat.objective.balance import Balance
from nat.transformer.layers import DecoderTrace
from nat.transformer.model import Encoded, Transformer
from nat.transformer.output import Output
from nat.transformer.part import Part


@dataclass(frozen=True)
class DecoderInput:
    """The proxy input Z, and the labels that are to be learned there.

    Attributes:
        tokens: decoder input, MASK where only the canvas is seen, [B, T].
        padding: True at padding, [B, T].
        target: symbol to predict at each position, PAD at padding, [B, T]. On an upsampled canvas
            it is MASK where no alignment says which.
        loss_mask: True at positions that enter the loss, [B, T].
        causal: whether the decoder is autoregressive.
        group: positions that see each other although it is.
        positions: numbers of the positions, [B, T]; None for 0 to T - 1.
    """

    tokens: Tensor
    padding: Tensor
    target: Tensor
    loss_mask: Tensor
    causal: bool = False
    group: int = 1
    positions: Tensor | None = None


@dataclass(frozen=True)
class BatchContext:
    """One forward pass in training or validation.

    Attributes:
        model: the model that learns.
        batch: sentence pairs.
        encoded: its encoder states of the batch.
        seed: of the run.
        update: number of the update, from 0.
        progress: share of the updates that are done, 0 to 1; 1 in validation.
        teacher: frozen model that a method consults while training, or None.
        bfloat16: whether products take bfloat16 inputs.
        balance: weights of the target's terms that no option gives, or None.
    """

    model: Transformer
    batch: Batch
    encoded: Encoded
    seed: int
    update: int
    progress: float = 1.0
    teacher: Transformer | None = None
    bfloat16: bool = False
    balance: Balance | None = None

    def uniform(self, width: int, stream: int = 0) -> Tensor:
        """Random numbers in [0, 1) of this update, one row per sentence, [B, width]."""
        return randomness.uniform(self.seed, self.update, self.batch.ids, width, stream)

    @property
    def output(self) -> Output:
        """The output layer of the model that learns."""
        return self.output_of(self.model)

    def output_of(self, model: Transformer) -> Output:
        """The output layer of a model, with the products of this training."""
        return model.output._replace(bfloat16=self.bfloat16)

    def fully_masked_input(self) -> DecoderInput:
        """Nothing is revealed of the target or of the upsampled canvas, everything is learned."""
        if self.model.decoder.upsample is None:
            target, padding = self.batch.target, self.batch.target_padding
            return DecoderInput(torch.where(padding, PAD, MASK), padding, target, ~padding)
        padding = self.model.upsampled_padding(self.encoded)
        tokens = torch.where(padding, PAD, MASK)
        return DecoderInput(tokens, padding, tokens, ~padding)

    def decode(self, decoder_input: DecoderInput, trace: DecoderTrace | None = None) -> Tensor:
        """The model's last decoder states, [B, T, D]; `trace` collects what each layer does."""
        return self.model.decode(
            decoder_input.tokens,
            decoder_input.padding,
            self.encoded,
            decoder_input.causal,
            decoder_input.positions,
            decoder_input.group,
            trace,
        )


@dataclass(frozen=True)
class Loss:
    """A loss per sentence, so that it cannot depend on what else is in the batch.

    Attributes:
        value: what training minimises, summed over a sentence's positions, nats, [B].
        positions: how many positions of each sentence carry it, [B].
        parts: named contributions for the training curve, same shape and meaning as `value`.
        learned: T*, where a target finds the label of each position itself, PAD at padding, [B, T];
            None where they are those of the proxy input.

    Raises:
        UserError: for a shape that would be broadcast, so that sums over the batch were wrong.
    """

    value: Tensor
    positions: Tensor
    parts: Mapping[str, Tensor] = field(default_factory=dict)
    learned: Tensor | None = None

    def plus(self, value: Tensor, **parts: Tensor) -> "Loss":
        """This loss and a further term, [B]; with further parts for the training curve."""
        return replace(self, value=self.value + value, parts={**self.parts, **parts})

    def __add__(self, other: "Loss") -> "Loss":
        """The sum of two tasks of an update."""
        shared = self.parts.keys() & other.parts.keys()
        both = {name: self.parts[name] + other.parts[name] for name in shared}
        parts = {**self.parts, **other.parts, **both}
        return Loss(self.value + other.value, self.positions + other.positions, parts)

    def __post_init__(self) -> None:
        shape = self.value.shape
        for name, value in {"value": self.value, "positions": self.positions, **self.parts}.items():
            if value.ndim != 1 or value.shape != shape:
                raise UserError(
                    f"Loss: value the shape {list(value.shape)} for '{name}', expected one number "
                    "for each sentence, [B]; sum over the positions of a sentence only"
                )


def sum_by_sentence(values: Tensor, loss_mask: Tensor) -> Tensor:
    """Sum values of the positions that carry loss, [N], into their sentences, [B]."""
    sentences = loss_mask.nonzero()[:, 0]
    sums = values.new_zeros(loss_mask.size(0))
    return torch.index_add(sums, 0, sentences, values)


class TrainedPart(Part):
    """A part of the network with a share of the objective; each method can be left as it is."""

    def in_training(self, context: BatchContext) -> BatchContext:
        """Change what an update or a validation sees, before the proxy input is made."""
        return context

    def with_loss(self, loss: Loss, context: BatchContext, decoder_input: DecoderInput) -> Loss:
        """Add a term to the loss of each sentence."""
        return loss
