"""Prefix beam search over the frames of a CTC model, with an n-gram language model."""

import torch
from torch import Tensor

from nat.decoding.hypothesis import Hypothesis
from nat.decoding.options import CtcBeamDecodingOptions
from nat.decoding.prefix_search import PrefixSearch
from nat.language_model.scorer import LanguageModel
from nat.transformer.model import Transformer


class CtcBeam(PrefixSearch, CtcBeamDecodingOptions):
    """Prefix beam search of a CTC model."""

    @torch.inference_mode()
    def __call__(
        self, model: Transformer, source: Tensor, language_model: LanguageModel | None = None
    ) -> list[Hypothesis]:
        """Translate source sentences [B, S] (tokens, EOS, padding on the right)."""
        return self.search(model, model.encode(source), language_model)


METHOD = CtcBeam
