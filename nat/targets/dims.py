"""Distill Multiple Steps (DiMS): one pass learns what a teacher predicts in several.

Norouzi et al. (2022), section 3 and algorithm 1. Teacher and student start from one iterative
model; the teacher follows the student by an exponential moving average.
"""

import torch
from torch import Tensor

from nat.alignment.reveal import most_confident
from nat.data.vocabulary import NEVER_WRITTEN
from nat.objective.context import BatchContext, DecoderInput, Loss, sum_by_sentence
from nat.targets.cross_entropy import CrossEntropy
from nat.targets.options import DimsOptions
from nat.transformer.model import Transformer


class Dims(DimsOptions):
    """KL(teacher || student) + hidden_weight * ||e_teacher - e_student|| at masked positions.

    Where the paper is ambiguous: the hidden state of a position is taken from the same pass as its
    label; its distance is the Euclidean norm, not squared; the temperature applies to the teacher
    only and does not change the order in which positions are revealed; after pass s of n,
    floor(s m / n) of m masked positions are revealed, and all of them after the last pass.

    With `labels: revealing`, as in algorithm 1, a position has its label from the pass that reveals
    it. With `labels: last`, as in the published code (`update_mask` in `cmlm_distill.py`), all of
    them are from the last pass, in which the teacher sees what it revealed at a position whose
    label it gives. Here a revealed token stays in both cases, with a CMLMC as well; the code
    predicts it anew in every pass, which differs only if there are more than two.

    U-DiMS (section 4.5) is the same loss on another text, which is distilled from the system of
    `init_from` in two passes, as in `u-dims-cmlm-kd`. Where the paper is ambiguous: these
    translations are made once, by the teacher as it is before training, with a length beam of 5;
    the published code makes them during training with the moving teacher.
    """

    def __call__(self, context: BatchContext, decoder_input: DecoderInput) -> Loss:
        """Loss of each sentence; the part `nll` is that of the reference, for the curve only.

        Without a teacher (in validation) the loss is this part.
        """
        if context.teacher is None:
            return CrossEntropy()(context, decoder_input)
        masked = decoder_input.loss_mask
        states = context.decode(decoder_input)[masked]
        symbols = decoder_input.target[masked]
        labels = self.label(context.teacher, context, decoder_input)[masked]
        rows = context.output.divergence(
            states, context.output_of(context.teacher), labels, self.temperature, symbols
        )
        distance = torch.linalg.vector_norm(labels - states, dim=1)
        parts = {
            "nll": sum_by_sentence(rows.nll, masked),
            "divergence": sum_by_sentence(rows.value, masked),
            "hidden": sum_by_sentence(distance, masked),
        }
        value = parts["divergence"] + self.hidden_weight * parts["hidden"]
        return Loss(value, masked.sum(1), parts)

    @torch.no_grad()
    def label(
        self, teacher: Transformer, context: BatchContext, decoder_input: DecoderInput
    ) -> Tensor:
        """The teacher's last decoder states, from the passes that `labels` names.

        Takes one batched pass per teacher step. The label of a position is the softmax of the
        logits of its state, so only the states are stored. Labels have the probabilities of all
        symbols; those of `NEVER_WRITTEN` are only not revealed, as where a teacher translates.

        Returns:
            [B, T, D]; zero where nothing was masked.
        """
        encoded = teacher.encode(context.batch.source)
        tokens, masked = decoder_input.tokens, decoder_input.loss_mask
        total = masked.sum(1)
        labels = encoded.states.new_zeros(*tokens.shape, encoded.states.size(2))
        for number in range(1, self.teacher_steps):
            states = teacher.decode(tokens, decoder_input.padding, encoded, causal=False)
            best = context.output_of(teacher).best(states[masked], NEVER_WRITTEN)
            revealed_before = total - masked.sum(1)
            reveal_now = total * number // self.teacher_steps - revealed_before
            confidence = states.new_zeros(masked.shape)
            confidence[masked] = best.log_probabilities
            revealed = most_confident(confidence, reveal_now, masked)
            symbols = tokens.masked_scatter(masked, best.symbols)
            labels = torch.where(revealed[:, :, None], states, labels)
            tokens = torch.where(revealed, symbols, tokens)
            masked = masked & ~revealed
        # the last pass reveals all remaining positions
        states = teacher.decode(tokens, decoder_input.padding, encoded, causal=False)
        labelled = decoder_input.loss_mask if self.labels == "last" else masked
        return torch.where(labelled[:, :, None], states, labels)


METHOD = Dims
