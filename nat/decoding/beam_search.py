"""Beam search for autoregressive models."""

import torch
from torch import Tensor

from nat.decoding.beams import LeftToRightSearch
from nat.decoding.forced import forced_passes
from nat.decoding.hypothesis import Hypothesis
from nat.decoding.options import BeamSearchDecodingOptions
from nat.decoding.passes import Pass
from nat.transformer.model import Transformer


class BeamSearch(LeftToRightSearch, BeamSearchDecodingOptions):
    """Left-to-right search that keeps the `beam` best open hypotheses of each sentence.

    See `nat.decoding.beams.Beams` for the score and the end of the search. A beam of one is greedy
    decoding. A model of groups of tokens writes a group with each decoder pass.
    """

    @torch.inference_mode()
    def __call__(self, model: Transformer, source: Tensor) -> list[Hypothesis]:
        """Translate source sentences [B, S] (tokens, EOS, padding on the right)."""
        encoded, chunk = model.encode(source), model.decoder.chunk or 1
        most = model.architecture.max_positions // chunk * chunk - 1  # whole groups, and BOS
        longest = self.longest(encoded.lengths).clamp(max=most)
        return [best for best, *_ in self.search(model, encoded, longest, chunk=chunk)]

    def passes(self, model: Transformer, source: Tensor) -> list[list[Pass]]:
        """The passes, without the rest of the beam; see `nat.decoding.passes.Traced`."""
        return forced_passes(model, source, self(model, source))


METHOD = BeamSearch
