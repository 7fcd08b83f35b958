"""Noisy parallel decoding by latents, with prefix beam search of each draw."""

from functools import partial

import torch
from torch import Tensor

from nat.decoding.ctc_beam import CtcBeam
from nat.decoding.hypothesis import Hypothesis
from nat.decoding.options import LatentBeamRescoringDecodingOptions
from nat.decoding.rescoring import RescoredDraws
from nat.language_model.ngram import LanguageModel
from nat.transformer.model import Transformer


class LatentBeamRescoring(RescoredDraws, LatentBeamRescoringDecodingOptions):
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
        search = CtcBeam(**{name: getattr(self, name) for name in CtcBeam.model_fields}).search
        translate = partial(search, model, language_model=language_model)
        return self.choose(model, source, assistant, translate)


METHOD = LatentBeamRescoring
