"""Options of the network parts: `LatentOptions` are those of `latent`."""

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from nat.traits import NetworkPart


class InputPredictorOptions(NetworkPart):
    """Of the predictor of the proxy input: none."""


class LatentOptions(NetworkPart):
    """Latents, and how much the posterior may differ from the prior at no cost.

    Gu and Kong (2021, appendix A) follow Shu et al. (2020) and anneal free bits, but print no
    schedule. Where the papers are ambiguous: free bits belong to a position, which costs
    max(KL, floor), not to each dimension, as in both published codes. The published code of Gu and
    Kong keeps the floor for 9,000 and lets it fall to zero at 18,000 of 300,000 updates:
    `free_until: 0.03`, `annealed_at: 0.06`, which a system at the paper's scale should set. The
    defaults are for trainings of one or two thousand updates, in which the latents are not in use
    after so small a share: the floor stays for 40% and is zero after 70%, which leaves enough
    updates without it before the checkpoints that are averaged.

    Attributes:
        dim: dimensions of a latent.
        posterior_layers: encoder layers for the target, and as many decoder layers.
        free_bits: initial floor, nats per source position.
        free_until: share of the updates during which the floor keeps its initial value.
        annealed_at: share of the updates after which it is zero; it falls linearly until then.
        added_to: `encoder_output`, as the paper says, so that cross-attention and `soft` copies of
            the source see the latents; or `decoder_input`, as in the published code, where only
            the copies see them.
    """

    dim: int = Field(default=8, ge=1)
    posterior_layers: int = Field(default=3, ge=1)
    free_bits: float = Field(default=1.0, ge=0.0)
    free_until: float = Field(default=0.4, ge=0.0, le=1.0)
    annealed_at: float = Field(default=0.7, ge=0.0, le=1.0)
    added_to: Literal["encoder_output", "decoder_input"] = "encoder_output"

    @model_validator(mode="after")
    def _falls(self) -> Self:
        if self.annealed_at < self.free_until:
            raise ValueError(
                f"annealed_at ({self.annealed_at:g}) must not be below free_until "
                f"({self.free_until:g})"
            )
        return self

    @property
    def form(self) -> dict[str, Any]:
        """Without the free bits, which concern no weights."""
        return {"dim": self.dim, "posterior_layers": self.posterior_layers}

    def floor(self, progress: float) -> float:
        """Nats per position that are free after this share of the updates, 0 to 1."""
        if progress <= self.free_until:
            return self.free_bits
        if progress >= self.annealed_at:
            return 0.0
        left = (self.annealed_at - progress) / (self.annealed_at - self.free_until)
        return self.free_bits * left
