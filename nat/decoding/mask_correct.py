"""Mask-predict with correction: iterative decoding of CMLMC, which may replace visible tokens."""

from collections.abc import Iterator

import torch
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass
from torch import Tensor

from nat.alignment.reveal import least_confident
from nat.decoding.canvas import Canvases, Positions, masked_canvases
from nat.decoding.hypothesis import Hypothesis
from nat.decoding.passes import Pass
from nat.transformer.length import CLASSES
from nat.transformer.model import Transformer


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class MaskCorrect:
    """Mask the least probable tokens, then predict every position again, the visible ones too.

    Huang, Perez and Volkovs (2022). The number of passes and of masks is that of `mask_predict`,
    but each pass replaces all symbols and probabilities: a model trained with `cmlmc` has learnt
    that visible tokens can be wrong. A pass that masks nothing is not skipped.

    The score is the mean log-probability per token in the last pass. The length with the highest
    score is the result (the likelier length of equal ones). Probabilities are those of the full
    softmax; special symbols other than UNK are never chosen.

    Attributes:
        steps: T, decoder passes; one step is `one_pass`.
        length_beam: number of lengths that are decoded in parallel, the most probable ones.
        deduplicate: drop a token that equals the token before it, as in `one_pass` and in the
            evaluation of DiMS' published code.
    """

    steps: int = Field(ge=1)
    length_beam: int = Field(default=1, ge=1, le=CLASSES)
    deduplicate: bool = False

    needs_correction = True

    @torch.inference_mode()
    def __call__(self, model: Transformer, source: Tensor) -> list[Hypothesis]:
        """Translate source sentences [B, S] (tokens, EOS, padding on the right)."""
        canvases = masked_canvases(model, source, self.length_beam)
        for _ in self._decode(model, canvases):
            pass
        return canvases.best(self.length_beam, self.deduplicate)

    @torch.inference_mode()
    def passes(self, model: Transformer, source: Tensor) -> list[list[Pass]]:
        """The passes of the best length; see `nat.decoding.passes.Traced`."""
        canvases = masked_canvases(model, source, self.length_beam)
        return canvases.recorded(self.length_beam, self._decode(model, canvases))

    def _decode(self, model: Transformer, canvases: Canvases) -> Iterator[Positions]:
        """Decode canvases of masks in place, pass by pass."""
        masked = canvases.real
        for number in range(self.steps):
            if number:
                masks = canvases.lengths * (self.steps - number) // self.steps
                confidence = canvases.log_probabilities.masked_fill(~canvases.real, torch.inf)
                masked = least_confident(confidence, masks)
            canvases.predict(model, masked, correct=number > 0)
            yield Positions(masked, canvases.real)


METHOD = MaskCorrect
