"""Mask-predict: iterative decoding of a conditional masked language model."""

import torch
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass
from torch import Tensor

from nat.decoding.canvas import masked_canvases
from nat.decoding.hypothesis import Hypothesis
from nat.decoding.reveal import least_confident
from nat.transformer.length import CLASSES
from nat.transformer.model import Transformer


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class MaskPredict:
    """Predict all tokens, then mask the least probable ones and predict them again.

    Ghazvininejad et al. (2019), section 3. With T steps and N tokens, pass 1 predicts every
    position; pass t + 1 (t = 1 .. T - 1) masks the floor(N (T - t) / T) positions of lowest
    probability (in whole numbers; of equals, the leftmost), predicts these again from all others,
    and replaces their symbols and probabilities only. A pass that masks nothing is left out.

    The score is the mean log-probability per token, each from the pass that chose it last; the
    best-scored length is the result (of equals, the likelier length). Log-probabilities are those
    of the full softmax; special symbols other than UNK are never chosen.

    Attributes:
        steps: T, decoder passes; one step is `one_pass`.
        length_beam: lengths that are tried side by side, the likeliest ones.
    """

    steps: int = Field(ge=1)
    length_beam: int = Field(default=1, ge=1, le=CLASSES)

    @torch.inference_mode()
    def __call__(self, model: Transformer, source: Tensor) -> list[Hypothesis]:
        """Translate source sentences [B, S] (tokens, EOS, padding on the right)."""
        canvases = masked_canvases(model, source, self.length_beam)
        canvases.predict(model, canvases.real)
        for number in range(1, self.steps):
            masks = canvases.lengths * (self.steps - number) // self.steps
            confidence = canvases.log_probabilities.masked_fill(~canvases.real, torch.inf)
            canvases.predict(model, least_confident(confidence, masks))
        return canvases.best(self.length_beam)


METHOD = MaskPredict
