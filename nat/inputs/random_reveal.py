"""Revealing a random number of labels: "RND" of Gu and Kong (2021), table 4."""

from nat.inputs.masks import reveal
from nat.inputs.options import RandomRevealOptions
from nat.objective.context import BatchContext, DecoderInput
from nat.objective.first_pass import FirstPass


class RandomReveal(RandomRevealOptions):
    """Reveal a uniformly drawn number of labels, regardless of the model's own predictions.

    The label of a position is the target's token, or, on an upsampled canvas, that of the model's
    best alignment. The number of revealed labels is drawn uniformly from 0 to N, as in the paper's
    published code; its section 3.4 draws the number of masked ones. See also `masks.reveal`.
    """

    def __call__(self, context: BatchContext) -> DecoderInput:
        """Reveal labels on the canvas [B, T]; uses streams 1 and 2 of the random numbers."""
        first = FirstPass(context)
        number = (context.uniform(1, stream=2)[:, 0] * (first.known.sum(1) + 1)).long()
        return reveal(first, number, context.uniform(first.known.size(1), stream=1))


METHOD = RandomReveal
