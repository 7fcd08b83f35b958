"""Gaussian latents of Fully-NAT, which are added to the encoder states (Gu and Kong 2021).

The model is a conditional variational auto-encoder (section 3.2 and appendix A there, after Shu et
al. 2020): a latent z of a few dimensions per source position is drawn from the posterior
q(z | x, y) in training, and from the prior p(z | x) in decoding. Training maximises

    E_q log p(y | z, x) - KL(q(z | x, y) || p(z | x)),

estimated with one reparameterised draw per sentence and update.
"""

from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nat import randomness
from nat.data.vocabulary import EOS, PAD
from nat.objective.context import BatchContext, DecoderInput, Loss, TrainedPart
from nat.parts.options import LatentOptions
from nat.transformer.architecture import Architecture, DecoderOptions
from nat.transformer.encoded import Encoded
from nat.transformer.gaussian import Gaussian
from nat.transformer.layers import DecoderLayer, EncoderLayer
from nat.transformer.model import Transformer

SMALLEST_DEVIATION = 1e-3
"""Lower bound of standard deviations, so that divergences are finite."""


class Latent(LatentOptions):
    """Gaussian latents at the source positions; without decoder layers there are none."""

    def __call__(self, architecture: Architecture, dropout: float) -> TrainedPart:
        """The networks of a model of these sizes."""
        return LatentVariables(architecture, self, dropout)


class LatentVariables(TrainedPart):
    """The networks of prior and posterior, and the projection of latents to encoder states.

    The layers of the posterior have the sizes of the model.
    """

    initialised_apart = True  # see below

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

    def prior(self, encoded: Encoded) -> Gaussian:
        """p(z | x), [B, S, d]; meaningless at padding."""
        return _gaussian(self.prior_head(encoded.source_states))

    def posterior(self, model: Transformer, encoded: Encoded, target: Tensor) -> Gaussian:
        """q(z | x, y) by an encoder of the target and a decoder of the source, [B, S, d].

        The latents are a part of the model; targets are without EOS, [B, T].
        """
        ends = target.ne(PAD).sum(1, keepdim=True)
        # with an EOS, so that an empty target has something to attend to
        target = torch.cat((target, torch.full_like(ends, PAD)), 1).scatter(1, ends, EOS)
        visible = target.ne(PAD)[:, None, None, :]
        states = model.with_positions(model.scaled_source_embedding(encoded.source))
        of_target = model.with_positions(model.scaled_embedding(target))
        for layer in self.target_layers:
            of_target = layer(of_target, visible)
        of_target = self.target_norm(of_target)
        for layer in self.source_layers:
            assert isinstance(layer, DecoderLayer)
            keys_and_values = layer.cross_attention.keys_and_values(of_target)
            states = layer(states, encoded.visible, False, keys_and_values, visible)
        return _gaussian(self.posterior_head(self.source_norm(states)))

    def added(self, encoded: Encoded, latents: Tensor) -> Encoded:
        """The same source with other latents, [B, S, d]."""
        plain, length = encoded.source_states, encoded.length_state
        states = plain + self.output(latents)
        if self.options.added_to == "decoder_input":
            return Encoded(
                plain, encoded.padding, encoded.source, copied=states, length_state=length
            )
        return Encoded(states, encoded.padding, encoded.source, plain, length_state=length)

    def sampled(self, encoded: Encoded, samples: int, temperature: float, seed: int = 0) -> Encoded:
        """Each sentence `samples` times in a row, with latents drawn from the prior.

        The draws of a sentence depend on its tokens, on the number of the draw and on `seed`, not
        on other sentences of the batch. The temperature is a factor of the standard deviations, 0
        for the prior's mean. States become [B * samples, S, D].
        """
        prior = self.prior(encoded)
        ids = randomness.numbers_of(encoded.source, encoded.padding)
        drawn = [prior.draw(seed, number, ids, temperature) for number in range(samples)]
        return self.added(encoded.repeat(samples), torch.stack(drawn, 1).flatten(0, 1))

    def encoded(self, encoded: Encoded) -> Encoded:
        """In decoding, the latents are the mean of the prior."""
        return self.added(encoded, self.prior(encoded).mean)

    def in_training(self, context: BatchContext) -> BatchContext:
        """In training, they are drawn from the posterior."""
        posterior = self.posterior(context.model, context.encoded, context.batch.target)
        drawn = posterior.draw(context.seed, context.update, context.batch.ids)
        encoded = replace(self.added(context.encoded, drawn), posterior=posterior)
        return replace(context, encoded=encoded)

    def with_loss(self, loss: Loss, context: BatchContext, decoder_input: DecoderInput) -> Loss:
        """Add what the latents of a sentence cost; the part `kl` is without free bits.

        Of the whole sentence, whatever share of its target carries the loss; nothing where the
        sentence has no loss.
        """
        encoded = context.encoded
        assert encoded.posterior is not None
        divergence = encoded.posterior.divergence(self.prior(encoded))
        counts = ~encoded.padding & loss.positions.gt(0)[:, None]
        paid = divergence.clamp(min=self.options.floor(context.progress))
        own, paid = (each.masked_fill(~counts, 0).sum(1) for each in (divergence, paid))
        return loss.plus(paid, kl=own)


def _gaussian(parameters: Tensor) -> Gaussian:
    mean, deviation = parameters.chunk(2, dim=-1)
    return Gaussian(mean, F.softplus(deviation) + SMALLEST_DEVIATION)


METHOD = Latent
