"""How many dimensions of its latents a model uses: principal components of the posterior.

Fully-NAT (Gu and Kong 2021), figure 5: the posterior's means at all source positions of a text,
and the share of their variance that each principal component explains. The effective dimension is
the number of components that explain 95% of it together.
"""

from typing import Any

import numpy as np
import torch

from nat.analyses import analysis
from nat.artifacts import Analysis
from nat.job import Job
from nat.parts.latent import LatentVariables
from nat.transformer.model import Transformer

EXPLAINED = 0.95
"""Share of the variance that the effective dimensions explain together."""


def analyse(job: Job[Analysis]) -> dict[str, Any]:
    """Find the components of a system's latents on every split but the training text.

    The posterior sees the raw reference.

    Raises:
        UserError: if the model does not fit.
    """
    found = analysis.subject(job)
    splits = {}
    for split in found.splits:
        latents = posterior_means(found.model, split.sources, split.targets, found.batch_tokens)
        ratios = explained_variance(latents)
        values = {f"latent_component_{k}": 100 * ratio for k, ratio in enumerate(ratios, 1)}
        units = dict.fromkeys(values, "percent of the variance") | {
            "latent_effective_dimension": "dimensions"
        }
        values["latent_effective_dimension"] = effective_dimension(ratios)
        splits[split.name] = {
            "positions": len(latents),
            "measures": analysis.measures(values, units),
        }
    return {"splits": splits}


@torch.no_grad()
def posterior_means(
    model: Transformer,
    sources: analysis.Sentences,
    targets: analysis.Sentences,
    batch_tokens: int,
) -> np.ndarray:
    """Means of q(z | x, y) at all source positions, EOS included, float64 [n, d]."""
    latents = model.part(LatentVariables)
    assert latents is not None
    found = [np.empty((0, latents.options.dim))]
    for batch in analysis.pair_batches(model, sources, targets, batch_tokens):
        encoded = model.encode(batch.source)
        means = latents.posterior(model, encoded, batch.target).mean[~encoded.padding]
        found.append(means.double().cpu().numpy())
    return np.concatenate(found)


def explained_variance(vectors: np.ndarray) -> np.ndarray:
    """Share of the variance of vectors [n, d] that each principal component has, [d], decreasing.

    All zero if nothing varies.
    """
    if len(vectors) < 2:
        return np.zeros(vectors.shape[1])
    # singular values rather than a covariance, whose small eigenvalues may come out negative
    scale = np.linalg.svd(vectors - vectors.mean(0), compute_uv=False) ** 2
    variances = np.zeros(vectors.shape[1])
    variances[: len(scale)] = scale
    total = variances.sum()
    return variances / total if total > 0 else variances


def effective_dimension(ratios: np.ndarray) -> int:
    """The smallest number of components with `EXPLAINED` of the variance; 0 if nothing varies."""
    if not ratios.sum():
        return 0
    # rounding errors of the sum must not add a component
    return int((np.cumsum(ratios) < EXPLAINED - 1e-12).sum()) + 1
