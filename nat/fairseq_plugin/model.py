"""The one fairseq model: a wrapper around the Transformer that all systems share."""

from dataclasses import dataclass, replace
from typing import Any

import torch
from fairseq.dataclass import FairseqDataclass
from fairseq.models import BaseFairseqModel, register_model

from nat.data.batch import Batch
from nat.errors import UserError
from nat.objective.context import Loss
from nat.training.model_file import build_model, load_model
from nat.transformer.model import Transformer


@dataclass
class ModelOptions(FairseqDataclass):
    """The options of the model are in the run file of the task."""


@register_model("nat", dataclass=ModelOptions)
class Model(BaseFairseqModel):
    """A system's Transformer, untrained or with the weights of the system it starts from."""

    def __init__(self, transformer: Transformer) -> None:
        super().__init__()
        self.transformer = transformer

    @classmethod
    def build_model(cls, _options: ModelOptions, task: Any) -> "Model":
        """Build the model of the task's run."""
        run = task.run
        transformer = build_model(run.training, task.vocabularies.sizes)
        if run.init_from is not None:
            start_from(transformer, run.init_from)
        return cls(transformer)

    def forward(self, objective: torch.nn.Module, batch: Batch, update: int) -> Loss:
        """The objective's loss of each sentence of a batch."""
        loss: Loss = objective(self.transformer, batch, update)
        return loss


def start_from(transformer: Transformer, path: str) -> None:
    """Load the weights of another system's model; dropout stays this system's own.

    Raises:
        UserError: if the other model has another architecture, vocabulary or length predictor.
    """
    other = load_model(path).model
    check_same_text(transformer, other, f"cannot start from {path}")
    if transformer.architecture != other.architecture:
        raise UserError(
            f"cannot start from {path}: its architecture is different ({other.architecture}, "
            f"not {transformer.architecture}); give both systems the same 'size'"
        )
    # the chunk size of the projection does not concern the weights
    if replace(transformer.decoder, chunk=None) != replace(other.decoder, chunk=None):
        raise UserError(
            f"cannot start from {path}: its decoder is different ({other.decoder}, not "
            f"{transformer.decoder}); give both systems the same 'decoder'"
        )
    shapes = [
        None
        if model.latents is None
        else (model.latents.options.dim, model.latents.options.posterior_layers)
        for model in (transformer, other)
    ]
    if shapes[0] != shapes[1]:
        raise UserError(
            f"cannot start from {path}: its latents are different (dimensions and layers of the "
            f"posterior {shapes[1]}, not {shapes[0]}); give both systems the same 'latent'"
        )
    kinds = [
        None if model.length_predictor is None else model.length_predictor.predicts
        for model in (transformer, other)
    ]
    if kinds[0] != kinds[1]:
        raise UserError(
            f"cannot start from {path}: its length predictor predicts {kinds[1]}, not {kinds[0]}; "
            "give both systems the same 'length'"
        )
    transformer.load_state_dict(other.state_dict())


def check_same_text(transformer: Transformer, other: Transformer, refused: str) -> None:
    """Refuse another system's model whose ids are not those of this corpus.

    Args:
        transformer: that is trained.
        other: that it starts or learns from.
        refused: beginning of the message.

    Raises:
        UserError: if it has another vocabulary.
    """
    mine, its = transformer.vocabulary_sizes, other.vocabulary_sizes
    if mine != its:
        remedy = "train it again on this corpus"
        raise UserError(f"{refused}: it has {its}, this corpus {mine}; {remedy}")
