"""Mask-predict: iterative decoding of a conditional masked language model."""

from collections.abc import Iterator

import torch
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass
from torch import Tensor

from nat.alignment.reveal import least_confident
from nat.decoding.canvas import Canvases, Positions, masked_canvases
from nat.decoding.hypothesis import Hypothesis
from nat.decoding.network import Network
from nat.decoding.passes import Pass
from nat.transformer.length import CLASSES
from nat.transformer.model import Transformer


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class MaskPredict:
    """Predict all tokens, then mask the least probable ones and predict them again.

    Ghazvininejad et al. (2019), section 3. With T steps and N tokens, pass 1 predicts every
    position; pass t + 1 (t = 1 .. T - 1) masks the floor(N (T - t) / T) positions with the lowest
    probability (the leftmost of equal ones), predicts these again from all others, and replaces
    only their symbols and probabilities. A pass that would mask nothing is skipped.

    DiMS (Norouzi et al. 2022, section 2.2) describes a variant in which a token that was revealed
    is never masked again: each pass reveals the most probable of the tokens that are still masked.
    This is `remask: false`. The evaluation of its published code masks again, as above, and drops
    repeated neighbouring tokens at the end, which is `deduplicate: true`.

    The score is the mean log-probability per token, each from the last pass that chose it. The
    length with the highest score is the result (the likelier length of equal ones). Probabilities
    are those of the full softmax; special symbols other than UNK are never chosen.

    Attributes:
        steps: T, decoder passes; one step is `one_pass`.
        length_beam: number of lengths that are decoded in parallel, the most probable ones.
        remask: whether tokens that were revealed can be masked again.
        deduplicate: drop a token that equals the token before it, as in `one_pass`.
    """

    steps: int = Field(ge=1)
    length_beam: int = Field(default=1, ge=1, le=CLASSES)
    remask: bool = True
    deduplicate: bool = False

    @torch.inference_mode()
    def __call__(self, model: Transformer, source: Tensor) -> list[Hypothesis]:
        """Translate source sentences [B, S] (tokens, EOS, padding on the right)."""
        canvases = masked_canvases(model, source, self.length_beam)
        for _ in self.fill(model, canvases):
            pass
        return canvases.best(self.length_beam, self.deduplicate)

    @torch.inference_mode()
    def passes(self, model: Transformer, source: Tensor) -> list[list[Pass]]:
        """The passes of the best length; see `nat.decoding.passes.Traced`."""
        canvases = masked_canvases(model, source, self.length_beam)
        return canvases.recorded(self.length_beam, self.fill(model, canvases))

    def fill(self, model: Network, canvases: Canvases) -> Iterator[Positions]:
        """Decode canvases of masks in place, pass by pass."""
        masked = canvases.real
        for number in range(self.steps):
            if number:
                masks = canvases.lengths * (self.steps - number) // self.steps
                maskable = canvases.real if self.remask else masked
                confidence = canvases.log_probabilities.masked_fill(~maskable, torch.inf)
                masked = least_confident(confidence, masks)
            canvases.predict(model, masked)
            yield Positions(masked, masked)


METHOD = MaskPredict
