"""Beam search in fixed shapes, on a GPU as captured graphs: `beam_search`."""

from functools import partial

import torch
from pydantic import PrivateAttr
from torch import Tensor

from nat.decoding.beam_search import BeamSearch
from nat.decoding.engines.fixed_search import FixedBeams, program
from nat.decoding.engines.graphs import Graphs, in_precision
from nat.decoding.hypothesis import Hypothesis
from nat.decoding.options import CapturedBeamDecodingOptions
from nat.transformer.model import Transformer

LOOK = 4
"""Steps after which a GPU is waited for, to see whether all sentences are finished."""


class CapturedBeam(BeamSearch, CapturedBeamDecodingOptions):
    """The translations and scores of `beam_search`; with float32 the same but for rounding.

    Large batches, and models that write groups of tokens, are translated by `beam_search` itself.
    """

    _model: Transformer | None = PrivateAttr(default=None)
    _copy: Transformer = PrivateAttr()
    _graphs: Graphs = PrivateAttr()

    @torch.inference_mode()
    def __call__(self, model: Transformer, source: Tensor) -> list[Hypothesis]:
        """Translate source sentences [B, S] (tokens, EOS, padding on the right)."""
        if self._model is not model:
            self._model, self._copy = model, in_precision(model, self.precision)
            self._graphs = Graphs(partial(program, self._copy, self), model.longest_source)
        parts = None if (model.decoder.chunk or 1) > 1 else self._graphs.of(source)
        if parts is None:
            return super().__call__(self._copy, source)
        begin, step = parts
        beams: FixedBeams = begin()
        for passes in range(1, beams.prefixes.size(2) + 1):
            finished: Tensor = step()
            if passes % LOOK == 0 and finished.all():
                break
        made = (beams.best, beams.best_lengths, beams.best_scores, beams.passes)
        rows = zip(*(each[: len(source)].tolist() for each in made), strict=True)
        return [Hypothesis(row[:length], score, steps) for row, length, score, steps in rows]


METHOD = CapturedBeam
