"""Noisy parallel decoding by latents, with prefix beam search of each draw."""

import torch
from torch import Tensor

from nat.decoding.ctc_beam import PrefixSearch
from nat.decoding.hypothesis import Hypothesis
from nat.decoding.options import LatentBeamRescoringDecodingOptions
from nat.decoding.rescoring import RescoredDraws
from nat.language_model.scorer import LanguageModel
from nat.transformer.model import Transformer


class LatentBeamRescoring(RescoredDraws, PrefixSearch, LatentBeamRescoringDecodingOptions):
    """All decodings of Gu and Kong (2021), table 3, combined: `latent_rescoring` with `ctc_beam`.

    The best translation of each draw is a candidate. See `nat.decoding.rescoring` for the score.
    """

    @torch.inference_mode()
    def __call__(
        self,
        model: Transformer,
        source: Tensor,
        assistant: Transformer,
        language_model: LanguageModel | None = None,
    ) -> list[Hypothesis]:
        """Translate source sentences [B, S] (tokens, EOS, padding on the right)."""
        translations = self.search(model, self.draw(model, source), language_model)
        return self.choose(assistant, source, translations)


METHOD = LatentBeamRescoring
