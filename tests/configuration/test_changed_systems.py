"""Changed keys: of a recipe inside a system, in a scale, and of any file on the command line."""

from typing import Any

import pytest
import yaml

from nat.configuration import Configuration, RunChoice, differences
from nat.configuration.merging import changed_recipe
from nat.configuration.shown import effective
from tests.configuration.test_configuration import RECIPE, Folder, check_words


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
