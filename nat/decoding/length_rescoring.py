"""Noisy parallel decoding by lengths: an autoregressive assistant chooses among several lengths."""

import torch
from torch import Tensor

from nat.decoding.canvas import canvases_of
from nat.decoding.hypothesis import Hypothesis
from nat.decoding.options import LengthRescoringDecodingOptions
from nat.decoding.rescoring import best_of_assistant
from nat.transformer.model import Transformer


class LengthRescoring(LengthRescoringDecodingOptions):
    """Decode the most probable lengths in one pass each; the assistant's score selects among them.

    With the constant length predictor, 2 B + 1 lengths are those from C - B to C + B around the
    source's length (Li et al. 2019, B = 4). See `one_pass` for how the tokens are chosen, and
    `nat.decoding.rescoring` for the score.
    """

    @torch.inference_mode()
    def __call__(
        self, model: Transformer, source: Tensor, assistant: Transformer
    ) -> list[Hypothesis]:
        """Translate source sentences [B, S] (tokens, EOS, padding on the right)."""
        encoded = model.encode(source)
        canvases = canvases_of(model, encoded, self.length_beam)
        canvases.predict(model, encoded.repeat(self.length_beam), canvases.real)
        return best_of_assistant(assistant, source, canvases.all(), self.length_penalty)


METHOD = LengthRescoring
