"""The one fairseq model: a wrapper around the Transformer that all systems share."""

from dataclasses import asdict, dataclass, replace
from typing import Any

import torch
from fairseq.dataclass import FairseqDataclass
from fairseq.models import BaseFairseqModel, register_model

from nat.configuration import differences
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
        UserError: as `load_model`, and if the other model has another form.
    """
    other = load_model(path, sizes=transformer.vocabulary_sizes).model
    different = differences(_form(transformer), _form(other))
    if different:
        raise UserError(
            f"cannot start from {path}: it has another form ({'; '.join(different)}); give both "
            "systems the same keys 'size', 'decoder', 'latent' and 'length'"
        )
    transformer.load_state_dict(other.state_dict())


def _form(model: Transformer) -> dict[str, Any]:
    """The form of a model's weights, and what they are for."""
    latents, predictor = model.latents, model.length_predictor
    layers = None if latents is None else latents.options.posterior_layers
    return {
        "architecture": asdict(model.architecture),
        # the chunk size of the projection does not concern the weights
        "decoder": asdict(replace(model.decoder, chunk=None)),
        "latent": None if latents is None else [latents.options.dim, layers],
        "length": None if predictor is None else predictor.predicts,
    }
