"""Objectives on a law with two modes (MPLE, Huang et al. 2022, figure 2).

The law is a mixture of two equal peaks over two variables, each with `VALUES` values; the words of
the paper's example are the values where the peaks lie. A model that predicts both variables
independently of each other matches their marginals if it is trained by maximum likelihood, and so
writes values of one peak beside values of the other. An objective that chooses, among several draws
of the law, the likeliest one under the model settles in one peak, although the law is less likely
under that model.

A tiny model (`nat.analyses.toy`) is trained on draws of this law for one source, and its
distribution is computed exactly.
"""

import numpy as np

from nat.analyses import analysis
from nat.analyses.analysis import Found
from nat.analyses.toy import SPLIT, logits_of_canvas, tiny, train
from nat.artifacts import Analysis
from nat.configuration.models import Training
from nat.data.batch import Batch
from nat.data.vocabulary import SPECIALS
from nat.job import Job
from nat.transformer.model import Transformer

VALUES = 24
PEAKS = ((7, 7), (16, 16))
WIDTH = 2.0
"""Standard deviation of a peak, in steps between values."""

SOURCE = [len(SPECIALS)]
UPDATES, LEARNING_RATE, DRAWS = 400, 5e-3, 64


def law() -> np.ndarray:
    """Probability of each pair of values, [VALUES, VALUES]."""
    sides = np.exp(-((np.arange(VALUES) - np.array(PEAKS)[..., None]) ** 2) / (2 * WIDTH**2))
    peaks = sides[:, 0, :, None] * sides[:, 1, None]
    return (peaks / peaks.sum((1, 2), keepdims=True)).mean(0)


def divergence(truth: np.ndarray, model: np.ndarray) -> float:
    """KL from one distribution to another, bits."""
    there = truth > 0
    return float((truth[there] * np.log2(truth[there] / model[there])).sum())


def mixed(joint: np.ndarray) -> float:
    """Probability of values on different sides of the middle between the peaks, percent."""
    middle = (PEAKS[0][0] + PEAKS[1][0] + 1) // 2
    return 100 * float(joint[:middle, middle:].sum() + joint[middle:, :middle].sum())


def analyse(job: Job[Analysis]) -> dict[str, Found]:
    """Train on the law, with one draw for each candidate of the system's text, or with one draw.

    `law` and `model` are distributions, relative to their greatest probability.
    """
    training = tiny(job.configuration.training(job.artifact.system))
    model = distribution(trained(training, job.artifact.seed))
    truth = law()
    values = {"two_modes_kl": divergence(truth, model), "two_modes_mixed": mixed(model)}
    found = {"updates": UPDATES, "measures": analysis.measures(values)}
    maps = {"law": truth, "model": model}
    shown = {name: (each / each.max()).round(4).tolist() for name, each in maps.items()}
    return {SPLIT: {**found, "values": list(range(VALUES)), **shown}}


def trained(training: Training, seed: int) -> Transformer:
    """Train a model of a configuration on draws of the law."""
    numbers, truth, choices = np.random.default_rng(seed), law().ravel(), training.text.candidates
    batches = []
    for update in range(UPDATES):
        drawn = numbers.choice(truth.size, size=(DRAWS, len(choices)), p=truth)
        pairs = np.stack(np.divmod(drawn, VALUES), 2) + len(SPECIALS)
        ids = range(update * DRAWS, (update + 1) * DRAWS)
        own = Batch.collate_candidates(ids, [SOURCE] * DRAWS, [list(row) for row in pairs])
        batches.append(own)
    return train(training, VALUES, batches, seed, LEARNING_RATE, annealed=True)


def distribution(model: Transformer) -> np.ndarray:
    """Probability of each pair of values under a model, of all pairs of these values."""
    batch = Batch.collate([0], [SOURCE], [[len(SPECIALS)] * len(PEAKS[0])])
    logits = logits_of_canvas(model, batch)[0, :, len(SPECIALS) :]
    return np.outer(*logits.softmax(1).numpy())
