"""Noisy parallel decoding by latents, with prefix beam search of each draw."""

from nat.decoding.ctc_beam import CtcBeam
from nat.decoding.hypothesis import Hypothesis
from nat.decoding.options import LatentBeamRescoringDecodingOptions
from nat.decoding.rescoring import RescoredDraws
from nat.language_model.ngram import LanguageModel
from nat.transformer.model import Encoded, Transformer


class LatentBeamRescoring(RescoredDraws, LatentBeamRescoringDecodingOptions):
    """All decodings of Gu and Kong (2021), table 3, combined: `latent_rescoring` with `ctc_beam`.

    The best translation of each draw is a candidate. See `nat.decoding.rescoring` for the score.
    """

    def candidates(
        self, model: Transformer, encoded: Encoded, language_model: LanguageModel | None = None
    ) -> list[Hypothesis]:
        """One of each draw."""
        search = CtcBeam(**{name: getattr(self, name) for name in CtcBeam.model_fields})
        return search.search(model, self.drawn(model, encoded), language_model)


METHOD = LatentBeamRescoring
