"""Mask-predict: iterative decoding of a conditional masked language model."""

from nat.alignment.reveal import least_confident
from nat.decoding.canvas import Canvases
from nat.decoding.length_parallel import LengthParallel
from nat.decoding.network import Network
from nat.decoding.options import MaskPredictDecodingOptions
from nat.transformer.model import Encoded


class MaskPredict(LengthParallel, MaskPredictDecodingOptions):
    """Predict all tokens, then mask the least probable ones and predict them again.

    Ghazvininejad et al. (2019), section 3. With T steps and N tokens, pass 1 predicts every
    position; pass t + 1 (t = 1 .. T - 1) masks the floor(N (T - t) / T) positions with the lowest
    probability (the leftmost of equal ones), predicts these again from all others, and replaces
    only their symbols and probabilities. A pass that would mask nothing is skipped.

    DiMS (Norouzi et al. 2022, section 2.2) describes a variant in which a token that was revealed
    is never masked again: each pass reveals the most probable of the tokens that are still masked.
    This is `remask: false`. The evaluation of its published code masks again, as above, and drops
    repeated neighbouring tokens at the end, which is `deduplicate: true`.

    The score is the mean log-probability per token, each from the last pass that chose it.
    """

    def refine(self, model: Network, encoded: Encoded, canvases: Canvases) -> None:
        """Mask and predict again, in place; see `LengthParallel.refine`."""
        masked = canvases.real
        for number in range(1, self.steps):
            masks = canvases.lengths * (self.steps - number) // self.steps
            maskable = canvases.real if self.remask else masked
            masked = least_confident(canvases.log_probabilities, masks, maskable)
            canvases.predict(model, encoded, masked)


METHOD = MaskPredict
