"""The model of a finished training, held against the configuration."""

from pathlib import Path

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
"""Differences of configuration that a message lists."""


def matching_model(
    model: Model, configuration: JobConfiguration, sizes: VocabularySizes, *, mapped: bool = False
) -> Transformer:
    """Load a model, if it is the one that the configuration asks for; `mapped` as in `load_model`.

    Raises:
        UserError: if it was trained with another configuration, or vocabularies of other sizes.
    """
    path = Path(model.path)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    trained = load_model(path, device, mapped=mapped)
    training = configuration.training(model.system)
    different = differences(trained.training.as_json(), training.as_json())
    if different:
        more = f"; and {len(different) - SHOWN} more" if len(different) > SHOWN else ""
        raise UserError(
            f"{path} was trained with another configuration ({'; '.join(different[:SHOWN])}{more})"
            f"; put the configuration back, or {remedy(path)}"
        )
    if trained.model.vocabulary_sizes != sizes:
        raise UserError(
            f"{path} has {trained.model.vocabulary_sizes} but {model.corpus} has {sizes}; the "
            f"corpus was made again since; {remedy(path)}"
        )
    return trained.model
