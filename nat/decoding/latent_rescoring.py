"""Noisy parallel decoding by latents: an autoregressive assistant chooses among several draws."""

import torch
from torch import Tensor

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

    @torch.inference_mode()
    def __call__(
        self, model: Transformer, source: Tensor, assistant: Transformer
    ) -> list[Hypothesis]:
        """Translate source sentences [B, S] (tokens, EOS, padding on the right)."""

        def translate(encoded: Encoded) -> list[Hypothesis]:
            if model.decoder.upsample is not None:
                return imputed_translations(model, encoded, steps=1)
            canvases = canvases_of(model, encoded, 1)
            canvases.predict(model, encoded, canvases.real)
            return canvases.all()

        return self.choose(model, source, assistant, translate)


METHOD = LatentRescoring
