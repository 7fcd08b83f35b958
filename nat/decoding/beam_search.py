"""Beam search for autoregressive models."""

import torch
from torch import Tensor

from nat.data.vocabulary import EOS
from nat.decoding.beams import LeftToRightSearch
from nat.decoding.forced import forced_tokens
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
        """The passes, without the rest of the beam; see `nat.decoding.passes.Traced`.

        There is one for each group of tokens and EOS.
        """
        written, group = [one.tokens for one in self(model, source)], model.decoder.chunk or 1
        scores = forced_tokens(model, model.encode(source), written, group=group).tolist()
        sentences = []
        for tokens, its_scores in zip(([*one, EOS] for one in written), scores, strict=True):
            passes = []
            for start in range(0, len(tokens), group):
                end = min(start + group, len(tokens))
                chosen = list(range(start, end))
                passes.append(Pass(tokens[:end], chosen, chosen, its_scores[:end]))
            sentences.append(passes)
        return sentences


METHOD = BeamSearch
