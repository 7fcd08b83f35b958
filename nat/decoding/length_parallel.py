"""Parallel decoding of several lengths: what decoding methods on canvases have in common."""

import copy

import torch
from torch import Tensor

from nat.decoding.canvas import Canvases, canvases_of
from nat.decoding.hypothesis import Hypothesis, deduplicated
from nat.decoding.known import Known, once
from nat.decoding.network import Network
from nat.decoding.options import ParallelLengths
from nat.decoding.passes import Moment, Pass
from nat.transformer.model import Encoded


class LengthParallel(ParallelLengths):
    """Decode the most probable lengths in parallel, beginning with one pass over masks.

    The length with the highest score is the result (the likelier length of equal ones).
    Probabilities are those of the full softmax; special symbols other than UNK are never chosen,
    except the empty token by a model that was trained with it (AXE), which is then dropped.
    """

    @torch.inference_mode()
    def __call__(
        self, model: Network, source: Tensor, known: Known | None = None
    ) -> list[Hypothesis]:
        """Translate source sentences [B, S] (tokens, EOS, padding on the right).

        `known` has what decodings with the same model have made before, and this one adds to it:
        first passes, and translations before repeated tokens are dropped.
        """
        plain = type(self), *({**vars(self), "deduplicate": False}.values())
        chosen = once(known, plain, source, lambda: self._decoded(model, source, known).best())
        return deduplicated(chosen) if self.deduplicate else chosen

    @torch.inference_mode()
    def passes(self, model: Network, source: Tensor) -> list[list[Pass]]:
        """The passes of the best length; see `nat.decoding.passes.Traced`."""
        return self._decoded(model, source, history=[]).recorded()

    def refine(self, model: Network, encoded: Encoded, canvases: Canvases) -> None:
        """Decode N canvases in place after the first pass; without a method's own, no more.

        `encoded` has the encoder states of the sentence of each canvas, [N, S, D].
        """

    def _decoded(
        self,
        model: Network,
        source: Tensor,
        known: Known | None = None,
        history: list[Moment] | None = None,
    ) -> Canvases:
        """Canvases after the last pass."""
        of_sentences = model.encode(source)
        encoded = of_sentences.repeat(self.length_beam)
        factor = getattr(self, "length_factor", 1.0)  # an option of `one_pass`

        def predict() -> Canvases:
            canvases = canvases_of(model, of_sentences, self.length_beam, factor, history)
            canvases.predict(model, encoded, canvases.real)
            return canvases

        first = once(known, (self.length_beam, factor), source, predict)
        canvases = first if known is None else copy.deepcopy(first)
        self.refine(model, encoded, canvases)
        return canvases
