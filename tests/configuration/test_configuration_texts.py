"""The configuration of texts, of second models in decoding and of the input predictor."""

from pathlib import Path
from typing import Any

import pytest

from nat.configuration.systems import dependencies
from nat.language_model.options import LanguageModelOptions
from tests.configuration.test_configuration import DISTILLED, Folder, check_words, system

TRANSLATIONS = DISTILLED["distilled"]
BIG = {"system": "at-big", "decoding": "beam"}
DYNAMIC = {"candidates": [TRANSLATIONS, BIG, "raw"]}
REGULARISER = {"beta": 0.2, "gamma": [0.7, 1.3, 2.3]}


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    found = Folder(tmp_path)
    files = found.files
    files["systems/at-big"] = {**files["systems/at"], "size": "wide"}
    files["systems/mixed"] = system(text={"mixed": {"distilled": TRANSLATIONS}})
    files["systems/dynamic"] = system(
        input={"method": "full_mask"}, text={"dynamic": {**DYNAMIC, "regulariser": REGULARISER}}
    )
    files["systems/predicted"] = system(parts={"input_predictor": {}}, teacher="nat")
    files["decodings/sampled"] = {"method": "input_sampling", "assistant": "nat"}
    files["decodings/beam20"] = {
        "method": "ctc_beam",
        "language_model": {"system": "at", "decoding": "beam", "order": 3},
    }
    return found


def test_all_teachers_are_references(folder: Folder) -> None:
    configuration = folder.load()
    assert dependencies(configuration, "mixed") == ["at"]
    assert dependencies(configuration, "dynamic") == ["at", "at-big"]
    assert dependencies(configuration, "predicted") == ["nat"]
    assert configuration.training("own", "mixed").as_json()["text"] == {
        "mixed": {"raw": 0.5, "distilled": {**TRANSLATIONS, "seed": 7}}  # a default, filled in
    }


def test_second_models_of_decodings(folder: Folder) -> None:
    configuration = folder.load()
    assert configuration.decoding_file("sampled").assistant == "nat"
    assert "assistant" not in configuration.decoding("sampled").options
    language_model = LanguageModelOptions("at", "beam", 3, 0.4)
    assert configuration.decoding_file("beam20").language_model == language_model
    one_pass = configuration.decoding_file("one-pass")
    assert (one_pass.assistant, one_pass.language_model) == (None, None)


def of(system: str, decoding: str) -> dict[str, Any]:
    return {"language_model": {"system": system, "decoding": decoding}}


def validated_by(decoding: str) -> dict[str, Any]:
    return {"validation": {"decoding": decoding, "metric": "bleu", "sentences": 4}}


MISSPELT = {**TRANSLATIONS, "system": "att"}


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("decodings/beam20", of("att", "beam"), ["language_model.system", "att", "at"]),
        ("decodings/beam20", of("nat", "beam"), ["language_model.decoding", "nat", "beam"]),
        ("decodings/beam20", of("nat", "beam20"), ["language_model.decoding", "beam20"]),
        ("recipes/student", validated_by("beam20"), ["validation.decoding", "beam20"]),
    ],
)
def test_senseless_second_models(
    folder: Folder, name: str, change: dict[str, Any], words: list[str]
) -> None:
    folder.files[name].update(change)
    check_words(folder.error(), name, words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ({"mixed": {"raw": 1.0, "distilled": TRANSLATIONS}}, ["text", "raw", "mixed", "1"]),
        ({"mixed": {"distilled": TRANSLATIONS}, **DISTILLED}, ["text", "distilled", "mixed"]),
        ({"mixed": {"distilled": MISSPELT}}, ["text.mixed.distilled.system", "att", "at"]),
        ({"dynamic": {"candidates": ["raw", "raw"]}}, ["text.dynamic.candidates", "repetitions"]),
        (
            {"dynamic": {**DYNAMIC, "regulariser": {**REGULARISER, "beta": 0.0}}},
            ["text", "regulariser.beta", "dynamic"],
        ),
    ],
)
def test_senseless_texts(folder: Folder, text: dict[str, Any], words: list[str]) -> None:
    name = f"systems/{next(iter(text))}"
    folder.files[name]["text"] = text
    check_words(folder.error(), name, words)
