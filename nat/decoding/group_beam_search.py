"""Beam search for the semi-autoregressive Transformer: k tokens per decoder pass."""

import torch
from torch import Tensor

from nat.data.vocabulary import BOS
from nat.decoding.beams import Beams, LeftToRightSearch
from nat.decoding.forced import forced_passes
from nat.decoding.hypothesis import Hypothesis
from nat.decoding.options import GroupBeamSearchDecodingOptions
from nat.decoding.passes import Pass
from nat.transformer.model import Transformer


class GroupBeamSearch(LeftToRightSearch, GroupBeamSearchDecodingOptions):
    """Left-to-right search in which a decoder pass predicts the next k tokens independently.

    Wang et al. (2018). The tokens of a group extend the hypotheses one after the other, each with
    the distribution of its own position, so a hypothesis can end within a group. See
    `nat.decoding.beams.Beams` for the score and the end of the search.
    """

    @torch.inference_mode()
    def __call__(self, model: Transformer, source: Tensor) -> list[Hypothesis]:
        """Translate source sentences [B, S] (tokens, EOS, padding on the right)."""
        chunk = model.decoder.chunk
        assert chunk is not None
        encoded = model.encode(source)
        most = model.architecture.max_positions // chunk * chunk - 1  # whole groups must fit
        longest = self.longest(encoded.lengths).clamp(max=most)
        beams = Beams(longest, self.beam, self.length_penalty, encoded.states.dtype)
        cache = model.start(encoded, self.beam)
        shown = torch.full((len(source) * self.beam, chunk), BOS, device=source.device)
        passes = torch.zeros_like(longest)
        while beams.sentences.numel():
            states = model.step(shown, cache)
            passes[beams.sentences] += 1
            for place in range(chunk):
                order = beams.advance(states[:, place], model.output, cache)
                states = states[order]
                if not beams.sentences.numel():
                    break
            shown = beams.prefixes[:, :, beams.length - chunk : beams.length].flatten(0, 1)
        return [
            Hypothesis(kept[0].tokens, kept[0].score, steps)
            for kept, steps in zip(beams.results(), passes.tolist(), strict=True)
        ]

    def passes(self, model: Transformer, source: Tensor) -> list[list[Pass]]:
        """The passes, without the rest of the beam; see `nat.decoding.passes.Traced`."""
        return forced_passes(model, source, self(model, source))


METHOD = GroupBeamSearch
