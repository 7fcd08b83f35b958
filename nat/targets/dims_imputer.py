"""Distill Multiple Steps (DiMS) for the Imputer: hard labels of a fixed teacher.

Norouzi et al. (2022), section 4.3 and appendix F.
"""

from nat.alignment.ctc import collapse
from nat.decoding.imputation import impute
from nat.objective.context import BatchContext, DecoderInput, Loss
from nat.targets.imputer import completion_loss
from nat.targets.options import DimsImputerOptions


class DimsImputer(DimsImputerOptions):
    """The Imputer's loss with the teacher's translation of the same input as target.

    The teacher imputes the masked positions in several passes, as in decoding; its alignment is
    collapsed, and the resulting tokens replace the target. There is no divergence, no hidden-state
    loss and no moving average. Where the paper is ambiguous: the student's alignments must agree
    with the visible labels, as in training the teacher (the published code of DiMS sums over all
    alignments). Whose alignment the visible labels come from is an option of `block_mask`.
    """

    def __call__(self, context: BatchContext, decoder_input: DecoderInput) -> Loss:
        """Loss of each sentence, see `nat.targets.imputer.completion_loss`.

        Without a teacher (in validation) the loss is that of the reference.
        """
        teacher = context.teacher
        if teacher is None:
            return completion_loss(context, decoder_input, context.batch.target)
        padding = decoder_input.padding
        encoded, output = teacher.encode(context.batch.source), context.output_of(teacher)
        tokens, steps = decoder_input.tokens, self.teacher_steps
        labels, *_ = impute(teacher, encoded, tokens, padding, steps, output)
        return completion_loss(context, decoder_input, collapse(labels, padding))


METHOD = DimsImputer
