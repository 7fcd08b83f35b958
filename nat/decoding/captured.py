"""One parallel pass in fixed shapes, on a GPU as a captured graph: `one_pass` and `ctc`."""

from typing import Any

import torch
from pydantic import PrivateAttr
from torch import Tensor

from nat.decoding.ctc import CtcDecoding
from nat.decoding.engines.fixed_shapes import FixedPass, Graphs
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

    _graphs: Graphs | None = PrivateAttr(default=None)

    @torch.inference_mode()
    def __call__(self, model: Transformer, source: Tensor) -> list[Hypothesis]:
        """Translate source sentences [B, S] (tokens, EOS, padding on the right)."""
        if self._graphs is None or self._graphs.fixed.original is not model:
            self._graphs = Graphs(FixedPass(model, self))
        tokens, scores, fits = (each.cpu() for each in self._graphs(source))
        made = written(tokens, scores, torch.ones_like(scores, dtype=torch.long))
        if left := (~fits).nonzero()[:, 0].tolist():
            plain = OnePass(**{name: getattr(self, name) for name in OnePass.model_fields})
            for number, hypothesis in zip(left, plain(model, source[left]), strict=True):
                made[number] = hypothesis
        return deduplicated(made) if self.deduplicate else made


def captured(method: Any, precision: str = "float32") -> Any:
    """The same method in fixed shapes, if it is one pass of a model alone; else itself."""
    one_step = isinstance(method, MaskPredict) and method.steps == 1
    if not (one_step or isinstance(method, OnePass | CtcDecoding)):
        return method
    known = Captured.model_fields.keys() & type(method).model_fields.keys()
    return Captured(precision=precision, **{name: getattr(method, name) for name in known})


METHOD = Captured
