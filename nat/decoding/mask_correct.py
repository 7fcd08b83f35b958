"""Mask-predict with correction: iterative decoding of CMLMC, which may replace visible tokens."""

from nat.alignment.reveal import least_confident
from nat.decoding.canvas import Canvases
from nat.decoding.length_parallel import LengthParallel
from nat.decoding.network import Network
from nat.decoding.options import MaskCorrectDecodingOptions
from nat.transformer.model import Encoded


class MaskCorrect(LengthParallel, MaskCorrectDecodingOptions):
    """Mask the least probable tokens, then predict every position again, the visible ones too.

    Huang, Perez and Volkovs (2022). The number of passes and of masks is that of `mask_predict`,
    but each pass replaces all symbols and probabilities: a model trained with `cmlmc` has learned
    that visible tokens can be wrong. A pass that masks nothing is not skipped.

    The score is the mean log-probability per token in the last pass. The evaluation of DiMS'
    published code sets `deduplicate`.
    """

    def refine(self, model: Network, encoded: Encoded, canvases: Canvases) -> None:
        """Mask, and predict every position again, in place; see `LengthParallel.refine`."""
        for number in range(1, self.steps):
            masks = canvases.lengths * (self.steps - number) // self.steps
            masked = least_confident(canvases.log_probabilities, masks, canvases.real)
            canvases.predict(model, encoded, masked, correct=True)


METHOD = MaskCorrect
