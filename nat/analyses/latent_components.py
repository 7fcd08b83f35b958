"""The number of dimensions of its latents that a model uses: principal components of the posterior.

Fully-NAT (Gu and Kong 2021), figure 5: the posterior's means at all source positions of a text,
and the share of their variance that each principal component explains. The effective dimension is
the number of components that explain 95% of it together.
"""

import numpy as np
import torch

from nat.analyses import analysis
from nat.analyses.analysis import Found, Pairs, Subject
from nat.parts.latent import LatentVariables

EXPLAINED = 0.95
"""Share of the variance that the effective dimensions explain together."""


@analysis.of_splits
def analyse(subject: Subject, pairs: Pairs) -> Found:
    """Find the components of a system's latents; the posterior sees the raw reference."""
    latents = posterior_means(pairs)
    ratios = explained_variance(latents)
    values = {f"latent_component_{k}": 100 * ratio for k, ratio in enumerate(ratios, 1)}
    values["latent_effective_dimension"] = effective_dimension(ratios)
    return {"positions": len(latents), "measures": analysis.measures(values)}


@torch.no_grad()
def posterior_means(pairs: Pairs) -> np.ndarray:
    """Means of q(z | x, y) at all source positions, EOS included, float64 [n, d]."""
    model, latents = pairs.model, pairs.model.part(LatentVariables)
    assert latents is not None
    means = [np.empty((0, latents.options.dim))]
    for batch in pairs.batches():
        encoded = model.encode(batch.source)
        of_batch = latents.posterior(model, encoded, batch.target).mean[~encoded.padding]
        means.append(of_batch.double().cpu().numpy())
    return np.concatenate(means)


def explained_variance(vectors: np.ndarray) -> np.ndarray:
    """Share of the variance of vectors [n, d] that each principal component has, [d], decreasing.

    All zero if nothing varies.
    """
    if len(vectors) < 2:
        return np.zeros(vectors.shape[1])
    # singular values rather than a covariance, whose small eigenvalues may come out negative
    scale = np.linalg.svd(vectors - vectors.mean(0), compute_uv=False) ** 2
    variances = np.pad(scale, (0, vectors.shape[1] - len(scale)))
    total = variances.sum()
    return variances / total if total > 0 else variances


def effective_dimension(ratios: np.ndarray) -> int:
    """The smallest number of components with `EXPLAINED` of the variance; 0 if nothing varies."""
    if not ratios.sum():
        return 0
    # rounding errors of the sum must not add a component
    return int((np.cumsum(ratios) < EXPLAINED - 1e-12).sum()) + 1
