"""The model of a finished training, held against the configuration."""

import torch

from nat.artifacts import Model
from nat.checksums import remedy
from nat.configuration import differences
from nat.data.vocabulary import VocabularySizes
from nat.errors import UserError
from nat.job import JobConfiguration
from nat.training.model_file import load_model
from nat.transformer.model import Transformer

SHOWN = 5
"""Most differences of configuration that a message lists."""


def matching_model(
    model: Model, configuration: JobConfiguration, sizes: VocabularySizes, *, mapped: bool = False
) -> Transformer:
    """Load a model, if it is the one that the configuration asks for; see `load_model`.

    Raises:
        UserError: as `load_model`, and if it was trained with another configuration.
    """
    device = "cuda" if torch.cuda.is_available() else "cpu"
    trained = load_model(model.path, device, sizes=sizes, mapped=mapped)
    different = differences(
        trained.training.as_json(), configuration.training(model.system).as_json()
    )
    if different:
        raise UserError(
            f"{model.path} was trained with another configuration "
            f"({'; '.join(different[:SHOWN])}); put that back, or {remedy(model.path)}"
        )
    return trained.model
