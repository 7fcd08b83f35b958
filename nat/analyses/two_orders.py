"""Objectives on a text with two equally likely sentences, AB and BA.

Fully-NAT (Gu and Kong 2021), section 2 and figure 2: the two words depend on each other, so a model
that predicts its positions independently of each other also writes AA or BB. A tiny model is
trained on these two sentences of one source, and the probability of each output is computed
exactly, see `nat.analyses.toy`.
"""

import itertools

import torch

from nat.alignment.ctc import collapse
from nat.analyses import analysis
from nat.analyses.analysis import Found
from nat.analyses.toy import SPLIT, logits_of_canvas, tiny, train
from nat.artifacts import Analysis
from nat.configuration.models import Training
from nat.data.batch import Batch
from nat.data.candidates import RAW, Text
from nat.data.vocabulary import BLANK, PAD, SPECIALS
from nat.job import Job
from nat.objective.objective import Objective
from nat.parts.latent import LatentVariables
from nat.transformer.model import Transformer

A, B, FIRST, SECOND = range(len(SPECIALS), len(SPECIALS) + 4)
"""The words of the target, and those of the source."""

OUTPUTS = {"AB": (A, B), "BA": (B, A), "AA": (A, A), "BB": (B, B)}
OTHER = "other"
"""All others: of CTC and AXE shorter and longer ones, of all systems those with other words."""

UPDATES, LEARNING_RATE = 1000, 1e-3
COPIES = 16  # of each sentence in a batch; each has latents of its own
DRAWS = 1000  # from the prior, that a probability is the mean of


def analyse(job: Job[Analysis]) -> dict[str, Found]:
    """Probability of each output after training with a system's objective, in percent.

    Words are predicted without label smoothing, on raw text, and with the length of the target.
    """
    training = tiny(job.configuration.training(job.artifact.system), text=Text.of(RAW))
    batches = [batch_of([OUTPUTS["AB"], OUTPUTS["BA"]] * COPIES)] * UPDATES
    model = train(training, 4, batches, job.artifact.seed, LEARNING_RATE, annealed=False)
    values = {f"two_orders_{name}": 100 * share for name, share in shares(training, model).items()}
    return {SPLIT: {"updates": UPDATES, "measures": analysis.measures(values)}}


def batch_of(targets: list[tuple[int, int]]) -> Batch:
    """Pairs of the one source with each of these targets."""
    return Batch.collate(range(len(targets)), [[FIRST, SECOND]] * len(targets), targets)


@torch.no_grad()
def shares(training: Training, model: Transformer) -> dict[str, float]:
    """Probability of each output under a trained model, and of all others together."""
    objective = Objective(training, model, seed=0, bfloat16=False).eval()
    if objective.input.decoding_order == "autoregressive":
        nll = objective(model, batch_of([*OUTPUTS.values()]), 0).parts["nll"]
        known = dict(zip(OUTPUTS, nll.neg().exp().tolist(), strict=True))
    else:
        known = _of_canvas(model)
    return known | {OTHER: max(0.0, 1 - sum(known.values()))}


def _of_canvas(model: Transformer) -> dict[str, float]:
    """Sums over everything that can be written on a fully masked canvas of the source."""
    batch = batch_of([OUTPUTS["AB"]])
    encoded = model.encode(batch.source)
    latents = model.part(LatentVariables)
    if latents is not None:
        encoded = latents.sampled(encoded, DRAWS, temperature=1.0)
        batch = batch_of([OUTPUTS["AB"]] * DRAWS)
    log_probabilities = logits_of_canvas(model, batch, encoded).log_softmax(2)
    places = log_probabilities.size(1)
    written = torch.tensor(list(itertools.product((A, B, BLANK), repeat=places)))
    # of each sequence, the mean over draws
    chosen = log_probabilities[:, torch.arange(places), written]
    probabilities = chosen.sum(2).exp().mean(0).tolist()
    if model.decoder.upsample is not None:
        written = collapse(written, torch.zeros_like(written, dtype=torch.bool))
    sums = dict.fromkeys(OUTPUTS.values(), 0.0)
    for symbols, probability in zip(written.tolist(), probabilities, strict=True):
        output = tuple(symbol for symbol in symbols if symbol not in (BLANK, PAD))
        if output in sums:
            sums[output] += probability
    return {name: sums[output] for name, output in OUTPUTS.items()}
