"""What an objective learns of a text with two equally likely sentences, AB and BA.

Fully-NAT (Gu and Kong 2021), section 2 and figure 2: the two words depend on each other, so a model
that predicts its positions independently of each other also writes AA or BB. Here a tiny model is
trained for each system, with the objective of the system, on these two sentences of one source, and
the probability of each output is computed exactly.

Neither the model of the system nor the text of its corpus is read.
"""

import itertools
from typing import Any

import torch
from torch import Tensor

from nat.alignment.ctc import collapse
from nat.analyses import analysis, two_modes
from nat.artifacts import Analysis
from nat.configuration.models import Training
from nat.data.batch import Batch
from nat.data.candidates import RAW, Text
from nat.data.vocabulary import BLANK, PAD, SPECIALS, VocabularySizes
from nat.job import Job
from nat.objective.context import BatchContext
from nat.objective.objective import Objective
from nat.parts.latent import LatentVariables
from nat.training.model_file import build_model
from nat.transformer.model import Transformer

SPLIT = "toy"

A, B, FIRST, SECOND = range(len(SPECIALS), len(SPECIALS) + 4)
"""The words of the target, and those of the source."""

OUTPUTS = {"AB": (A, B), "BA": (B, A), "AA": (A, A), "BB": (B, B)}
OTHER = "other"
"""All others: of CTC and AXE shorter and longer ones, of all systems those with other words."""

UPDATES, LEARNING_RATE = 1000, 1e-3
COPIES = 16
"""How often a batch has each sentence; each copy has latents of its own."""

DRAWS = 1000
"""Draws from the prior that a probability is the mean of, where there are latents."""


def analyse(job: Job[Analysis]) -> dict[str, Any]:
    """Probability of each output after training with a system's objective, in percent.

    Words are predicted without label smoothing, on raw text, and with the length of the target.
    """
    training = toy(job.configuration.training(job.artifact.system))
    model = train(training, job.artifact.seed)
    values = {f"two_orders_{name}": 100 * share for name, share in shares(training, model).items()}
    measures = analysis.measures(values, dict.fromkeys(values, "percent"))
    return {"splits": {SPLIT: {"updates": UPDATES, "measures": measures}}}


def toy(training: Training) -> Training:
    """The effective configuration of a tiny training with the objective of a system."""
    changes: dict[str, Any] = {"text": Text.of(RAW)}
    latent = training.parts.get("latent")
    if latent is not None:
        # the default schedule of free bits is for a training of this length, unlike that of a scale
        kept = {key: latent[key] for key in ("dim", "free_bits", "added_to")}
        layers = two_modes.ARCHITECTURE.encoder_layers
        changes["parts"] = {"latent": {**kept, "posterior_layers": layers}}
    return two_modes.toy(training).model_copy(update=changes)


def train(training: Training, seed: int) -> Transformer:
    """Train a model of a configuration on the two sentences."""
    torch.manual_seed(seed)
    model = build_model(training, VocabularySizes(len(SPECIALS) + 4)).train()
    objective = Objective(training, model, seed, bfloat16=False, updates=UPDATES).train()
    optimiser = torch.optim.Adam(model.parameters(), LEARNING_RATE)
    batch = batch_of([OUTPUTS["AB"], OUTPUTS["BA"]] * COPIES)
    for update in range(UPDATES):
        loss = objective(model, batch, update)
        optimiser.zero_grad()
        (loss.value.sum() / loss.positions.sum()).backward()
        optimiser.step()
    return model.eval()


def batch_of(targets: list[tuple[int, int]]) -> Batch:
    """Pairs of the one source with each of these targets."""
    return Batch.collate(range(len(targets)), [[FIRST, SECOND]] * len(targets), targets)


@torch.no_grad()
def shares(training: Training, model: Transformer) -> dict[str, float]:
    """Probability of each output under a trained model, and of all others together."""
    objective = Objective(training, model, seed=0, bfloat16=False).eval()
    batch = batch_of(list(OUTPUTS.values()))
    context = BatchContext(model, batch, model.encode(batch.source), seed=0, update=0)
    if objective.input(context).causal:
        nll = objective(model, batch, 0).parts["nll"]
        found = dict(zip(OUTPUTS, nll.neg().exp().tolist(), strict=True))
    else:
        found = _of_canvas(model, batch_of([OUTPUTS["AB"]]))
    return found | {OTHER: max(0.0, 1 - sum(found.values()))}


def _of_canvas(model: Transformer, batch: Batch) -> dict[str, float]:
    """Sums over everything that can be written on a fully masked canvas of the source."""
    encoded = model.encode(batch.source)
    latents = model.part(LatentVariables)
    if latents is not None:
        encoded = latents.sampled(encoded, DRAWS, temperature=1.0)
        batch = batch_of([OUTPUTS["AB"]] * DRAWS)
    context = BatchContext(model, batch, encoded, seed=0, update=0)
    shown = context.fully_masked_input()
    states = context.decode(shown)
    log_probabilities = (states @ model.output.weight.T).double().log_softmax(2)
    written = torch.tensor(list(itertools.product((A, B, BLANK), repeat=states.size(1))))
    probabilities = _of_each(log_probabilities, written)
    if model.decoder.upsample is not None:
        written = collapse(written, torch.zeros_like(written, dtype=torch.bool)).tokens
    found = dict.fromkeys(OUTPUTS, 0.0)
    names = {output: name for name, output in OUTPUTS.items()}
    for symbols, probability in zip(written.tolist(), probabilities.tolist(), strict=True):
        output = tuple(symbol for symbol in symbols if symbol not in (BLANK, PAD))
        if output in names:
            found[names[output]] += probability
    return found


def _of_each(log_probabilities: Tensor, written: Tensor) -> Tensor:
    """Probability of each of C sequences [C, T], the mean over draws [D, T, V], [C]."""
    chosen = log_probabilities[:, torch.arange(written.size(1)), written]
    return chosen.sum(2).exp().mean(0)
