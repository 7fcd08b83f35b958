"""The first of two passes: a model's predictions when the decoder sees nothing but masks.

It runs without gradient. The label of a position is the target's token, or, on an upsampled canvas,
that of the model's best alignment of the target with the canvas.
"""

from dataclasses import replace
from functools import cached_property

import torch
from torch import Tensor

from nat.alignment.ctc import best_alignment, own_symbols
from nat.data.vocabulary import MASK
from nat.objective.context import BatchContext, DecoderInput
from nat.transformer.model import Transformer


class FirstPass:
    """A pass over nothing but masks, of a model with the same canvas; None: the one that learns.

    Attributes:
        canvas: the decoder input of masks, [B, T].
        labels: label of each position, PAD at padding; MASK in a sentence without an alignment,
            [B, T].
        known: positions with a label, [B, T].
        upsampled: whether the canvas is.
    """

    @torch.no_grad()
    def __init__(self, context: BatchContext, model: Transformer | None = None) -> None:
        if model is not None:
            context = replace(context, model=model, encoded=model.encode(context.batch.source))
        self._context, self._output = context, context.output
        self.canvas: DecoderInput = context.fully_masked_input()
        self.labels = self.canvas.target
        self.upsampled = context.model.decoder.upsample is not None
        self._real, targets = ~self.canvas.padding, context.batch.target
        if self.upsampled:
            own = self._output.own_log_probabilities(self.states, self._real, own_symbols(targets))
            self.labels = best_alignment(own, targets, self.canvas.padding)
        self.known = self._real & self.labels.ne(MASK)

    @cached_property
    @torch.no_grad()
    def states(self) -> Tensor:
        """The last decoder states, only where they are needed, [B, T, D]."""
        return self._context.decode(self.canvas)

    @torch.no_grad()
    def predicted(self) -> Tensor:
        """Most likely symbol of each position, PAD at padding, [B, T]."""
        best = self._output.best(self.states[self._real])
        return self.canvas.tokens.masked_scatter(self._real, best.symbols)

    @torch.no_grad()
    def log_probabilities(self) -> Tensor:
        """Log-probability of each label, nats; zero at padding, [B, T]."""
        real = self._real
        own = self._output.log_probabilities(self.states[real], self.labels[real][:, None])
        return own.new_zeros(real.shape).masked_scatter(real, own)
