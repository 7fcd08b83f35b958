"""The Gaussian latents of a system, as configuration gives them."""

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class LatentOptions:
    """Latents and how far the posterior may depart from the prior at no cost.

    Open readings, settled here as in Shu et al. (2020), whom Gu and Kong (2021) follow: the free
    bits are those of a position, which pays max(KL, floor), not of each dimension; they stay for
    two fifths of the training, are gone after seven tenths, and so before the checkpoints of the
    mean: weights from before and after do not belong together. The code of Gu and Kong has 9k and
    18k of 300k updates; in short trainings the latents are not used yet by then, and never will.

    Attributes:
        dim: dimensions of a latent.
        posterior_layers: encoder layers for the target, and as many decoder layers.
        free_bits: the floor at the start, nats per source position.
        free_until: share of the updates during which it stays.
        annealed_at: share of the updates after which it is zero; it falls evenly until then.
    """

    dim: int = Field(default=8, ge=1)
    posterior_layers: int = Field(default=3, ge=1)
    free_bits: float = Field(default=1.0, ge=0.0)
    free_until: float = Field(default=0.4, ge=0.0, le=1.0)
    annealed_at: float = Field(default=0.7, ge=0.0, le=1.0)

    def __post_init__(self) -> None:
        if self.annealed_at < self.free_until:
            raise ValueError(
                f"annealed_at ({self.annealed_at:g}) must not be below free_until "
                f"({self.free_until:g})"
            )

    def floor(self, progress: float) -> float:
        """Nats per position that are free after this share of the updates, 0 to 1."""
        if progress <= self.free_until:
            return self.free_bits
        if progress >= self.annealed_at:
            return 0.0
        left = (self.annealed_at - progress) / (self.annealed_at - self.free_until)
        return self.free_bits * left
