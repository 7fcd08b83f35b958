import pytest
import torch

from nat.transformer.dropout import dropout


def test_identity_outside_training_and_without_dropout() -> None:
    states = torch.randn(3, 5)
    assert dropout(states, 0.3, training=False) is states
    assert dropout(states, 0.0, training=True) is states


@pytest.mark.parametrize("probability", [0.01, 0.1, 0.3, 0.9])
def test_share_and_scale(probability: float) -> None:
    torch.manual_seed(1)
    ones = torch.ones(1000, 401)
    found = dropout(ones, probability, training=True)
    dropped = found == 0
    spread = (probability * (1 - probability) / ones.numel()) ** 0.5
    assert abs(dropped.double().mean().item() - probability) < 5 * spread + 1 / 65536
    torch.testing.assert_close(
        found[~dropped].unique(), torch.tensor([1 / (1 - probability)]), rtol=1e-4, atol=0
    )
    # neighbours come from one draw of the generator, yet are independent
    for distance in (1, 2, 3, 4):
        both = (dropped[:, distance:] & dropped[:, :-distance]).double().mean().item()
        expected = probability**2
        assert abs(both - expected) < 6 * (expected / ones.numel()) ** 0.5


def test_gradient_passes_where_values_do() -> None:
    states = torch.randn(7, 9, dtype=torch.float64, requires_grad=True)
    found = dropout(states, 0.4, training=True)
    (gradient,) = torch.autograd.grad(found.sum(), states)
    torch.testing.assert_close(gradient * states, found)


def test_follows_the_seed() -> None:
    states = torch.randn(50, 50)
    results = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        results.append(dropout(states, 0.5, training=True))
    assert torch.equal(results[0], results[1])
    assert not torch.equal(results[0], results[2])
