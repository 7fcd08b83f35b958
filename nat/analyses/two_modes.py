"""What an objective learns of a law with two modes (MPLE, Huang et al. 2022, figure 2).

The law is a mixture of two equal peaks over two variables, each with `VALUES` values; the words of
the paper's example are the values where the peaks lie. A model that predicts both variables
independently of each other matches their marginals if it is trained by maximum likelihood, and so
writes values of one peak beside values of the other. An objective that chooses, among several draws
of the law, the likeliest one under the model settles in one peak, although the law is less likely
under that model.

Here a tiny model is trained with the objective of a system on draws of this law for one source.
Its distribution is computed exactly. Neither the model of the system nor the text of its corpus is
read.
"""

from typing import Any

import numpy as np
import torch

from nat.analyses import analysis
from nat.artifacts import Analysis
from nat.configuration.models import Training
from nat.data.batch import Batch
from nat.data.vocabulary import SPECIALS, VocabularySizes
from nat.job import Job
from nat.objective.context import BatchContext
from nat.objective.objective import Objective
from nat.registry import Method
from nat.training.model_file import build_model
from nat.transformer.architecture import Architecture
from nat.transformer.model import Transformer

VALUES = 24
PEAKS = ((7, 7), (16, 16))
WIDTH = 2.0
"""Standard deviation of a peak, in steps between values."""

SOURCE = [len(SPECIALS)]
SPLIT = "toy"
ARCHITECTURE = Architecture(
    model_dim=32, ffn_dim=64, encoder_layers=1, decoder_layers=1, heads=2, pre_norm=True
)
UPDATES, LEARNING_RATE, DRAWS = 400, 5e-3, 64

UNITS = {"two_modes_kl": "bits", "two_modes_mixed": "percent"}


def law() -> np.ndarray:
    """Probability of each pair of values, [VALUES, VALUES]."""
    places = np.arange(VALUES)
    peaks = [
        np.outer(*(np.exp(-((places - centre) ** 2) / (2 * WIDTH**2)) for centre in peak))
        for peak in PEAKS
    ]
    found: np.ndarray = sum(peak / peak.sum() for peak in peaks) / len(PEAKS)
    return found


def divergence(truth: np.ndarray, model: np.ndarray) -> float:
    """KL from one distribution to another, bits."""
    there = truth > 0
    return float((truth[there] * np.log2(truth[there] / model[there])).sum())


def mixed(found: np.ndarray) -> float:
    """Probability of values on different sides of the middle between the peaks, percent."""
    middle = (PEAKS[0][0] + PEAKS[1][0] + 1) // 2
    return 100 * float(found[:middle, middle:].sum() + found[middle:, :middle].sum())


def analyse(job: Job[Analysis]) -> dict[str, Any]:
    """Train on the law, with one draw for each candidate of the system's text, or with one draw.

    Returns:
        The divergence of the model from the law and the probability of mixed modes; under `law` and
        `model` the distributions, relative to their greatest probability.
    """
    training = toy(job.configuration.training(job.artifact.system))
    found = distribution(train(training, job.artifact.seed))
    truth = law()
    values = {"two_modes_kl": divergence(truth, found), "two_modes_mixed": mixed(found)}
    return {
        "splits": {
            SPLIT: {
                "updates": UPDATES,
                "measures": analysis.measures(values, UNITS),
                "values": list(range(VALUES)),
                "law": (truth / truth.max()).round(4).tolist(),
                "model": (found / found.max()).round(4).tolist(),
            }
        }
    }


def toy(training: Training) -> Training:
    """The effective configuration of a tiny training with the objective of a system."""
    target = training.target
    if "label_smoothing" in target.options:
        target = Method(method=target.method, **{**target.options, "label_smoothing": 0.0})
    recipe = training.recipe.model_copy(update={"dropout": 0.0, "length_loss_weight": 0.0})
    changes = {"architecture": ARCHITECTURE, "target": target, "recipe": recipe}
    return training.model_copy(update=changes)


def train(training: Training, seed: int) -> Transformer:
    """Train a model of a configuration on draws of the law."""
    torch.manual_seed(seed)
    numbers = np.random.default_rng(seed)
    model = build_model(training, VocabularySizes(len(SPECIALS) + VALUES)).train()
    objective = Objective(training, model, seed, bfloat16=False, updates=UPDATES).train()
    optimiser = torch.optim.Adam(model.parameters(), LEARNING_RATE)
    rates = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, UPDATES)
    choices = len(training.text.candidates)
    truth = law().ravel()
    for update in range(UPDATES):
        drawn = numbers.choice(truth.size, size=(DRAWS, choices), p=truth)
        pairs = np.stack(np.divmod(drawn, VALUES), 2) + len(SPECIALS)
        ids = range(update * DRAWS, (update + 1) * DRAWS)
        batch = Batch.collate_candidates(ids, [SOURCE] * DRAWS, [list(row) for row in pairs])
        loss = objective(model, batch, update)
        optimiser.zero_grad()
        (loss.value.sum() / loss.positions.sum()).backward()
        optimiser.step()
        rates.step()
    return model.eval()


@torch.no_grad()
def distribution(model: Transformer) -> np.ndarray:
    """Probability of each pair of values under a model, of all pairs of these values."""
    batch = Batch.collate([0], [SOURCE], [[len(SPECIALS)] * len(PEAKS[0])])
    context = BatchContext(model, batch, model.encode(batch.source), seed=0, update=0)
    states = context.decode(context.fully_masked_input())[0]
    logits = (states @ model.output.weight.T)[:, len(SPECIALS) :].double()
    first, second = logits.softmax(1).numpy()
    found: np.ndarray = np.outer(first, second)
    return found
