"""Captured CUDA graphs of programs in fixed shapes.

The processor takes several milliseconds to start the thousand kernels of a pass one by one, which
takes a GPU less than a millisecond. A captured graph starts them all at once. It repeats the same
kernels on the same memory, so nothing may depend on what is computed: neither a shape nor a branch.
Sources are therefore padded to one of a few lengths. On a processor the same programs run without
graphs.
"""

import copy
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from nat.data.vocabulary import EOS, PAD
from nat.transformer.length import ConstantLength
from nat.transformer.model import Transformer

WIDTHS = (8, 16, 24, 32, 48, 64, 96, 128)
"""Positions of padded sources, EOS included; longer ones have no graph."""

MOST_TOKENS = 2048
"""Source tokens of a padded batch, at most; larger ones keep a GPU busy without a graph."""

WARM_UPS = 2
"""Runs before a program is captured, in which libraries choose kernels and take memory."""

Part = Callable[[], Any]
"""A part of a program. What it returns is there until it runs again."""


def _in_precision(model: Transformer, precision: str) -> Transformer:
    """The model itself for float32, else a copy of it in `float16` or `bfloat16`."""
    if precision == "float32":
        return model
    made = copy.deepcopy(model).to(getattr(torch, precision))
    if isinstance(model.length_predictor, ConstantLength):  # a mean, which is rounded once
        made.length_predictor = model.length_predictor
    return made


class Graphs:
    """A program for batches of any shape: on a GPU a graph of each part for each shape that occurs.

    Args:
        model: which translates in evaluation mode, on its device.
        options: of the decoding; in their `precision`, `model` is a copy of it.
        program: makes an object, whose `parts` run one after the other, of the model, the options
            and the memory of padded sources [B, S].
    """

    def __init__(self, model: Transformer, options: Any, program: Callable[..., Any]) -> None:
        self.model = _in_precision(model, options.precision)
        self._program = partial(program, self.model, options)
        # the memory of the sources, the graphs, and the program, whose memory they work on
        self._of_shape: dict[tuple[int, ...], tuple[Tensor, Sequence[Part], Any]] = {}
        self._pool: Any = None  # memory that all graphs share, since one runs at a time

    def of(self, source: Tensor) -> Sequence[Part] | None:
        """The parts for sources [B, S]; None if the batch is too large for a graph.

        Results may have more sentences, at the end: those that fill up the shape.
        """
        padded = self.padded(source)
        if padded is None or not source.is_cuda:
            return None if padded is None else self._program(padded).parts
        shape = tuple(padded.shape)
        if shape not in self._of_shape:
            self._of_shape[shape] = self._captured(padded.clone())
        given, repeats, _ = self._of_shape[shape]
        given.copy_(padded)
        return repeats

    def padded(self, source: Tensor) -> Tensor | None:
        """Sources [B, S] in a shape that recurs; None if the batch is too large for a graph.

        Sentences that fill it up are an EOS alone.
        """
        sentences, longest = source.shape
        most = self.model.longest_source + 1
        width = next((min(each, most) for each in WIDTHS if each >= longest), None)
        rows = 1 << (sentences - 1).bit_length()
        if width is None or width < longest or rows * width > MOST_TOKENS:
            return None
        source = F.pad(source, (0, width - longest, 0, rows - sentences), value=PAD)
        source[sentences:, 0] = EOS
        return source

    def _captured(self, given: Tensor) -> tuple[Tensor, Sequence[Part], Any]:
        program, stream = self._program(given), torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(WARM_UPS):
                for part in program.parts:
                    part()
        torch.cuda.current_stream().wait_stream(stream)
        self._pool = self._pool or torch.cuda.graph_pool_handle()
        return given, [self._repeated(part) for part in program.parts], program

    def _repeated(self, part: Part) -> Part:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._pool):
            made = part()

        def repeat() -> Any:
            graph.replay()
            return made

        return repeat
