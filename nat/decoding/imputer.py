"""Imputer decoding: an alignment is completed block by block, then collapsed."""

import torch
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass
from torch import Tensor

from nat.decoding.hypothesis import Hypothesis
from nat.decoding.imputation import imputed_passes, imputed_translations
from nat.decoding.passes import Pass
from nat.transformer.model import Transformer


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Imputer:
    """Impute an alignment from masks only, then merge repeats and drop blanks.

    The score is the mean log-probability per frame of the alignment, see
    `nat.decoding.imputation.Imputed`.

    Attributes:
        steps: number of decoder passes; a single one gives the best alignment, as `ctc` does.
    """

    steps: int = Field(ge=1)

    upsampled = True

    @torch.inference_mode()
    def __call__(self, model: Transformer, source: Tensor) -> list[Hypothesis]:
        """Translate source sentences [B, S] (tokens, EOS, padding on the right)."""
        return imputed_translations(model, model.encode(source), self.steps)

    def passes(self, model: Transformer, source: Tensor) -> list[list[Pass]]:
        """The passes, of frames; see `nat.decoding.passes.Traced`."""
        return imputed_passes(model, source, self.steps)


METHOD = Imputer
