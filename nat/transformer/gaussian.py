"""Normal distributions of latents."""

from dataclasses import dataclass

from torch import Tensor

from nat import randomness

STREAM = 1 << 32
"""Stream of random numbers; methods use small numbers."""


@dataclass(frozen=True)
class Gaussian:
    """Independent normal distributions.

    Attributes:
        mean: [B, S, d].
        deviation: standard deviations, [B, S, d].
    """

    mean: Tensor
    deviation: Tensor

    def draw(self, seed: int, number: int, ids: Tensor, temperature: float = 1.0) -> Tensor:
        """mean + temperature * deviation * noise, [B, S, d]; the gradient reaches both.

        The noise of a sentence follows from the seed of the run, the number of the training update,
        or of the sample in decoding, and the number of the sentence alone, of which `ids` has [B].
        """
        _, width, dim = self.mean.shape
        noise = randomness.normal(seed, number, ids, width * dim, STREAM).view_as(self.mean)
        return self.mean + temperature * self.deviation * noise.to(self.mean.dtype)

    def divergence(self, prior: "Gaussian") -> Tensor:
        """KL(self || prior) of each position, summed over its dimensions, nats, [B, S]."""
        ratio = self.deviation / prior.deviation
        shift = (self.mean - prior.mean) / prior.deviation
        return (0.5 * (ratio.square() + shift.square() - 1) - ratio.log()).sum(2)
