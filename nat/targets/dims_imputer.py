"""Distill Multiple Steps (DiMS) for the Imputer: hard labels of a fixed teacher.

Norouzi et al. (2022), section 4.3 and appendix F.
"""

import torch
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from nat.alignment.ctc import collapse
from nat.decoding.imputer import impute
from nat.objective.context import BatchContext, DecoderInput, Loss
from nat.targets.imputer import Imputer, completion_loss, fits


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class DimsImputer:
    """The Imputer's loss with the teacher's translation of the same input as target.

    The teacher imputes the masked positions in several passes, as in decoding; its alignment is
    collapsed, and the resulting tokens replace the target. There is no divergence, no hidden-state
    loss and no moving average. Where the paper is ambiguous: the student's alignments must agree
    with the visible labels, as in training the teacher (the published code of DiMS sums over all
    alignments). Whose alignment the visible labels come from is an option of `block_mask`.

    Attributes:
        teacher_steps: number n of the teacher's passes.
    """

    teacher_steps: int = Field(default=2, ge=1)

    upsampled = True
    distils = True

    def __call__(self, context: BatchContext, decoder_input: DecoderInput) -> Loss:
        """Loss of each sentence; the part `nll` is the loss.

        Without a teacher (in validation) the loss is that of the reference.
        """
        teacher = context.teacher
        if teacher is None:
            return Imputer()(context, decoder_input)
        padding, lengths = decoder_input.padding, context.batch.target_lengths
        encoded = teacher.encode(context.batch.source)
        labels = impute(
            teacher, encoded, decoder_input.tokens, padding, self.teacher_steps, context.bfloat16
        ).labels
        feasible = fits(context, decoder_input)
        trained = feasible & (lengths > 0)
        nll = completion_loss(context, decoder_input, collapse(labels, padding).tokens, trained)
        positions = torch.where(trained, decoder_input.loss_mask.sum(1), 0)
        parts = {"nll": nll.detach(), "infeasible": torch.where(feasible, 0, lengths).to(nll.dtype)}
        return Loss(nll, positions, parts)


METHOD = DimsImputer
