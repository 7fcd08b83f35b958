"""Revealing a random number of labels: "RND" of Gu and Kong (2021), table 4."""

import torch
from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from nat.alignment.reveal import most_confident
from nat.data.vocabulary import MASK
from nat.objective.context import BatchContext, DecoderInput
from nat.objective.first_pass import FirstPass


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class RandomReveal:
    """Reveal a uniformly drawn number of labels, regardless of the model's own predictions.

    The label of a position is the target's token, or, on an upsampled canvas, that of the model's
    best alignment. The number of revealed labels is drawn uniformly from 0 to N, as in the paper's
    published code; its section 3.4 draws the number of masked ones. As in `glancing`, at least one
    position of a canvas as long as the target stays hidden and only hidden positions carry loss; on
    an upsampled canvas all do.
    """

    trains_on_partial_targets = True

    def __call__(self, context: BatchContext) -> DecoderInput:
        """Reveal labels on the canvas [B, T]; uses streams 1 and 2 of the random numbers."""
        upsampled = context.model.decoder.upsample is not None
        if upsampled:
            first = FirstPass(context)
            canvas, labels = first.canvas, first.labels
        else:
            canvas = context.fully_masked_input()
            labels = canvas.target
        known = ~canvas.padding & labels.ne(MASK)
        most = known.sum(1)
        number = (context.uniform(1, stream=2)[:, 0] * (most + 1)).long()
        if not upsampled:
            number = number.minimum((most - 1).clamp(min=0))
        order = context.uniform(labels.size(1), stream=1).masked_fill(~known, -torch.inf)
        revealed = most_confident(order, number)
        loss_mask = ~canvas.padding if upsampled else ~canvas.padding & ~revealed
        return DecoderInput(
            torch.where(revealed, labels, canvas.tokens), canvas.padding, labels, loss_mask
        )


METHOD = RandomReveal
