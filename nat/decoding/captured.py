"""One parallel pass in fixed shapes, on a GPU as a captured graph: `one_pass` and `ctc`."""

from typing import Any

import torch
from pydantic import PrivateAttr
from torch import Tensor

from nat.decoding.beam_search import BeamSearch
from nat.decoding.captured_beam import CapturedBeam
from nat.decoding.ctc import CtcDecoding
from nat.decoding.engines.fixed_pass import FixedPass
from nat.decoding.engines.graphs import Graphs
from nat.decoding.hypothesis import Hypothesis, deduplicated, written
from nat.decoding.mask_predict import MaskPredict
from nat.decoding.one_pass import OnePass
from nat.decoding.options import CapturedDecodingOptions
from nat.transformer.model import Transformer


class Captured(CapturedDecodingOptions):
    """The translations and scores of `one_pass` or, on an upsampled canvas, of `ctc`.

    With float32 they are the same but for rounding. Sentences with a predicted length that has no
    room are translated by these methods themselves.
    """

    _graphs: dict[Transformer, Graphs] = PrivateAttr(default_factory=dict)

    @torch.inference_mode()
    def __call__(self, model: Transformer, source: Tensor) -> list[Hypothesis]:
        """Translate source sentences [B, S] (tokens, EOS, padding on the right)."""
        if model not in self._graphs:
            self._graphs = {model: Graphs(model, self, FixedPass)}
        graphs = self._graphs[model]
        [run] = graphs.of(source) or FixedPass(graphs.model, self, source).parts
        tokens, scores, fits = (each[: len(source)].cpu() for each in run())
        made = written(tokens, scores, torch.ones_like(scores, dtype=torch.long))
        if left := (~fits).nonzero()[:, 0].tolist():
            plain = OnePass(**{name: getattr(self, name) for name in OnePass.model_fields})
            for number, hypothesis in zip(left, plain(model, source[left]), strict=True):
                made[number] = hypothesis
        return deduplicated(made) if self.deduplicate else made


def captured(method: Any, precision: str = "float32") -> Any:
    """The same method in fixed shapes, if it is one pass or beam search of a model; else itself."""
    one_step = isinstance(method, MaskPredict) and method.steps == 1
    searches = type(method) is BeamSearch
    if not (one_step or searches or isinstance(method, OnePass | CtcDecoding)):
        return method
    kind: Any = CapturedBeam if searches else Captured
    known = kind.model_fields.keys() & type(method).model_fields.keys()
    return kind(precision=precision, **{name: getattr(method, name) for name in known})


METHOD = Captured
