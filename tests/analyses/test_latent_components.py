"""Principal components of latents."""

import numpy as np

from nat.analyses.analysis import Pairs
from nat.analyses.latent_components import effective_dimension, explained_variance, posterior_means
from tests.tiny import make_model, make_texts


def test_the_variance_is_that_of_the_axes_however_they_are_turned() -> None:
    numbers = np.random.default_rng(0)
    scales = np.array([4.0, 2.0, 1.0, 0.0])
    plain = numbers.standard_normal((20_000, 4)) * scales + 7
    turned = plain @ np.linalg.qr(numbers.standard_normal((4, 4)))[0]
    expected = scales**2 / (scales**2).sum()
    for vectors in (plain, turned, turned + 100):
        np.testing.assert_allclose(explained_variance(vectors), expected, atol=0.01)
    np.testing.assert_allclose(
        explained_variance(turned),
        np.sort(np.linalg.eigvalsh(np.cov(turned.T)))[::-1] / np.cov(turned.T).trace(),
        atol=1e-12,
    )
    assert effective_dimension(explained_variance(turned)) == 2


def test_boundaries() -> None:
    assert effective_dimension(np.array([0.95, 0.05])) == 1
    assert effective_dimension(np.array([0.9, 0.05, 0.05])) == 2
    assert effective_dimension(np.full(8, 1 / 8)) == 8
    for vectors in (np.ones((5, 3)), np.ones((1, 3)), np.ones((0, 3))):
        assert effective_dimension(explained_variance(vectors)) == 0
    # fewer vectors than dimensions
    ratios = explained_variance(np.array([[0.0, 0, 0], [1, 2, 2]]))
    np.testing.assert_allclose(ratios, [1, 0, 0], atol=1e-12)


def test_every_source_position_once() -> None:
    model = make_model(parts={"latent": {"dim": 3}})
    sources, targets = make_texts([(3, 4), (0, 3), (6, 1), (2, 5)])
    found = posterior_means(Pairs(model, sources, targets, 1000))
    assert found.shape == (4 + 7 + 3, 3)
    other = posterior_means(Pairs(model, sources, targets[::-1], 1000))
    assert not np.allclose(other, found)
