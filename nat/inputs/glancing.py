"""Glancing: reveal a part of the target that grows with the errors of a first prediction.

Qian et al. (2021). On the alignment of an upsampled canvas: Gu and Kong (2021), section 3.4. The
variants are those of MPLE (Huang et al. 2022, section 4.3, table 3 and appendix E.6).
"""

import torch
from torch import Tensor

from nat.alignment.ctc import collapse
from nat.alignment.edit_distance import edit_distance
from nat.alignment.reveal import share_of
from nat.inputs.masks import reveal
from nat.inputs.options import GlancingOptions
from nat.objective.context import BatchContext, DecoderInput
from nat.objective.first_pass import FirstPass

POSITIONS, COUNT = 1, 2
"""Streams of the context's random numbers."""


class Glancing(GlancingOptions):
    """Reveal l labels, where l is proportional to the distance d of a first pass from the labels.

    The first pass has no gradient. The label of a position is the target's token, or, on an
    upsampled canvas, that of the model's best alignment.

    Where the papers are ambiguous: the deterministic l is ratio * d, rounded to the nearest integer
    (halves to the even one); a Poisson draw is cut at the length; labels that are drawn by their
    probability are drawn one after the other, without replacement; what stays hidden and carries
    loss is said in `nat.inputs.masks.reveal`. The two passes have independent dropout.
    """

    def __call__(self, context: BatchContext) -> DecoderInput:
        """Reveal labels on the canvas [B, T]."""
        first = FirstPass(context)
        order = context.uniform(first.labels.size(1), POSITIONS)
        weight = self.log_weights(first)
        if weight is not None:
            # Gumbel top-k: the largest values of log w + noise are a sample without replacement
            noise = -torch.log(-torch.log(order.double().clamp(min=1e-9)))
            order = weight + noise
        return reveal(first, self._number(context, first), order)

    def _number(self, context: BatchContext, first: FirstPass) -> Tensor:
        """Number of labels to reveal in each sentence, [B]."""
        predicted, labels = first.predicted(), first.labels
        if self.distance == "hamming":
            distance = (predicted.ne(labels) & ~first.canvas.padding).sum(1)
        else:
            if first.upsampled:
                predicted = collapse(predicted, first.canvas.padding)
            distance = edit_distance(predicted, context.batch.target)
        final = self.ratio if self.final_ratio is None else self.final_ratio
        mean = share_of(distance, self.ratio + (final - self.ratio) * context.progress)
        if self.count == "deterministic":
            return mean.round().long()
        return poisson(mean, context.uniform(1, COUNT)[:, 0], labels.size(1))

    def log_weights(self, first: FirstPass) -> Tensor | None:
        """log w of the labels, drawn in proportion to w, [B, T]; None if drawn uniformly."""
        if self.chosen == "evenly":
            return None
        weight = first.log_probabilities().double()
        if self.chosen == "likely":
            return weight
        # a label with p = 1 has weight zero and comes last
        return torch.log((-torch.expm1(weight)).clamp(min=1e-300))


def poisson(mean: Tensor, uniform: Tensor, most: int) -> Tensor:
    """Poisson draws, at most `most`, by inversion of uniform numbers in [0, 1), each [B]."""
    counts = torch.arange(most, device=mean.device, dtype=torch.float64)
    at_most = torch.special.gammaincc(counts + 1, mean.double()[:, None].clamp(min=1e-12))
    return (uniform.double()[:, None] >= at_most).sum(1)


METHOD = Glancing
