"""Tiny models that are trained with the objective of a system, on text whose law is known.

Neither the model of the system nor the text of its corpus is read.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from nat.configuration.models import Training
from nat.data.batch import Batch
from nat.data.vocabulary import SPECIALS, VocabularySizes
from nat.objective.context import BatchContext
from nat.objective.objective import Objective
from nat.registry import Method
from nat.training.model_file import build_model
from nat.transformer.architecture import Architecture
from nat.transformer.model import Encoded, Transformer

SPLIT = "toy"
ARCHITECTURE = Architecture(
    model_dim=32, ffn_dim=64, encoder_layers=1, decoder_layers=1, heads=2, pre_norm=True
)


def tiny(training: Training, **changes: Any) -> Training:
    """The effective configuration of a tiny training with the objective of a system."""
    target = training.target
    if "label_smoothing" in target.options:
        target = Method(method=target.method, **{**target.options, "label_smoothing": 0.0})
    recipe = training.recipe.model_copy(update={"dropout": 0.0, "length_loss_weight": 0.0})
    if latent := training.parts.get("latent"):
        # the default schedule of free bits is for a training of this length, unlike that of a scale
        kept = {key: latent[key] for key in ("dim", "free_bits", "added_to")}
        changes["parts"] = {"latent": {**kept, "posterior_layers": ARCHITECTURE.encoder_layers}}
    changes |= {"architecture": ARCHITECTURE, "target": target, "recipe": recipe}
    return training.model_copy(update=changes)


def train(
    training: Training,
    words: int,
    batches: Sequence[Batch],
    seed: int,
    rate: float,
    annealed: bool,
) -> Transformer:
    """Train a model of a configuration from `tiny` with Adam, on one batch in each update.

    If `annealed`, the learning rate falls like a cosine.
    """
    torch.manual_seed(seed)
    model = build_model(training, VocabularySizes(len(SPECIALS) + words)).train()
    objective = Objective(training, model, seed, bfloat16=False, updates=len(batches)).train()
    optimiser = torch.optim.Adam(model.parameters(), rate)
    rates = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, len(batches))
    for update, batch in enumerate(batches):
        loss = objective(model, batch, update)
        optimiser.zero_grad()
        (loss.value.sum() / loss.positions.sum()).backward()
        optimiser.step()
        if annealed:
            rates.step()
    return model.eval()


@torch.no_grad()
def logits_of_canvas(model: Transformer, batch: Batch, encoded: Encoded | None = None) -> Tensor:
    """Logits of all symbols on fully masked canvases, float64 [B, T, V]."""
    encoded = model.encode(batch.source) if encoded is None else encoded
    context = BatchContext(model, batch, encoded, seed=0, update=0)
    states = context.decode(context.fully_masked_input())
    return (states @ model.output.weight.T).double()
