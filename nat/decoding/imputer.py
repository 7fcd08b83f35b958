"""Imputer decoding: an alignment is completed block by block, then collapsed."""

import torch
from torch import Tensor

from nat.decoding.hypothesis import Hypothesis
from nat.decoding.imputation import imputed_passes, imputed_translations
from nat.decoding.options import ImputerDecodingOptions
from nat.decoding.passes import Pass
from nat.transformer.model import Transformer


class ImputerDecoding(ImputerDecodingOptions):
    """Impute an alignment from masks only, then merge repeats and drop blanks.

    The score is the mean log-probability per frame of the alignment, see
    `nat.decoding.imputation.Imputed`.
    """

    @torch.inference_mode()
    def __call__(self, model: Transformer, source: Tensor) -> list[Hypothesis]:
        """Translate source sentences [B, S] (tokens, EOS, padding on the right)."""
        return imputed_translations(model, model.encode(source), self.steps)

    def passes(self, model: Transformer, source: Tensor) -> list[list[Pass]]:
        """The passes, of frames; see `nat.decoding.passes.Traced`."""
        return imputed_passes(model, source, self.steps)


METHOD = ImputerDecoding
