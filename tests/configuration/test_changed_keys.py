"""Changed keys of systems and recipes, what follows from a length, and what is shown of both."""

from typing import Any

import pytest
import yaml

from nat.configuration import Configuration, RunChoice, differences
from nat.configuration.configuration import dependencies
from nat.configuration.merging import changed_recipe
from nat.configuration.models import Start
from nat.configuration.recipes import Lengths, Recipe
from nat.configuration.shown import compared, effective
from tests.configuration.test_configuration import RECIPE, Folder, check_words
from tests.messages import must_name, told
from tests.repository import configured


def overridden(folder: Folder, *changes: str) -> Configuration:
    return folder.load(RunChoice(name="other", override=changes))


def lengths(configuration: Configuration, system: str) -> tuple[Any, ...]:
    recipe = configuration.training("own", system).recipe
    return recipe.updates, recipe.warmup_updates, recipe.save_every, recipe.validate_every


# Recipes


def test_a_variant_has_a_recipe_with_other_keys(folder: Folder) -> None:
    folder.files["systems/fast"] = {
        "like": "cmlm",
        "variants": {
            "faster": {"description": "a", "recipe": {"like": "student", "learning_rate": 3e-3}},
            "fastest": {"description": "b", "recipe": {"learning_rate": 9e-3, "updates": 100}},
            "deeper": {"description": "c", "like": "fastest", "recipe": {"dropout": 0.1}},
            "another": {"description": "d", "like": "fastest", "recipe": {"like": "teacher"}},
        },
    }
    found, plain = folder.load(), folder.load().training("own", "cmlm").as_json()

    def changed(system: str) -> list[str]:
        return differences(plain, found.training("own", system).as_json() | {"system": "cmlm"})

    assert changed("faster") == ["recipe.learning_rate: 0.0005 is now 0.003"]
    assert lengths(found, "cmlm") == (300, 30, 30, 30)  # of the scale
    assert lengths(found, "fastest") == (100, 10, 10, 10)
    assert "recipe.dropout: 0.3 is now 0.1" in changed("deeper")
    assert {*changed("fastest")} <= {*changed("deeper")}
    assert found.training("own", "another").recipe == found.training("own", "at").recipe
    # what is equal is trained once, and what changes the recipe changes all that are like it
    folder.files["systems/same"] = {"like": "nat", "description": "e", "recipe": {"dropout": 0.3}}
    assert folder.load().canonical("own", "same") == "nat"
    found = overridden(folder, "recipes.student.dropout=0.2", "systems.faster.recipe.updates=600")
    assert found.training("own", "faster").recipe.dropout == 0.2
    assert found.training("own", "faster").recipe.learning_rate == 3e-3
    assert lengths(found, "faster") == (600, 60, 60, 60)


def test_a_task_has_a_recipe_with_other_keys(folder: Folder) -> None:
    folder.files["systems/cmlm"]["tasks"] = {"wmt14-de-en": {"recipe": {"updates": 30}}}
    found = folder.load()
    assert lengths(found, "cmlm") == (300, 30, 30, 30)
    assert found.training("reverse", "cmlm").recipe.updates == 30


def test_at_a_scale_a_recipe_may_be_another_one(folder: Folder) -> None:
    folder.files["recipes/own"] = {**RECIPE, "updates": 7000, "dropout": 0.7}
    folder.files["recipes/third"] = {**RECIPE, "batch_tokens": 99, "dropout": 0.6}
    of_scale = folder.files["scales/tiny"]["recipes"]
    of_scale |= {"own": {"as": "student"}, "third": {"as": "own"}, "teacher": {"updates": 500}}
    # a scale that is like another one changes a recipe that the other replaces, and back
    changes = {"third": {"updates": 500}, "teacher": {"as": "student", "learning_rate": 3e-3}}
    folder.files["scales/wide"] = {"like": "tiny", "description": "wider", "recipes": changes}
    configuration, wide = folder.load(), folder.load("wide")
    student = configuration.recipe("student")
    assert configuration.recipe("own") == configuration.recipe("third") == student
    assert folder.load("large").recipe("own").updates == 7000
    assert (wide.recipe("third").batch_tokens, wide.recipe("third").updates) == (99, 500)
    assert wide.recipe("teacher") == student.model_copy(update={"learning_rate": 3e-3})
    # with other keys, whose lengths follow
    of_scale["own"] = {"as": "student", "learning_rate": 3e-3, "updates": 200}
    own = folder.load().recipe("own")
    assert (own.learning_rate, own.updates, own.save_every) == (3e-3, 200, 20)
    for change, words in (
        ({"as": "studen"}, ["'recipes.own'", "'studen'", "'student'"]),
        ({"as": "third"}, ["'recipes.third.as'", "own -> third -> own"]),
    ):
        of_scale["own"] = change
        check_words(folder.error(), "scales/tiny", words)


def test_lengths_follow_the_updates_that_stand_alone(folder: Folder) -> None:
    folder.files["recipes/student"]["keep"] = {"early": 100}
    change = {"updates": 500, "warmup_updates": 80, "save_every": 40, "validate_every": 20}
    folder.files["scales/tiny"]["recipes"]["student"] = change
    # of a scale, also where another one has set the others
    recipes = {"student": {"updates": 50}}
    folder.files["scales/quick"] = {"like": "tiny", "description": "a", "recipes": recipes}
    quick = folder.load("quick")
    assert lengths(quick, "nat") == (50, 8, 4, 2)
    assert quick.recipe("student").keep == {"early": 5}
    # of the command line
    short = overridden(folder, "recipes.student.updates=50")
    assert short.training("own", "nat").recipe == quick.training("own", "nat").recipe
    beside = overridden(folder, "recipes.student.updates=50", "recipes.student.warmup_updates=3")
    assert lengths(beside, "nat") == (50, 3, 4, 2)
    # as many validations belong to a checkpoint, however short
    for updates in range(2, 500):
        its = changed_recipe(change, {"updates": updates})
        assert its["save_every"] == 2 * its["validate_every"] and its["warmup_updates"] < updates
    # and what came out is shown
    text = effective(quick, "own", "nat")
    assert (
        "# lengths in config/recipes/student.yaml: updates: 1000 is now 50; warmup_updates: 100 is "
        "now 8; save_every: 100 is now 4; validate_every: 100 is now 2; keep.early: 100 is now 5\n"
    ) in text
    assert yaml.safe_load(text)["recipe"]["warmup_updates"] == 8
    assert "# lengths" not in effective(folder.load("large"), "own", "nat")


# Overrides


@pytest.mark.parametrize(
    ("change", "changed", "difference"),
    [
        ("recipes.student.dropout=0.2", {"nat", "cmlm", "dims"}, "recipe.dropout: 0.3 is now 0.2"),
        (
            "recipes.student.validation.sentences=null",
            {"nat", "cmlm", "dims"},
            "recipe.validation.sentences: 10 is now null",
        ),
        ("config.precision=bf16", {"at", "nat", "cmlm", "dims"}, "precision: fp32 is now bf16"),
        ("systems.nat.target.label_smoothing=0", {"nat"}, "target.label_smoothing: 0.1 is now 0"),
        ("systems.cmlm.text=raw", {"cmlm"}, 'text: {"distilled": {"system": "at", "decoding": '),
        ("systems.at.size=wide", {"at"}, "architecture.model_dim: 8 is now 16"),
        ("sizes.base.ffn_dim=32", {"at", "nat", "cmlm", "dims"}, "architecture.ffn_dim: 16 is"),
        ("scale.sizes.base.ffn_dim=32", {"at", "nat", "cmlm", "dims"}, "architecture.ffn_dim: 16"),
        ("systems.dims-0.5.recipe.dropout=0", {"dims-0.5"}, "recipe.dropout: 0.3 is now 0"),
        ("scale.recipes.teacher.dropout=0", {"at"}, "recipe.dropout: 0.3 is now 0"),
    ],
)
def test_every_key_can_be_overridden(
    folder: Folder, change: str, changed: set[str], difference: str
) -> None:
    sharper = {"target": {"method": "dims", "ema_decay": 0.5}}
    folder.files["systems/dims-0.5"] = {**folder.files["systems/dims"], **sharper}
    plain, found = folder.load(), overridden(folder, change)
    assert (plain.run, found.run) == ("tiny", "tiny@other")
    all_changed = {
        name: what
        for name in plain.systems
        if (what := differences(*(e.training("own", name).as_json() for e in (plain, found))))
    }
    assert {*all_changed} - {"dims-0.5"} == changed - {"dims-0.5"}
    for name in changed:
        assert all_changed[name][0].startswith(difference)


def test_an_override_counts_on_every_task_and_at_every_scale(folder: Folder) -> None:
    folder.files["systems/nat"]["tasks"] = {"wmt14-de-en": {"target": {"label_smoothing": 0.3}}}
    folder.files["scales/tiny"]["targets"] = {"nat": {"label_smoothing": 0.2}}
    found = overridden(folder, "systems.nat.target.label_smoothing=0.05")
    for corpus in ("own", "reverse"):
        assert found.training(corpus, "nat").target.options["label_smoothing"] == 0.05


def test_decodings_are_overridden_one_by_one(folder: Folder) -> None:
    folder.files["decodings/greedy"] = {"name": "greedy-{beam}", "method": "beam_search"}
    found = overridden(folder, "decodings.greedy-3.length_penalty=0.5", "decodings.beam.beam=2")
    assert found.decoding("greedy-3").options["length_penalty"] == 0.5
    assert found.decoding("greedy-3").options["beam"] == 3
    assert found.decoding("greedy-4").options["length_penalty"] != 0.5
    assert found.decoding("beam").options["beam"] == 2
    found = overridden(folder, "decodings.greedy-{beam}.length_penalty=0.5")
    assert found.decoding("greedy-4").options["length_penalty"] == 0.5


def test_a_changed_corpus_is_another_one(folder: Folder) -> None:
    folder.files["corpora/part"] = {
        **{key: folder.files["corpora/own"][key] for key in ("source", "target", "preprocessing")},
        "derived": {"from": "own", "side": "no"},
    }
    plain = folder.load()
    found = overridden(folder, "corpora.own.preprocessing.sentencepiece=50")
    assert found.tasks == {"wmt14-en-de": "own@other", "wmt14-de-en": "reverse"}
    assert found.corpus("own") == plain.corpus("own")
    assert found.corpus("own@other").preprocessing.bpe_merges is None
    assert found.corpus("part@other").derived.source == "own@other"  # type: ignore[union-attr]
    assert found.training("own@other", "nat").corpus == "own@other"


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


def test_the_settings_of_a_system_are_those_of_its_training() -> None:
    configuration = configured("paper")
    text = effective(configuration, "wmt16-en-ro", "hrt-kd")
    training = configuration.training("wmt16-en-ro", "hrt-kd").as_json()
    assert yaml.safe_load(text) == {
        key: value for key, value in training.items() if key not in ("corpus", "system")
    }
    assert training["recipe"]["updates"] == 100000  # of the task
    first, elsewhere, _ = text.split("\n", 2)
    assert first == "# hrt-kd on wmt16-en-ro, scale paper: config/systems/hrt.yaml: 'hrt-kd'"
    others = elsewhere.removeprefix("# differs on ").removesuffix(": see --corpus").split(", ")
    assert "wmt14-en-de" in others and "wmt16-ro-en" not in others


def test_only_what_differs_between_two_systems_is_shown() -> None:
    text = compared(configured("demo"), "toy-ka-lu", "dims-cmlm-kd", "cmlm-kd")
    first, second, *found = text.splitlines()
    assert first.startswith("# dims-cmlm-kd on") and second.startswith("# cmlm-kd on")
    assert "init_from: cmlm-kd is now null" in found
    assert "target.label_smoothing: 0.1 is new" in found  # the first has no such option
    assert not any(line.startswith("architecture") for line in found)


def test_the_same_system_under_two_names() -> None:
    configuration = configured("demo")
    names = [
        name
        for name in configuration.systems
        if configuration.canonical("toy-ka-lu", name) == "at-base" != name
    ]
    assert "under the name at-base" in effective(configuration, "toy-ka-lu", names[0])
    assert "# no setting differs" in compared(configuration, "toy-ka-lu", names[0], "at-base")
