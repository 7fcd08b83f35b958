"""The output layer of a model: losses, log-probabilities and choices from decoder states.

The output projection is the largest product of a small model. So logits are computed for a few
hundred rows at a time: there is never a tensor of (positions x vocabulary), and positions without
loss are left out. Losses whose labels are known in advance compute their gradient in the same
sweep. All values are in nats.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import embedding

from nat.transformer.projection import (
    chunks_of_logits,
    largest,
    logits_of,
    operand_of,
    own_log_probabilities,
    row_loss,
    softmax,
)


class RowLoss(NamedTuple):
    """A loss of each row.

    Attributes:
        value: the loss that is minimised, [N].
        nll: negative log-likelihood of the row's true symbol, [N]; carries no gradient.
    """

    value: Tensor
    nll: Tensor


class Best(NamedTuple):
    """Most probable symbol of each row and its log-probability, [N] each."""

    symbols: Tensor
    log_probabilities: Tensor


class Output(NamedTuple):
    """Softmax of decoder states times the embeddings of the V symbols.

    Attributes:
        weight: of the projection, [V, D].
        bfloat16: whether both inputs of each product, and each logit, are rounded to bfloat16;
            sums, softmax and results are float32. On a GPU, where moving memory takes most of the
            time, logits and probabilities are also stored in bfloat16.
    """

    weight: Tensor
    bfloat16: bool = False

    def logits(self, states: Tensor) -> Iterator[Tensor]:
        """Logits of states [N, D], a few hundred rows [n, V] at a time, without gradient."""
        operand = operand_of(self.weight, self.bfloat16)
        return (logits for _, logits in chunks_of_logits(states, operand))

    @torch.no_grad()
    def all_log_probabilities(self, states: Tensor) -> Tensor:
        """Log-probability of every symbol, without gradient, [..., D] to [..., V]."""
        logits = torch.cat(list(self.logits(states.flatten(0, -2))))
        return logits.log_softmax(1).unflatten(0, states.shape[:-1])

    def cross_entropy(
        self, states: Tensor, symbols: Tensor, label_smoothing: float = 0.0
    ) -> RowLoss:
        """Cross-entropy of states [N, D] with true ids [N], smoothed (Szegedy et al. 2016).

        `label_smoothing` is the share of the label that is spread evenly over the vocabulary.
        """
        kept, spread = 1 - label_smoothing, label_smoothing / self.weight.size(0)
        nll = states.new_empty(states.size(0))

        def sweep(rows: slice, logits: Tensor, gradient: bool) -> tuple[Tensor, Tensor | None]:
            probabilities, normaliser = softmax(logits)
            true = symbols[rows, None]
            chosen = logits.gather(1, true)[:, 0].to(normaliser.dtype)
            nll[rows] = normaliser - chosen
            value = normaliser - kept * chosen
            if label_smoothing:
                value -= spread * logits.sum(1, dtype=normaliser.dtype)
            if not gradient:
                return value, None
            if label_smoothing:
                probabilities -= spread
            if probabilities.dtype == value.dtype:
                less = logits.new_full(true.shape, -kept)
                return value, probabilities.scatter_add_(1, true, less)
            # rounded once, since a label such as 0.9 is no number of bfloat16
            of_true = (chosen - normaliser).exp() - kept - spread
            return value, probabilities.scatter_(1, true, of_true[:, None].to(probabilities.dtype))

        return RowLoss(row_loss(states, self.weight, sweep, self.bfloat16), nll)

    def divergence(
        self,
        states: Tensor,
        teacher: "Output",
        teacher_states: Tensor,
        temperature: float,
        symbols: Tensor,
    ) -> RowLoss:
        """KL(teacher || student) of each row; no gradient reaches the teacher.

        Args:
            states: of the student, whose distribution has temperature one, [N, D].
            teacher: its output layer.
            teacher_states: [N, D].
            temperature: divides the teacher's logits; below one it sharpens the labels.
            symbols: true ids, [N], for the negative log-likelihood only.
        """
        nll = states.new_empty(states.size(0))
        teacher_states = teacher_states.detach()
        operand = operand_of(teacher.weight, teacher.bfloat16)

        def sweep(rows: slice, logits: Tensor, gradient: bool) -> tuple[Tensor, Tensor | None]:
            student = logits.log_softmax(1, dtype=nll.dtype)
            labels = logits_of(teacher_states[rows], operand).to(nll.dtype)
            labels = labels.div_(temperature).log_softmax(1)
            nll[rows] = -student.gather(1, symbols[rows, None])[:, 0]
            probabilities = labels.exp()
            value = labels.sub_(student).mul_(probabilities).sum(1)
            return value, student.exp_().sub_(probabilities) if gradient else None

        return RowLoss(row_loss(states, self.weight, sweep, self.bfloat16), nll)

    @torch.no_grad()
    def log_probabilities(self, states: Tensor, symbols: Tensor) -> Tensor:
        """Log-probabilities of states [N, D] at symbols [N, K], without gradient, [N, K]."""
        chosen = states.new_empty(symbols.shape)
        for rows, logits in chunks_of_logits(states, operand_of(self.weight, self.bfloat16)):
            chosen[rows] = logits.gather(1, symbols[rows]) - softmax(logits)[1][:, None]
        return chosen

    def own_log_probabilities(
        self, states: Tensor, chosen: Tensor, symbols: Tensor, shares: Tensor | None = None
    ) -> Tensor:
        """Log-probabilities of each chosen position at the symbols of its sentence, [B, T, K].

        For losses whose labels are found by an alignment: the gradient of the labels depends on it,
        but that of all other symbols does not if the weight of a label is known in advance, and is
        computed in the same sweep. For positions whose labels have another weight the logits are
        computed again in the backward pass.

        Args:
            states: [B, T, D].
            chosen: True at positions to look up; the result is zero at others, [B, T].
            symbols: symbols of each sentence, [B, K]; one may appear more than once.
            shares: weight of the labels of a position, relative to others, above zero, [B]; without
                them all have the same.
        """
        needed = torch.is_grad_enabled() and (states.requires_grad or self.weight.requires_grad)
        return own_log_probabilities(
            states, self.weight, chosen, symbols, self.bfloat16, shares, needed
        )

    def smoothing(
        self, states: Tensor, chosen: Tensor, symbols: Tensor, log_probabilities: Tensor
    ) -> Tensor:
        """Cross-entropy of chosen positions with the uniform distribution, [B, T]; zero elsewhere.

        The mean of the logits is the product of the states [B, T, D] with the mean embedding, so no
        logits are needed. The normaliser follows from the log-probability of any one symbol of each
        position, [B, T].
        """
        direction = self.weight.mean(0) - embedding(symbols, self.weight)
        mean = (states * direction).sum(2) + log_probabilities
        return -torch.where(chosen, mean, 0)

    @torch.no_grad()
    def best(
        self,
        states: Tensor,
        forbidden: Iterable[int] = (),
        penalties: Mapping[int, float] | None = None,
    ) -> Best:
        """Most probable symbol of each row [N, D] and its log-probability under the full softmax.

        Forbidden ids are never chosen, but keep their probability mass; a penalty lowers the
        log-probability of an id by so many nats for the choice alone.
        """
        symbols, scores = [states.new_empty(0).long()], [states.new_empty(0)]
        penalties = {id_: nats for id_, nats in (penalties or {}).items() if nats}
        for rounded in self.logits(states):
            logits = rounded.to(states.dtype)
            _, normaliser = softmax(logits)
            for id_ in forbidden:
                logits[:, id_] = -torch.inf
            for id_, nats in penalties.items():
                logits[:, id_] -= nats
            top, ids = largest(logits)
            for id_, nats in penalties.items():
                top += nats * (ids == id_)
            symbols.append(ids)
            scores.append(top - normaliser)
        return Best(torch.cat(symbols), torch.cat(scores))
