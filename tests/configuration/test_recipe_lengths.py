"""Lengths of a recipe: in updates or in epochs, and checkpoints that are kept on the way."""

from typing import Any

import pytest

from nat.configuration import RunChoice
from nat.configuration.configuration import dependencies
from nat.configuration.models import Start
from nat.configuration.recipes import Lengths, Recipe
from tests.configuration.test_configuration import RECIPE, Folder, check_words
from tests.messages import must_name, told


def without(*keys: str) -> dict[str, Any]:
    return {key: value for key, value in RECIPE.items() if key not in keys}


def test_a_scale_may_give_a_length_in_the_other_unit(folder: Folder) -> None:
    recipe = without("updates", "save_every", "validate_every")
    recipe |= {"epochs": 10, "validations_per_epoch": 20}
    folder.files["recipes/student"] = recipe
    folder.files["scales/tiny"]["recipes"] = {
        "student": {"updates": 300, "save_every": 20, "validate_every": 10},
        "teacher": {"epochs": 0.5},
    }
    configuration = folder.load()
    found = configuration.recipe("student")
    assert found.epochs is None and found.validations_per_epoch is None
    assert (found.updates, found.save_every, found.validate_every) == (300, 20, 10)
    teacher = configuration.recipe("teacher")
    assert teacher.epochs == 0.5 and teacher.updates is None


@pytest.mark.parametrize(
    ("recipe", "parts"),
    [
        ({**RECIPE, "epochs": 3}, ["'updates'", "'epochs'", "not both"]),
        ({**RECIPE, "warmup_epochs": 0}, ["'warmup_updates'", "'warmup_epochs'"]),
        ({**RECIPE, "validations_per_epoch": 20}, ["'save_every'", "'validations_per_epoch'"]),
        (without("updates"), ["missing key 'updates'", "'epochs'"]),
        (without("validate_every"), ["'validate_every'"]),
        (
            {**without("updates", "warmup_updates"), "epochs": 1, "warmup_epochs": 2},
            ["'warmup_epochs'", "1"],
        ),
        ({**RECIPE, "validate_every": 200}, ["'validate_every'", "200"]),
        ({**RECIPE, "keep": {"late": 1001}}, ["'keep.late'", "1001", "1000"]),
        ({**RECIPE, "keep": {"early": 10}, "patience": 5}, ["'patience'", "'keep'"]),
    ],
)
def test_errors(folder: Folder, recipe: dict[str, Any], parts: list[str]) -> None:
    folder.files["recipes/teacher"] = recipe
    must_name(folder.error(), "config/recipes/teacher.yaml", *parts)


def test_in_updates() -> None:
    recipe = without("updates", "warmup_updates", "save_every", "validate_every")
    recipe |= {"epochs": 10, "warmup_epochs": 0.25, "validations_per_epoch": 20}
    assert Recipe(**recipe).in_updates(503.5) == Lengths(5035, 126, 25, 25)
    tiny = Recipe(**recipe | {"epochs": 0.1, "warmup_epochs": 0}).in_updates(5.0)
    assert (tiny.updates, tiny.save_every) == (1, 1)
    assert Recipe(**RECIPE).in_updates(None) == Lengths(1000, 100, 100, 100)
    with told("'keep.late'", "6000"):
        Recipe(**recipe | {"keep": {"late": 6000}}).in_updates(503.5)


def test_a_moving_average_follows_the_length_of_its_training(folder: Folder) -> None:
    def decay(scale: str = "tiny") -> float:
        training = folder.load(scale).training("own", "dims")
        assert "reference_updates" not in training.as_json()["recipe"]
        return float(training.target.options["ema_decay"])

    assert decay("large") == 0.9992  # as long as the recipe says
    assert decay() == pytest.approx(0.9992 ** (1000 / 300), abs=1e-6)
    recipe = folder.files["recipes/student"]
    recipe["reference_updates"] = 3000
    assert decay() == pytest.approx(0.9992**10, abs=1e-6)
    change = folder.files["scales/tiny"]["recipes"]["student"]
    change["reference_updates"] = 300  # the scale takes the constants as they are
    assert decay() == 0.9992
    del change["reference_updates"], recipe["updates"]
    recipe["epochs"] = 10
    assert decay() == pytest.approx(0.9992**10, abs=1e-6)
    assert decay("large") == 0.9992  # the updates of an epoch are not known


def test_lengths_that_a_scale_does_not_give_follow_its_updates(folder: Folder) -> None:
    recipe, change = folder.files["recipes/student"], {"updates": 250}
    folder.files["scales/tiny"]["recipes"]["student"] = change
    recipe["keep"] = {"early": 2, "late": 800}
    found = folder.load().recipe("student")
    assert (found.warmup_updates, found.save_every, found.validate_every) == (25, 25, 25)
    assert found.keep == {"early": 1, "late": 200}
    change |= {"warmup_updates": 0, "validate_every": 5, "keep": {"late": 250}}
    found = folder.load().recipe("student")
    assert (found.warmup_updates, found.save_every, found.validate_every) == (0, 25, 5)
    assert found.keep == {"early": 1, "late": 250}
    override = ("recipes.student.updates=500", "recipes.student.warmup_updates=3")
    found = folder.load(RunChoice(name="longer", override=override)).recipe("student")
    assert (found.updates, found.warmup_updates, found.save_every) == (500, 3, 50)


def test_patience_follows_the_validations(folder: Folder) -> None:
    recipe = folder.files["recipes/student"]
    change = {"updates": 300, "save_every": 300, "validate_every": 60}
    folder.files["scales/tiny"]["recipes"]["student"] = change
    recipe["patience"] = 4  # of 10 validations
    assert folder.load().recipe("student").patience == 2  # of 5
    change["validate_every"] = 300
    assert folder.load().recipe("student").patience == 1  # never none
    del recipe["updates"], recipe["save_every"], recipe["validate_every"]
    recipe |= {"epochs": 10, "validations_per_epoch": 20, "patience": 50}
    change |= {"validate_every": 30, "save_every": 30}
    assert folder.load().recipe("student").patience == round(50 * (300 / 30) / 200)
    folder.files["scales/tiny"]["recipes"]["student"] = {"updates": 300}  # units differ
    assert folder.load().recipe("student").patience == 50


def test_decays_that_become_the_same_number_are_two_systems(folder: Folder) -> None:
    folder.files["recipes/student"]["reference_updates"] = 10**8
    for decay in (0.5, 0.9):
        target = {"method": "dims", "ema_decay": decay}
        folder.files[f"systems/dims-{decay}"] = {**folder.files["systems/dims"], "target": target}
    trainings = [folder.load().training("own", f"dims-{decay}") for decay in (0.5, 0.9)]
    assert [each.target.options["ema_decay"] for each in trainings] == [0, 0]
    assert [each.system for each in trainings] == ["dims-0.5", "dims-0.9"]


def test_the_estimate_of_a_length() -> None:
    assert Recipe(**RECIPE).estimated_tokens(0) == 1000 * 4096
    by_epochs = Recipe(**without("updates"), epochs=2.5)
    assert by_epochs.estimated_tokens(100_000) == 62 * 4096
    assert by_epochs.estimated_tokens(0) == 0


def test_a_system_starts_from_a_checkpoint_that_a_recipe_keeps(folder: Folder) -> None:
    folder.files["recipes/student"]["keep"] = {"early": 200, "late": 250}
    folder.files["scales/tiny"]["recipes"]["student"]["keep"] = {"early": 20}
    folder.files["systems/dims"]["init_from"] = {"system": "cmlm", "kept": "early"}
    configuration = folder.load()
    assert configuration.recipe("student").keep == {"early": 20, "late": 75}
    assert configuration.system("dims").init_from == Start(system="cmlm", kept="early")
    assert dependencies(configuration, "dims") == ["at", "cmlm"]
    assert configuration.methods("dims").refines
    folder.files["systems/dims"]["init_from"]["kept"] = "erly"
    check_words(folder.error(), "systems/dims", ["init_from.kept", "'erly'", "'early'"])
