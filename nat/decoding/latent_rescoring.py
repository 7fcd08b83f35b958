"""Noisy parallel decoding by latents: an autoregressive assistant chooses among several draws."""

from nat.decoding.canvas import canvases_of
from nat.decoding.hypothesis import Hypothesis
from nat.decoding.imputation import imputed_translations
from nat.decoding.options import LatentRescoringDecodingOptions
from nat.decoding.rescoring import RescoredDraws
from nat.transformer.model import Encoded, Transformer


class LatentRescoring(RescoredDraws, LatentRescoringDecodingOptions):
    """Decode each draw in one pass; the assistant's score selects among them.

    Gu and Kong (2021), table 3: five draws from the prior at temperature 0.1. An upsampled canvas
    is decoded like `ctc`, any other one, of the most probable length, like `one_pass`. See
    `nat.decoding.rescoring` for the score.
    """

    def candidates(self, model: Transformer, encoded: Encoded) -> list[Hypothesis]:
        """One of each draw."""
        drawn = self.drawn(model, encoded)
        if model.decoder.upsample is not None:
            return imputed_translations(model, drawn, steps=1)
        canvases = canvases_of(model, drawn, 1)
        canvases.predict(model, drawn, canvases.real)
        return canvases.all()


METHOD = LatentRescoring
