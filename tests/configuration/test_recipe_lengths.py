"""Lengths of a recipe: in updates or in epochs, and checkpoints that are kept on the way."""

from typing import Any

import pytest

from nat.configuration.configuration import dependencies
from nat.configuration.merging import changed_recipe
from nat.configuration.models import Start
from nat.configuration.recipes import Lengths, Recipe
from tests.configuration.test_configuration import RECIPE, Folder, check_words
from tests.messages import must_name, told


def without(*keys: str) -> dict[str, Any]:
    return {key: value for key, value in RECIPE.items() if key not in keys}


EPOCHS = without("updates", "save_every", "validate_every") | {
    "epochs": 10,
    "validations_per_epoch": 20,
    "patience": 50,
}
KEPT = {**RECIPE, "keep": {"early": 2, "late": 800}}
STATED = {"updates": 250, "warmup_updates": 0, "validate_every": 5, "keep": {"late": 250}}


@pytest.mark.parametrize(
    ("recipe", "change", "expected"),
    [
        (RECIPE, {"updates": 250}, {"warmup_updates": 25, "save_every": 25, "validate_every": 25}),
        (KEPT, {"updates": 250}, {"keep": {"early": 1, "late": 200}}),  # never none
        (KEPT, STATED, {**STATED, "save_every": 25, "keep": {"early": 1, "late": 250}}),
        # patience follows the validations
        ({**RECIPE, "patience": 4}, {"updates": 300, "validate_every": 60}, {"patience": 2}),
        ({**RECIPE, "patience": 4}, {"updates": 300, "validate_every": 300}, {"patience": 1}),
        (EPOCHS, {"updates": 300, "save_every": 30, "validate_every": 30}, {"patience": 2}),
        (EPOCHS, {"updates": 300}, {"patience": 50, "validations_per_epoch": 20}),  # units differ
        # the other unit
        (EPOCHS, {"updates": 9, "save_every": 9}, {"epochs": None, "validations_per_epoch": None}),
        (RECIPE, {"epochs": 0.5}, {"epochs": 0.5, "updates": None}),
    ],
)
def test_what_follows_from_a_changed_length(
    recipe: dict[str, Any], change: dict[str, Any], expected: dict[str, Any]
) -> None:
    found = changed_recipe(recipe, change)
    assert {key: found.get(key) for key in expected} == expected


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
