"""The configuration of texts, of second models in decoding and of the input predictor."""

from typing import Any

import pytest

from nat.configuration.configuration import dependencies
from nat.configuration.models import SystemFile
from nat.options import validated
from nat.registry import Method
from tests.configuration.test_configuration import DISTILLED, Folder, check_words, system

TRANSLATIONS = DISTILLED["distilled"]
BIG = {"system": "at-big", "decoding": "beam"}
DYNAMIC = {"candidates": [TRANSLATIONS, BIG, "raw"]}
REGULARISER = {"beta": 0.2, "gamma": [0.7, 1.3, 2.3]}


@pytest.fixture
def folder(folder: Folder) -> Folder:
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


def test_all_teachers_are_references(folder: Folder) -> None:
    configuration = folder.load()
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
    folder: Folder, name: str, change: dict[str, Any], words: list[str]
) -> None:
    folder.files[name].update(change)
    check_words(folder.error(), name, words)
