"""Prediction of the proxy input: L_input of MPLE (Huang et al. 2022, sections 3.2, 3.3 and E.6)."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nat.data.vocabulary import MASK
from nat.objective.context import BatchContext, DecoderInput, Loss, TrainedPart, sum_by_sentence
from nat.objective.first_pass import FirstPass
from nat.parts.options import InputPredictorOptions
from nat.transformer.architecture import Architecture
from nat.transformer.dropout import without_dropout


class InputPredictor(InputPredictorOptions):
    """A binary classifier on decoder states of a full mask: P(position i is masked | X)."""

    def __call__(self, architecture: Architecture, dropout: float) -> TrainedPart:
        """The classifier of a model of these sizes."""
        return MaskClassifier(architecture.model_dim)


class MaskClassifier(TrainedPart):
    """Probability that the proxy input masks a position, from decoder states of a width."""

    def __init__(self, model_dim: int) -> None:
        super().__init__()
        # an ordinary layer, since its product is too small to profit from bfloat16
        self.classifier = nn.Linear(model_dim, 1)

    def forward(self, states: Tensor) -> Tensor:
        """Logits of being masked, [B, T, D] to [B, T]."""
        logits: Tensor = self.classifier(states)[:, :, 0]
        return logits

    def nll(self, states: Tensor, masked: Tensor) -> Tensor:
        """Negative log-likelihood of the pattern `masked` [B, T], nats, [B, T]."""
        labels = masked.to(states.dtype)
        return F.binary_cross_entropy_with_logits(self(states), labels, reduction="none")

    def with_loss(self, loss: Loss, context: BatchContext, decoder_input: DecoderInput) -> Loss:
        """Add the loss of the predictor on a proxy input Z.

        L_input = KL(Q(Z | X) || P(Z | X)) measures how well Z can be predicted from X, where

            P(z_i | X) = P(masked_i | X)                       if z_i is masked,
            P(z_i | X) = (1 - P(masked_i | X)) P(t_i | X)      otherwise.

        P(masked_i | X) is the predictor's; P(t_i | X) is that of a frozen vanilla NAT,
        `context.teacher`, on a full mask.

        Where the paper is ambiguous: the predictor reuses encoder and decoder (appendix E.6), whose
        states are those of a full mask here. Those of the encoder are the update's, and the decoder
        has no dropout. They have no gradient, so that the predictor changes nothing else, but that
        its own gradient counts where their norm is clipped. In the paper's M-step the gradient
        reaches encoder and decoder; L_input is an upper bound of what a predictor that is trained
        with them could reach.

        Parts: `masks`, the share of the predictor, which is added to the loss; `input`, the sum of
        it and of the share of the vanilla NAT, where there is one. Neither includes the entropy of
        Q, which is constant.
        """
        real, masked = ~decoder_input.padding, decoder_input.tokens.eq(MASK)
        # nothing to learn from a sentence without loss
        real = real & loss.positions.gt(0)[:, None]
        with without_dropout(context.model):
            states = FirstPass(context).states
        nll = self.nll(states, masked)
        masks = torch.where(real, nll, 0).sum(1)
        parts = {"masks": masks}
        if context.teacher is not None:
            revealed = real & ~masked
            states = FirstPass(context, context.teacher).states[revealed]
            symbols = decoder_input.tokens[revealed][:, None]
            shown = context.output_of(context.teacher).log_probabilities(states, symbols)[:, 0]
            parts["input"] = masks.detach() - sum_by_sentence(shown, revealed)
        return loss.plus(masks, **parts)


METHOD = InputPredictor
