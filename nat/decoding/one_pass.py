"""One bidirectional pass over masks: vanilla non-autoregressive decoding."""

import torch
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass
from torch import Tensor

from nat.decoding.canvas import masked_canvases
from nat.decoding.hypothesis import Hypothesis
from nat.transformer.length import CLASSES
from nat.transformer.model import Transformer


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class OnePass:
    """Each position takes its likeliest symbol; lengths come from the length predictor.

    The score is the mean log-probability per token; the best-scored length is the result (of
    equals, the likelier length). Log-probabilities are those of the full softmax; special symbols
    other than UNK are never chosen.

    Attributes:
        length_beam: lengths that are tried, the likeliest ones.
    """

    length_beam: int = Field(default=1, ge=1, le=CLASSES)

    @torch.inference_mode()
    def __call__(self, model: Transformer, source: Tensor) -> list[Hypothesis]:
        """Translate source sentences [B, S] (tokens, EOS, padding on the right)."""
        canvases = masked_canvases(model, source, self.length_beam)
        canvases.predict(model, canvases.real)
        return canvases.best(self.length_beam)


METHOD = OnePass
