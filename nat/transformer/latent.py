"""Gaussian latents of Fully-NAT, which are added to the encoder states (Gu and Kong 2021).

The model is a conditional variational auto-encoder (section 3.2 and appendix A there, after Shu et
al. 2020): a latent z of a few dimensions per source position is drawn from the posterior
q(z | x, y) in training, and from the prior p(z | x) in decoding. Training maximises

    E_q log p(y | z, x) - KL(q(z | x, y) || p(z | x)),

estimated with one reparameterised draw per sentence and update.
"""

from dataclasses import dataclass

import torch.nn.functional as F
from torch import Tensor, nn

from nat import randomness
from nat.transformer.architecture import Architecture
from nat.transformer.decoder_options import DecoderOptions
from nat.transformer.latent_options import LatentOptions
from nat.transformer.layers import DecoderLayer, EncoderLayer

STREAM = 1 << 32
"""Stream of random numbers; methods use small numbers."""

SMALLEST_DEVIATION = 1e-3
"""Lower bound of standard deviations, so that divergences are finite."""


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

        Args:
            seed: seed of the run.
            number: number of the training update, or of the sample in decoding.
            ids: sentence numbers, [B]; the noise of a sentence does not depend on other sentences.
            temperature: factor of the standard deviations.
        """
        _, width, dim = self.mean.shape
        noise = randomness.normal(seed, number, ids, width * dim, STREAM)
        return self.mean + temperature * self.deviation * noise.view_as(self.mean).to(
            self.mean.dtype
        )

    def divergence(self, prior: "Gaussian") -> Tensor:
        """KL(self || prior) of each position, summed over its dimensions, nats, [B, S]."""
        ratio = self.deviation / prior.deviation
        shift = (self.mean - prior.mean) / prior.deviation
        return (0.5 * (ratio.square() + shift.square() - 1) - ratio.log()).sum(2)


class LatentVariables(nn.Module):
    """The networks of prior and posterior, and the projection of latents to encoder states.

    Args:
        architecture: sizes of the model and of the posterior's layers.
        options: options of the latents.
        dropout: dropout of the posterior's layers.
    """

    def __init__(self, architecture: Architecture, options: LatentOptions, dropout: float) -> None:
        super().__init__()
        self.options = options
        dim, layers = architecture.model_dim, options.posterior_layers
        # ordinary layers, since bfloat16 products are too coarse for means and deviations
        self.prior_head = nn.Linear(dim, 2 * options.dim)
        self.posterior_head = nn.Linear(dim, 2 * options.dim)
        self.output = nn.Linear(options.dim, dim)
        nn.init.xavier_uniform_(self.output.weight)
        nn.init.zeros_(self.output.bias)
        for head in (self.prior_head, self.posterior_head):
            # Prior and posterior are equal at the start. Random heads give a divergence of ten
            # nats per position, which would dominate the first hundreds of updates.
            nn.init.zeros_(head.weight)
            nn.init.zeros_(head.bias)
        self.target_layers = nn.ModuleList(
            EncoderLayer(architecture, dropout) for _ in range(layers)
        )
        self.source_layers = nn.ModuleList(
            DecoderLayer(architecture, dropout, DecoderOptions()) for _ in range(layers)
        )
        final = nn.LayerNorm if architecture.pre_norm else nn.Identity
        self.target_norm, self.source_norm = final(dim), final(dim)

    def prior(self, states: Tensor) -> Gaussian:
        """p(z | x) from the last encoder states, [B, S, D]."""
        return _gaussian(self.prior_head(states))

    def posterior(
        self,
        source: Tensor,
        source_visible: Tensor,
        target: Tensor,
        target_visible: Tensor,
    ) -> Gaussian:
        """q(z | x, y) by an encoder of the target and a decoder of the source.

        Args:
            source: embedded source with positions, [B, S, D].
            source_visible: True at real tokens, [B, 1, 1, S].
            target: embedded target with positions; a row has at least one real token, [B, T, D].
            target_visible: [B, 1, 1, T].
        """
        for layer in self.target_layers:
            target = layer(target, target_visible)
        target = self.target_norm(target)
        for layer in self.source_layers:
            assert isinstance(layer, DecoderLayer)
            keys_and_values = layer.keys_and_values(target)
            source = layer(source, source_visible, False, keys_and_values, target_visible)
        return _gaussian(self.posterior_head(self.source_norm(source)))


def _gaussian(parameters: Tensor) -> Gaussian:
    mean, deviation = parameters.chunk(2, dim=-1)
    return Gaussian(mean, F.softplus(deviation) + SMALLEST_DEVIATION)
