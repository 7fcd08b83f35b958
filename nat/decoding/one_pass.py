"""One bidirectional pass over masks: vanilla non-autoregressive decoding."""

import torch
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass
from torch import Tensor

from nat.decoding.canvas import Positions, masked_canvases
from nat.decoding.hypothesis import Hypothesis
from nat.decoding.passes import Pass
from nat.transformer.length import CLASSES
from nat.transformer.model import Transformer


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class OnePass:
    """Each position takes its most probable symbol; lengths come from the length predictor.

    The score is the mean log-probability per token. The length with the highest score is the result
    (the likelier length of equal ones). Probabilities are those of the full softmax; special
    symbols other than UNK are never chosen, except the empty token by a model that was trained with
    it (AXE), which is then dropped.

    With more than one length this is length-parallel decoding (LPD, Wei et al. 2019), and the other
    options are the "decoding tricks" of MPLE (Huang et al. 2022, appendix D).

    Attributes:
        length_beam: number of lengths that are decoded, the most probable ones.
        length_factor: factor of the predicted lengths (Ghazvininejad et al. 2020), to be tuned on a
            validation set; see `nat.decoding.canvas` for its rounding.
        deduplicate: drop a token that equals the token before it (Lee et al. 2018), after empty
            tokens are dropped; the score is that of all positions.
    """

    length_beam: int = Field(default=1, ge=1, le=CLASSES)
    length_factor: float = Field(default=1.0, gt=0.0)
    deduplicate: bool = False

    @torch.inference_mode()
    def __call__(self, model: Transformer, source: Tensor) -> list[Hypothesis]:
        """Translate source sentences [B, S] (tokens, EOS, padding on the right)."""
        canvases = masked_canvases(model, source, self.length_beam, self.length_factor)
        canvases.predict(model, canvases.real)
        return canvases.best(self.length_beam, self.deduplicate)

    @torch.inference_mode()
    def passes(self, model: Transformer, source: Tensor) -> list[list[Pass]]:
        """The pass; see `nat.decoding.passes.Traced`."""
        canvases = masked_canvases(model, source, self.length_beam, self.length_factor)
        canvases.predict(model, canvases.real)
        return canvases.recorded(self.length_beam, [Positions(canvases.real, canvases.real)])


METHOD = OnePass
