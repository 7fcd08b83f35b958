"""Models as they are built and read: the recipe's dropout, and the mean over several files."""

from pathlib import Path

import pytest
import torch

from nat.configuration import read
from nat.data.vocabulary import VocabularySizes
from nat.training.model_file import average, build_model, write_tensors


@pytest.mark.parametrize("system", ["at-base", "vae-kd", "hrt"])
def test_the_dropout_of_the_recipe_is_in_every_layer(system: str) -> None:
    training = read("demo").training("toy-ka-lu", system)
    recipe = training.recipe.model_copy(update={"dropout": 0.37})
    model = build_model(training.model_copy(update={"recipe": recipe}), VocabularySizes(20))
    found = [each.dropout for each in model.modules() if hasattr(each, "dropout")]
    assert set(found) == {0.37} and len(found) > 2 * len(model.encoder_layers)


def test_the_mean_is_that_of_float64(tmp_path: Path) -> None:
    values = [16777216.0, 1.0, 1.0]  # in float32 each 1 is lost beside 2^24
    files = [tmp_path / f"weights_{update}.pt" for update in range(3)]
    for update, value in enumerate(values):
        weights = {"a": torch.tensor([value, 3.0]), "b": torch.full((2, 2), update * 1.5)}
        write_tensors(files[update], weights)
    mean = average(files)
    assert mean["a"].dtype == torch.float32
    assert mean["a"].tolist() == [torch.tensor(sum(values) / 3).item(), 3.0]
    assert mean["b"].tolist() == [[1.5, 1.5], [1.5, 1.5]]
