"""Hints from the states and the word alignments of an autoregressive teacher.

Li et al. (2019), section 2.2 and figure 3. The teacher is run on the same pair, with the target
given.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from nat.data.vocabulary import BOS
from nat.objective.context import BatchContext, DecoderInput, Loss
from nat.targets.cross_entropy import CrossEntropy
from nat.targets.options import HintsOptions
from nat.transformer.layers import DecoderTrace

SMALLEST = 1e-4
"""Lower bound of 1 - cosine, so that the cost of equal states is finite."""


class Hints(HintsOptions):
    """Cross-entropy + hidden_weight * L_hid + alignment_weight * L_align, per token.

    L_hid is the mean of -log(1 - d_st) over pairs of positions and layers where the student's
    states are similar and the teacher's are not: cosines d_st >= student_threshold and
    d_tr <= teacher_threshold (0 elsewhere). L_align is the mean of KL(teacher || student) of the
    cross-attention over positions, layers and heads. States are those after a layer's feed-forward
    part.

    Where the paper is ambiguous: it prints neither weights nor thresholds, only that they "make the
    scales of three loss components similar after initialization" (section 3.1). Here a weight that
    is None makes its term as large as the cross-entropy on the first batch (`Balance`); the weights
    found are in `training.json`. The thresholds are our own choice. All weights of the published
    code are zero by default. A target of one token has no pair, so L_hid is zero; 1 - d_st is
    bounded from below.
    """

    @property
    def balanced(self) -> tuple[str, ...]:
        """Terms whose weight is to be determined, see `nat.objective.balance`."""
        weights = {"hidden": self.hidden_weight, "alignment": self.alignment_weight}
        return tuple(name for name, weight in weights.items() if weight is None)

    def __call__(self, context: BatchContext, decoder_input: DecoderInput) -> Loss:
        """Loss of each sentence.

        Parts: `nll`, `hidden` and `alignment`, without their weights (nats), each the mean
        over a sentence's pairs or positions times its number of tokens.
        """
        student = DecoderTrace()
        loss = CrossEntropy(label_smoothing=self.label_smoothing)(context, decoder_input, student)
        if context.teacher is None:
            return loss
        teacher = self._teacher(context)
        real = ~decoder_input.padding
        layers = zip(student.states, teacher.states, strict=True)
        hidden = torch.stack([self._close_pairs(*each, real) for each in layers]).mean(0)
        layers = zip(student.attention, teacher.attention, strict=True)
        alignment = torch.stack([_divergence(*each, real) for each in layers]).mean(0)
        # both are means of a sentence; as sums over its tokens they share the denominator of nll
        parts = {"hidden": loss.positions * hidden, "alignment": loss.positions * alignment}
        balanced = {} if context.balance is None else context.balance(loss.parts["nll"], parts)
        hidden_weight = balanced.get("hidden", self.hidden_weight)
        alignment_weight = balanced.get("alignment", self.alignment_weight)
        assert hidden_weight is not None and alignment_weight is not None
        term = hidden_weight * parts["hidden"] + alignment_weight * parts["alignment"]
        return loss.plus(term, **parts)

    @torch.no_grad()
    def _teacher(self, context: BatchContext) -> DecoderTrace:
        """States and attention of the teacher where it predicts the target, [B, T, ...]."""
        teacher, target = context.teacher, context.batch.target
        assert teacher is not None
        before, padding = F.pad(target, (1, 0), value=BOS)[:, :-1], context.batch.target_padding
        encoded, trace = teacher.encode(context.batch.source), DecoderTrace()
        teacher.decode(before, padding, encoded, causal=True, trace=trace)
        return trace

    def _close_pairs(self, student: Tensor, teacher: Tensor, real: Tensor) -> Tensor:
        """Mean over pairs s < t of a layer, [B], from states [B, T, D]."""
        own, taught = _cosines(student), _cosines(teacher)
        pairs = (real[:, :, None] & real[:, None, :]).triu(1)
        hinted = pairs & (own >= self.student_threshold) & (taught <= self.teacher_threshold)
        costs = -torch.log((1 - own).clamp(min=SMALLEST))
        number = pairs.sum((1, 2)).clamp(min=1)
        return torch.where(hinted, costs, 0).sum((1, 2)) / number


def _cosines(states: Tensor) -> Tensor:
    """Cosine of the states of each two positions, [B, T, D] to [B, T, T]."""
    directions = F.normalize(states, dim=2)
    return directions @ directions.transpose(1, 2)


def _divergence(student: Tensor, teacher: Tensor, real: Tensor) -> Tensor:
    """Mean over heads and positions of KL(teacher || student), [B], of weights [B, heads, T, S]."""
    smallest = torch.finfo(student.dtype).tiny
    ratio = torch.log(teacher.clamp(min=smallest)) - torch.log(student.clamp(min=smallest))
    costs = (teacher * ratio).sum(3).mean(1)
    return torch.where(real, costs, 0).sum(1) / real.sum(1).clamp(min=1)


METHOD = Hints
