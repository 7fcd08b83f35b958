"""Input predictor: probability that the proxy input masks a position (MPLE, appendix E.6)."""

import torch.nn.functional as F
from torch import Tensor, nn


class InputPredictor(nn.Module):
    """A binary classifier on decoder states of a full mask: P(position i is masked | X).

    Args:
        model_dim: width of the decoder states.
    """

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
