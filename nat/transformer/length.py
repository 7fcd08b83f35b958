"""Length predictors: classes of lengths, or a constant difference."""

from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nat.transformer.architecture import LENGTH_CLASSES
from nat.transformer.dropout import dropout
from nat.transformer.linear import Linear


class LengthPredictor(nn.Module):
    """Predicts a distribution over classes of lengths (Ghazvininejad et al. 2019).

    It `predicts` the number of target tokens (`target`, `token`) or target tokens minus source
    tokens (`offset`). All methods take what `Encoded.length_states` has and the padding of the
    source [B, S].
    """

    predicts: str
    first_class: ClassVar[int] = 0

    def forward(self, states: Tensor, padding: Tensor) -> Tensor:
        """Log-probabilities (nats) of the classes, [B, 256]."""
        raise NotImplementedError

    def _shift(self, padding: Tensor) -> Tensor:
        source_lengths = (~padding).sum(1) - 1  # without EOS
        if self.predicts == "offset":
            return source_lengths - LENGTH_CLASSES // 2
        return torch.zeros_like(source_lengths)

    def classes(self, lengths: Tensor, padding: Tensor) -> Tensor:
        """Class of each true length [B]; lengths out of range count as the nearest class."""
        return (lengths - self._shift(padding)).clamp(self.first_class, LENGTH_CLASSES - 1)

    def loss(self, states: Tensor, padding: Tensor, lengths: Tensor) -> Tensor:
        """Negative log-likelihood of the true lengths, nats, [B]."""
        log_probabilities = self(states, padding)
        return -log_probabilities.gather(1, self.classes(lengths, padding)[:, None])[:, 0]

    def candidates(self, states: Tensor, padding: Tensor, number: int, longest: int) -> Tensor:
        """The `number` most probable lengths, best first, each from 1 to `longest`, [B, number]."""
        lengths = torch.arange(LENGTH_CLASSES, device=states.device) + self._shift(padding)[:, None]
        possible = (lengths >= 1) & (lengths <= longest)
        scores = self(states, padding).masked_fill(~possible, -torch.inf)
        # if fewer than `number` lengths are possible, the nearest possible one is repeated
        return lengths.gather(1, scores.topk(number, dim=-1).indices).clamp(1, longest)


class LengthClassifier(LengthPredictor):
    """A linear classifier on the mean encoder state."""

    def __init__(self, model_dim: int, predicts: str) -> None:
        super().__init__()
        self.predicts = predicts
        self.classifier = Linear(model_dim, LENGTH_CLASSES)

    def forward(self, states: Tensor, padding: Tensor) -> Tensor:
        """See `LengthPredictor`; of encoder states [B, S, D]."""
        real = (~padding)[:, :, None].to(states.dtype)
        mean = (states * real).sum(1) / real.sum(1)
        return F.log_softmax(self.classifier(mean).to(states.dtype), dim=-1)


class LengthToken(LengthPredictor):
    """A token LENGTH, which the encoder sees before the source (Ghazvininejad et al. 2019, 2.3).

    As in their published code, it has no position and shows row 0 of an embedding of lengths; the
    products of its last state and the other rows are the logits. Length 0 is never predicted.
    """

    predicts = "token"
    first_class = 1

    def __init__(self, model_dim: int, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.lengths = nn.Embedding(LENGTH_CLASSES, model_dim)
        nn.init.normal_(self.lengths.weight, std=model_dim**-0.5)

    def before(self, vectors: Tensor, padding: Tensor) -> tuple[Tensor, Tensor]:
        """Put the token before the source, [B, S, D] and [B, S] to S + 1 positions."""
        token = self.lengths(torch.zeros_like(padding[:, :1], dtype=torch.long))
        token = dropout(token, self.dropout, self.training)
        return torch.cat((token, vectors), 1), F.pad(padding, (1, 0), value=False)

    def forward(self, states: Tensor, padding: Tensor) -> Tensor:
        """See `LengthPredictor`; of the last state of the token, [B, 1, D]."""
        logits = states[:, 0] @ self.lengths.weight.t()
        impossible = torch.arange(LENGTH_CLASSES, device=logits.device) == 0
        return F.log_softmax(logits.masked_fill(impossible, -torch.inf), dim=-1)


class ConstantLength(nn.Module):
    """The source's length plus a constant, the mean difference in training (Li et al. 2019).

    It has no parameters; the training program sets the difference, target minus source tokens.
    """

    difference: Tensor
    predicts = "constant"

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("difference", torch.zeros(()))

    def candidates(self, states: Tensor, padding: Tensor, number: int, longest: int) -> Tensor:
        """The `number` lengths nearest to the predicted one, nearest first, [B, number].

        Each is from 1 to `longest`; of two equally near ones the shorter comes first. With an odd
        number these are, up to rounding, the lengths from C - B to C + B of Li et al.
        """
        predicted = (~padding).sum(1) - 1 + self.difference.double()  # without EOS
        lengths = torch.arange(1, longest + 1, device=padding.device)
        nearest = (lengths - predicted[:, None]).abs().argsort(dim=1, stable=True) + 1
        # if fewer than `number` lengths are possible, the last one is repeated
        places = torch.arange(number, device=padding.device).clamp(max=longest - 1)
        return nearest[:, places]
