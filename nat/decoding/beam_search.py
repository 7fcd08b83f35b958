"""Beam search for autoregressive models."""

import torch
from pydantic import ConfigDict
from pydantic.dataclasses import dataclass
from torch import Tensor

from nat.decoding.beams import LeftToRightSearch
from nat.decoding.hypothesis import Hypothesis
from nat.transformer.model import Transformer


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class BeamSearch(LeftToRightSearch):
    """Left-to-right search that keeps the `beam` best open hypotheses of each sentence.

    See `nat.decoding.beams.Beams` for the score and the end of the search. A beam of one is greedy
    decoding.
    """

    decoding_order = "autoregressive"

    @torch.inference_mode()
    def __call__(self, model: Transformer, source: Tensor) -> list[Hypothesis]:
        """Translate source sentences [B, S] (tokens, EOS, padding on the right)."""
        encoded = model.encode(source)
        most = model.architecture.max_positions - 1  # BOS takes one
        longest = self.longest(encoded.lengths).clamp(max=most)
        return [best for best, *_ in self.search(model, encoded, longest)]


METHOD = BeamSearch
