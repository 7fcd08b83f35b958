"""Parallel decoding of several lengths: what decoding methods on canvases have in common."""

from collections.abc import Iterator

import torch
from torch import Tensor

from nat.decoding.canvas import Canvases, Positions, canvases_of
from nat.decoding.hypothesis import Hypothesis, deduplicated
from nat.decoding.known import Known, once
from nat.decoding.network import Network
from nat.decoding.options import ParallelLengths
from nat.decoding.passes import Pass
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
        """Translate source sentences.

        Args:
            model: with a length predictor.
            source: sentences [B, S] (tokens, EOS, padding on the right).
            known: what decodings with the same model have made before, and this one adds to: the
                first passes, and translations before repeated tokens are dropped.
        """

        def decode() -> list[Hypothesis]:
            encoded, canvases = self._begin(model, source, known)
            for _ in self.refine(model, encoded, canvases):
                pass
            return canvases.best(self.length_beam)

        plain = type(self), *({**vars(self), "deduplicate": False}.values())
        chosen = once(known, plain, source, decode)
        return deduplicated(chosen) if self.deduplicate else chosen

    @torch.inference_mode()
    def passes(self, model: Network, source: Tensor) -> list[list[Pass]]:
        """The passes of the best length; see `nat.decoding.passes.Traced`."""
        encoded, canvases = self._begin(model, source)
        return canvases.recorded(self.length_beam, self.refine(model, encoded, canvases))

    def refine(self, model: Network, encoded: Encoded, canvases: Canvases) -> Iterator[Positions]:
        """Decode in place after the first pass, pass by pass; without a method's own, no more.

        Args:
            model: the same.
            encoded: encoder states of the sentence of each canvas, [N, S, D].
            canvases: N canvases after the first pass.
        """
        return iter(())

    def _begin(
        self, model: Network, source: Tensor, known: Known | None = None
    ) -> tuple[Encoded, Canvases]:
        """Encoder states of each canvas, and canvases after the first pass."""
        of_sentences = model.encode(source)
        encoded = of_sentences.repeat(self.length_beam)

        factor = getattr(self, "length_factor", 1.0)  # an option of `one_pass`

        def predict() -> Canvases:
            canvases = canvases_of(model, of_sentences, self.length_beam, factor)
            canvases.predict(model, encoded, canvases.real)
            return canvases

        first = once(known, (self.length_beam, factor), source, predict)
        return encoded, first if known is None else first.copy()
