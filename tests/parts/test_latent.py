"""Latents: their prior and posterior, what they cost, and what sees them."""

from unittest.mock import Mock

import pytest
import torch

from nat.data.vocabulary import MASK, PAD
from nat.parts.options import LatentOptions
from nat.transformer.copying import soft_copy
from nat.transformer.gaussian import Gaussian
from tests.tiny import CROSS_ENTROPY, make_batch, make_model, make_objective

LATENT = {"dim": 4, "posterior_layers": 1}
LENGTHS = [(3, 5), (7, 2), (1, 9), (4, 1), (2, 0)]


def test_free_bits_stay_then_fall_to_zero() -> None:
    options = LatentOptions(free_bits=2.0, free_until=0.2, annealed_at=0.6)
    shares = (0.0, 0.2, 0.3, 0.4, 0.6, 1.0)
    floors = [options.floor(share) for share in shares]
    assert floors == pytest.approx([2.0, 2.0, 1.5, 1.0, 0.0, 0.0])
    at_once = LatentOptions(free_bits=2.0, free_until=0.5, annealed_at=0.5)
    assert [at_once.floor(share) for share in (0.5, 0.51)] == [2.0, 0.0]


def gaussian(seed: int, sentences: int = 2) -> Gaussian:
    generator = torch.Generator().manual_seed(seed)
    mean, spread = torch.randn(2, sentences, 3, 4, generator=generator, dtype=torch.float64)
    return Gaussian(mean, spread.exp())


def test_divergence_is_torchs() -> None:
    mine, prior = gaussian(1), gaussian(2)
    expected = torch.distributions.kl_divergence(
        torch.distributions.Normal(mine.mean, mine.deviation),
        torch.distributions.Normal(prior.mean, prior.deviation),
    ).sum(2)
    torch.testing.assert_close(mine.divergence(prior), expected)
    torch.testing.assert_close(mine.divergence(mine), torch.zeros(2, 3).double())


def test_draws_have_the_mean_and_the_deviation() -> None:
    one = gaussian(1, sentences=1)
    many = Gaussian(one.mean.expand(20000, -1, -1), one.deviation.expand(20000, -1, -1))
    drawn = many.draw(3, 5, torch.arange(20000))
    torch.testing.assert_close(drawn.mean(0), one.mean[0], rtol=0, atol=0.1)
    torch.testing.assert_close(
        drawn.std(0) / one.deviation[0], torch.ones(3, 4).double(), rtol=0, atol=0.03
    )
    cool = many.draw(3, 5, torch.arange(20000), temperature=0.1)
    torch.testing.assert_close(10 * (cool - one.mean), drawn - one.mean)
    assert torch.equal(many.draw(3, 5, torch.arange(20000), temperature=0.0), many.mean)


def test_decoding_takes_the_mean_of_the_prior() -> None:
    model, batch = make_model(parts={"latent": LATENT}, length="offset"), make_batch()
    encoded = model.encode(batch.source)
    plain = encoded.source_states
    prior = model.latent.prior(encoded)
    torch.testing.assert_close(encoded.states, plain + model.latent.output(prior.mean))
    # another latent leaves the length predictor's view as it is
    other = model.latent.added(encoded, prior.mean + 1)
    assert torch.equal(other.source_states, plain)
    assert not torch.allclose(other.states, encoded.states)
    assert torch.equal(other.repeat(2).source_states, plain.repeat_interleave(2, 0))


def test_samples_differ_by_number_and_seed() -> None:
    model, batch = make_model(parts={"latent": LATENT}), make_batch()
    encoded = model.encode(batch.source)
    sampled = model.latent.sampled(encoded, samples=3, temperature=0.5)
    assert sampled.states.shape == (12, *encoded.states.shape[1:])
    samples = sampled.states.unflatten(0, (4, 3))
    assert (samples[:, 0] != samples[:, 1]).any() and (samples[:, 1] != samples[:, 2]).any()
    fewer = model.latent.sampled(encoded, samples=1, temperature=0.5)
    torch.testing.assert_close(fewer.states, samples[:, 0])
    other = model.latent.sampled(encoded, samples=1, temperature=0.5, seed=1)
    assert not torch.allclose(other.states, fewer.states)
    cold = model.latent.sampled(encoded, samples=2, temperature=0.0)
    torch.testing.assert_close(cold.states, encoded.states.repeat_interleave(2, 0))


def test_the_divergence_joins_the_loss() -> None:
    free = {"free_bits": 3.0, "free_until": 0.3, "annealed_at": 0.5}
    model, batch = make_model(parts={"latent": {**LATENT, **free}}), make_batch(LENGTHS)
    objective = make_objective(model, "full_mask", CROSS_ENTROPY, updates=100)
    encoded = model.encode(batch.source)
    divergence = model.latent.posterior(model, encoded, batch.target).divergence(
        model.latent.prior(encoded)
    )
    # nothing to learn, nothing to pay
    real = ~encoded.padding & batch.target_lengths.gt(0)[:, None]
    for update, floor in ((10, 3.0), (40, 1.5), (60, 0.0)):
        loss = objective(model, batch, update)
        paid = (divergence.clamp(min=floor) * real).sum(1)
        torch.testing.assert_close(loss.parts["kl"], (divergence * real).sum(1))
        torch.testing.assert_close(loss.value, loss.parts["nll"] + paid)
        assert torch.equal(loss.positions, batch.target_lengths)
    objective.eval()  # validation pays all of it
    loss = objective(model, batch, 0)
    torch.testing.assert_close(loss.value, loss.parts["nll"] + loss.parts["kl"])


def test_free_bits_send_no_gradient() -> None:
    model = make_model(parts={"latent": {**LATENT, "free_bits": 1e6, "annealed_at": 0.9}}).train()
    objective = make_objective(model, "full_mask", CROSS_ENTROPY, updates=100)
    objective(model, make_batch(LENGTHS), 0).value.sum().backward()
    head = model.latent.prior_head.weight
    assert head.grad is None or not head.grad.any()
    posterior = model.latent.posterior_head.weight.grad
    assert posterior is not None and posterior.any()  # from the likelihood
    objective(model, make_batch(LENGTHS), 99).value.sum().backward()
    assert head.grad is not None and head.grad.any()


def test_training_draws_from_the_posterior() -> None:
    model, batch = make_model(parts={"latent": LATENT}), make_batch([(4, 6), (2, 3)])
    objective = make_objective(model, "full_mask", CROSS_ENTROPY)
    values = [objective(model, batch, update).parts["nll"] for update in (3, 3, 4)]
    assert torch.equal(values[0], values[1])
    assert (values[0] != values[2]).all()
    model.decode = Mock(wraps=model.decode)
    objective(model, batch, 3)
    seen = model.decode.call_args.args[2]
    encoded = model.encode(batch.source)
    drawn = model.latent.posterior(model, encoded, batch.target).draw(objective.seed, 3, batch.ids)
    torch.testing.assert_close(seen.states, model.latent.added(encoded, drawn).states)


def test_latents_in_the_decoder_input_only() -> None:
    options = {"copy": "soft", "upsample": 2.0}
    latent = {**LATENT, "added_to": "decoder_input"}
    model = make_model(parts={"latent": latent}, decoder=options)
    batch = make_batch([(4, 5), (2, 3)])
    encoded = model.encode(batch.source)
    mean = model.latent.prior(encoded).mean
    # cross-attention sees the encoder states alone, the copies their sum with the latents
    plain = make_model(decoder=options)
    plain.load_state_dict(model.state_dict(), strict=False)
    states = plain.encode(batch.source).states
    torch.testing.assert_close(encoded.states, states)
    torch.testing.assert_close(encoded.source_states, states)
    torch.testing.assert_close(encoded.copied, states + model.latent.output(mean))
    padding = model.upsampled_padding(encoded)
    tokens = torch.where(padding, PAD, MASK)
    shown, real = model.canvas(tokens, padding, encoded), ~padding
    expected = soft_copy("soft", encoded.copied, torch.tensor([4, 2]), real.sum(1), real.size(1))
    torch.testing.assert_close(shown[real], expected[real])
    other = model.latent.added(encoded, mean + 1)
    assert torch.equal(other.states, encoded.states)
    assert not torch.allclose(model.canvas(tokens, padding, other)[real], shown[real])
    assert torch.equal(other.repeat(2).copied, other.copied.repeat_interleave(2, 0))
