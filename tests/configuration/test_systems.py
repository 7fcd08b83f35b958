"""What differs from task to task, systems that are the same, and the texts that they learn."""

from dataclasses import replace
from typing import Any

import pytest

from nat.artifacts import Score
from nat.configuration.configuration import dependencies, needed_systems
from nat.configuration.models import SystemFile
from nat.options import validated
from nat.registry import Method
from nat.workflow.graph import inputs_of
from tests.configuration.test_configuration import DISTILLED, Folder, check_words, system
from tests.messages import must_name, told

RAW = {"text": "raw"}


def test_a_task_changes_systems_and_recipes_on_its_corpus_only(folder: Folder) -> None:
    folder.files["systems/nat"]["tasks"] = {"wmt14-de-en": {**RAW, "size": "wide"}}
    folder.files["recipes/student"]["tasks"] = {"wmt14-de-en": {"dropout": 0.2, "updates": 500}}
    folder.files["scales/tiny"]["tasks"] = {"wmt14-en-de": "own", "wmt14-de-en": "other"}
    folder.files["corpora/other"] = {**folder.files["corpora/own"]}
    folder.files["corpora/third"] = {**folder.files["corpora/own"]}
    configuration = folder.load()
    plain = configuration.training("own", "nat")
    changed = configuration.training("other", "nat")
    assert (plain.text, plain.recipe.dropout) != (changed.text, 0.2)
    assert (changed.text.kind, changed.recipe.dropout) == ("raw", 0.2)
    assert changed.architecture.model_dim == 16
    assert changed.recipe.updates == 300  # the scale has the last word
    assert configuration.training("third", "nat") == plain.model_copy(update={"corpus": "third"})
    assert needed_systems(configuration.on("other"), "nat") == []
    assert needed_systems(configuration.on("own"), "nat") == [("at", "text")]


def test_one_corpus_for_two_tasks_that_differ_is_an_error(folder: Folder) -> None:
    folder.files["systems/nat"]["tasks"] = {"wmt16-en-ro": RAW}
    folder.load("tiny")
    must_name(
        folder.error("large"), "config/scales/large.yaml", "'tasks'", "config/systems/nat.yaml"
    )
    folder.files["systems/nat"]["tasks"] = {"wmt16-en-ro": RAW, "wmt14-en-de": RAW}
    assert folder.load("large").training("own", "nat").as_json()["text"] == "raw"


def test_equal_systems_are_one_and_so_are_those_that_learn_from_them(folder: Folder) -> None:
    files = folder.files
    files["systems/at-of-a-paper"] = {**files["systems/at"], "recipe": "of-a-paper"}
    files["recipes/of-a-paper"] = {**files["recipes/teacher"], "dropout": 0.7}
    files["scales/tiny"]["recipes"]["of-a-paper"] = {"as": "teacher"}
    text = {"distilled": {"system": "at-of-a-paper", "decoding": "beam"}}
    files["systems/paper-nat"] = {**files["systems/nat"], "text": text}
    files["systems/paper-dims"] = {**files["systems/dims"], "init_from": "paper-cmlm"}
    files["systems/paper-cmlm"] = {**files["systems/cmlm"], "description": "another"}
    files["systems/nat-b"] = {"like": "nat", "description": "another"}
    files["systems/nat-a"] = {"like": "nat", "description": "another"}
    tiny, large = folder.load("tiny"), folder.load("large")
    groups = {"at": ["at-of-a-paper"], "nat": ["nat-a", "nat-b", "paper-nat"]}
    groups |= {name: [f"paper-{name}"] for name in ("cmlm", "dims")}
    for name, others in groups.items():
        for each in (name, *others):
            assert tiny.canonical("own", each) == name
            assert tiny.training("own", each) == tiny.training("own", name)
    assert large.canonical("own", "at-of-a-paper") == "at-of-a-paper"
    [taught_by] = large.training("own", "paper-nat").text.candidates
    assert taught_by.system == "at-of-a-paper"
    assert large.training("own", "paper-dims").as_json()["init_from"] == "cmlm"


def test_a_copy_gives_way_to_the_system_that_it_is_like(folder: Folder) -> None:
    copied = {"like": "nat", "description": "another", "recipe": "student"}
    folder.files["systems/a"] = copied
    folder.files["systems/b"] = {"like": "a", "description": "a copy of a copy"}
    names = folder.load().on("own").names
    assert names is not None and names["a"] == names["b"] == "nat"
    folder.files["systems/a"] = {**folder.files["systems/nat"], "description": "another"}
    names = folder.load().on("own").names
    assert names is not None and names["nat"] == names["b"] == "a"


def test_a_second_name_of_a_system_is_told_the_first_one(folder: Folder) -> None:
    folder.files["systems/nat-2"] = {"like": "nat", "description": "another"}
    configuration = folder.load()
    score = Score(configuration.run, "own", "nat-2", 7, "one-pass", "test")
    with told("'nat-2'", "'nat'", "own/nat/seed7/one-pass"):
        inputs_of(configuration, score)
    assert inputs_of(configuration, replace(score, system="nat"))


def test_a_text_by_another_decoding_makes_another_system(folder: Folder) -> None:
    folder.files["systems/at-2"] = {"like": "at", "description": "another", "size": "wide"}
    text = {"distilled": {"system": "at-2", "decoding": "wider"}}
    folder.files["decodings/wider"] = {"method": "beam_search", "beam": 9}
    folder.files["systems/nat-2"] = {"like": "nat", "description": "another", "text": text}
    assert folder.load().canonical("own", "nat-2") == "nat-2"
    folder.files["systems/at-2"]["size"] = "base"  # so it is `at`
    assert folder.load().canonical("own", "at-2") == "at"
    tuned = {"beam": 5, "tuning": {"length_penalty": [0.6, 1.0]}}
    for options, name in (({"beam": 9}, "nat-2"), (tuned, "nat-2"), ({"beam": 5}, "nat")):
        folder.files["decodings/wider"] = {"method": "beam_search", **options}
        assert folder.load().canonical("own", "nat-2") == name


TRANSLATIONS = DISTILLED["distilled"]
BIG = {"system": "at-big", "decoding": "beam"}
DYNAMIC = {"candidates": [TRANSLATIONS, BIG, "raw"]}
REGULARISER = {"beta": 0.2, "gamma": [0.7, 1.3, 2.3]}


@pytest.fixture
def texts(folder: Folder) -> Folder:
    files = folder.files
    files["systems/at-big"] = {**files["systems/at"], "size": "wide"}
    files["systems/mixed"] = system(text={"mixed": DISTILLED})
    files["systems/dynamic"] = system(
        input={"method": "full_mask"}, text={"dynamic": {**DYNAMIC, "regulariser": REGULARISER}}
    )
    files["systems/predicted"] = system(parts={"input_predictor": {}}, teacher="nat")
    files["decodings/sampled"] = {"method": "input_sampling", "assistant": "nat"}
    files["decodings/beam20"] = {
        "method": "ctc_beam",
        "language_model": {"system": "at", "decoding": "beam", "order": 3},
    }
    return folder


def test_all_teachers_are_references(texts: Folder) -> None:
    configuration = texts.load()
    assert dependencies(configuration, "mixed") == ["at"]
    assert dependencies(configuration, "dynamic") == ["at", "at-big"]
    assert dependencies(configuration, "predicted") == ["nat"]
    teacher = {"system": "nat", "seed": 7}
    assert configuration.training("own", "predicted").as_json()["teacher"] == teacher
    assert configuration.training("own", "mixed").as_json()["text"] == {
        "mixed": {"raw": 0.5, "distilled": {**TRANSLATIONS, "seed": 7}}  # a default, filled in
    }


def test_a_choice_among_texts_may_be_a_method_of_ones_own() -> None:
    text = {"own": {**DYNAMIC, "weight": 0.5}}
    found = validated(SystemFile, system(text=text)).text
    assert found.choice == Method(method="own", weight=0.5)
    assert [each.name for each in found.candidates] == ["at.beam", "at-big.beam", "raw"]
    assert found.as_json() == text


def scored_by(system: str, decoding: str) -> dict[str, Any]:
    return {"language_model": {"system": system, "decoding": decoding}}


MISSPELT = {"distilled": {**TRANSLATIONS, "system": "att"}}
REPEATED = {"candidates": ["raw", "raw"]}
WEIGHTLESS = {**DYNAMIC, "regulariser": {**REGULARISER, "beta": 0.0}}
VALIDATION = {"decoding": "beam20", "metric": "bleu", "sentences": 4}


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("decodings/beam20", scored_by("att", "beam"), ["language_model.system", "att", "at"]),
        ("decodings/beam20", scored_by("nat", "beam"), ["language_model.decoding", "nat", "beam"]),
        ("decodings/beam20", scored_by("nat", "beam20"), ["language_model.decoding", "beam20"]),
        ("recipes/student", {"validation": VALIDATION}, ["validation.decoding", "beam20"]),
        ("systems/mixed", {"text": {"mixed": {"raw": 1.0, **DISTILLED}}}, ["text", "raw", "1"]),
        ("systems/mixed", {"text": {"mixed": DISTILLED, **DISTILLED}}, ["text", "distilled"]),
        ("systems/mixed", {"text": {"mixed": MISSPELT}}, ["text.mixed.distilled.system", "at"]),
        ("systems/dynamic", {"text": {"dynamic": REPEATED}}, ["text.dynamic.candidates"]),
        ("systems/dynamic", {"text": {"dynamic": WEIGHTLESS}}, ["text", "regulariser.beta"]),
    ],
)
def test_senseless_texts_and_second_models(
    texts: Folder, name: str, change: dict[str, Any], words: list[str]
) -> None:
    texts.files[name].update(change)
    check_words(texts.error(), name, words)
