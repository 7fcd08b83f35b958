"""Noisy parallel decoding by lengths: an autoregressive assistant chooses among several lengths."""

from nat.decoding.canvas import canvases_of
from nat.decoding.hypothesis import Hypothesis
from nat.decoding.options import LengthRescoringDecodingOptions
from nat.decoding.rescoring import Rescoring
from nat.transformer.model import Encoded, Transformer


class LengthRescoring(Rescoring, LengthRescoringDecodingOptions):
    """Decode the most probable lengths in one pass each; the assistant's score selects among them.

    With the constant length predictor, 2 B + 1 lengths are those from C - B to C + B around the
    source's length (Li et al. 2019, B = 4). See `one_pass` for how the tokens are chosen, and
    `nat.decoding.rescoring` for the score.
    """

    def candidates(self, model: Transformer, encoded: Encoded) -> list[Hypothesis]:
        """One of each length."""
        canvases = canvases_of(model, encoded, self.length_beam)
        canvases.predict(model, encoded.repeat(self.length_beam), canvases.real)
        return canvases.all()


METHOD = LengthRescoring
