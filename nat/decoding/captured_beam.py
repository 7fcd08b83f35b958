"""Beam search in fixed shapes, on a GPU as captured graphs: `beam_search`."""

import torch
from pydantic import PrivateAttr
from torch import Tensor

from nat.decoding.beam_search import BeamSearch
from nat.decoding.engines.fixed_search import FixedSearch
from nat.decoding.engines.graphs import Graphs
from nat.decoding.hypothesis import Hypothesis
from nat.decoding.options import CapturedBeamDecodingOptions
from nat.transformer.model import Transformer

LOOK = 4
"""Steps after which a GPU is waited for, to see whether all sentences are finished."""


class CapturedBeam(BeamSearch, CapturedBeamDecodingOptions):
    """The translations and scores of `beam_search`; with float32 the same but for rounding.

    Large batches, and models that write groups of tokens, are translated by `beam_search` itself.
    """

    _graphs: dict[Transformer, Graphs] = PrivateAttr(default_factory=dict)

    @torch.inference_mode()
    def __call__(self, model: Transformer, source: Tensor) -> list[Hypothesis]:
        """Translate source sentences [B, S] (tokens, EOS, padding on the right)."""
        if model not in self._graphs:
            self._graphs = {model: Graphs(model, self, FixedSearch)}
        graphs = self._graphs[model]
        parts = None if (model.decoder.chunk or 1) > 1 else graphs.of(source)
        if parts is None:
            return super().__call__(graphs.model, source)
        begin, step = parts
        search: FixedSearch = begin()
        for passes in range(1, search.steps + 1):
            finished: Tensor = step()
            if passes % LOOK == 0 and finished.all():
                break
        made = (search.best, search.best_lengths, search.best_scores, search.passes)
        rows = zip(*(each[: len(source)].tolist() for each in made), strict=True)
        return [Hypothesis(row[:length], score, steps) for row, length, score, steps in rows]


METHOD = CapturedBeam
