"""The configuration of texts, of second models in decoding and of the input predictor."""

from pathlib import Path
from typing import Any

import pytest

from nat.artifacts import Distilled, Model
from nat.language_model.options import LanguageModelOptions
from nat.workflow.graph import inputs_of, with_inputs
from tests.messages import must_name, told
from tests.test_configuration import DISTILLED, Folder, check_words, system

TRANSLATIONS = DISTILLED["distilled"]
BIG = {"system": "at-big", "decoding": "beam"}
REFINED = {"system": "cmlm", "decoding": "refine-4"}
DYNAMIC = {"candidates": [TRANSLATIONS, BIG, "raw"]}
REGULARISER = {"beta": 0.2, "gamma": [0.7, 1.3, 2.3]}
CTC: dict[str, Any] = {
    "input": {"method": "full_mask"},
    "target": {"method": "ctc"},
    "decoder": {"copy": "soft", "upsample": 2.0},
    "length": None,
}


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    found = Folder(tmp_path)
    files = found.files
    files["systems/at-big"] = {**files["systems/at"], "size": "wide"}
    files["systems/mixed"] = system(text={"mixed": {"distilled": TRANSLATIONS}})
    files["systems/dynamic"] = system(
        input={"method": "full_mask"}, text={"dynamic": {**DYNAMIC, "regulariser": REGULARISER}}
    )
    files["systems/predicted"] = system(decoder={"input_predictor": True}, teacher="nat")
    files["decodings/sampled"] = {"method": "input_sampling", "assistant": "nat"}
    files["decodings/beam20"] = {
        "method": "ctc_beam",
        "language_model": {"system": "at", "decoding": "beam", "order": 3},
    }
    files["decodings/probe"] = {
        "method": "masked_at_outputs",
        "scheme": "chunk",
        "chunk": 2,
        "assistant": "at",
    }
    files["decodings/drawn"] = {"method": "latent_rescoring", "assistant": "at"}
    return found


def test_texts_enter_the_effective_configuration(folder: Folder) -> None:
    configuration = folder.load()
    assert configuration.training("own", "mixed").as_json()["text"] == {
        "mixed": {"raw": 0.5, "distilled": {**TRANSLATIONS, "seed": 7}}  # a default, filled in
    }
    candidates = [{**TRANSLATIONS, "seed": 7}, {**BIG, "seed": 7}, "raw"]
    assert configuration.training("own", "dynamic").as_json()["text"] == {
        "dynamic": {"candidates": candidates, "regulariser": REGULARISER}
    }
    del folder.files["systems/dynamic"]["text"]["dynamic"]["regulariser"]
    assert folder.load().training("own", "dynamic").as_json()["text"] == {
        "dynamic": {"candidates": candidates, "regulariser": None}
    }


def test_all_teachers_are_references(folder: Folder) -> None:
    configuration = folder.load()
    assert configuration.dependencies("mixed") == ["at"]
    assert configuration.dependencies("dynamic") == ["at", "at-big"]
    assert configuration.dependencies("predicted") == ["nat"]
    folder.files["systems/at-big"]["text"] = {"mixed": {"distilled": TRANSLATIONS}}
    assert folder.load().dependencies("at-big") == ["at"]
    folder.files["systems/at"]["text"] = {"distilled": BIG}
    must_name(folder.error(), "at -(text)-> at-big -(text)-> at")


def test_assistants_of_decodings(folder: Folder) -> None:
    configuration = folder.load()
    assert configuration.assistant("sampled") == "nat"
    assert configuration.assistant("one-pass") is None
    assert "assistant" not in configuration.decoding("sampled").options
    configuration.check_decoding("predicted", "sampled")
    configuration.check_decoding("predicted", "one-pass")


def test_language_models_of_decodings(folder: Folder) -> None:
    configuration = folder.load()
    assert configuration.language_model("beam20") == LanguageModelOptions("at", "beam", 3, 0.4)
    assert configuration.language_model("one-pass") is None


def test_what_only_some_systems_have(folder: Folder) -> None:
    folder.files["systems/latent"] = system(latent={"dim": 2})
    folder.files["systems/upsampled"] = system(**CTC)
    for name, options in {
        "several": {"length_beam": 5},
        "penalised": {"blank_penalty": 1.0},
        "tuned-several": {"tuning": {"length_beam": [1, 5]}},
        "tuned-steps": {"tuning": {"steps": [1, 4]}},
        "tuned-one": {"length_beam": 5, "tuning": {"length_beam": [1], "steps": [1]}},
        "tuned": {"tuning": {"blank_penalty": [0.0, 1.0]}},
    }.items():
        folder.files[f"decodings/{name}"] = {"method": "onnx_parallel", **options}
    configuration = folder.load()
    configuration.check_decoding("latent", "drawn")
    configuration.check_decoding("predicted", "probe")
    configuration.check_decoding("upsampled", "penalised")
    configuration.check_decoding("upsampled", "tuned-one")
    configuration.check_decoding("nat", "several")
    for name, decoding, part in (
        ("upsampled", "several", "5 lengths"),
        ("upsampled", "tuned-several", "5 lengths"),
        ("nat", "tuned-steps", "4 steps"),
        ("nat", "penalised", "blank_penalty"),
        ("nat", "tuned", "blank_penalty"),
        ("predicted", "drawn", "latents"),
        ("nat", "probe", "part of the target"),
        ("nat", "beam20", "upsampled canvas"),
    ):
        with told(f"'{name}'", f"'{decoding}'", part):
            configuration.check_decoding(name, decoding)


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        (
            "decodings/beam20",
            {"language_model": {"system": "att", "decoding": "beam"}},
            ["language_model.system", "att", "at"],
        ),
        (
            "decodings/beam20",
            {"language_model": {"system": "at", "decoding": "bean"}},
            ["language_model.decoding", "bean", "beam"],
        ),
        (
            "decodings/beam20",
            {"language_model": {"system": "nat", "decoding": "beam"}},
            ["language_model.decoding", "nat", "beam"],
        ),
        (
            "decodings/beam20",
            {"language_model": {"system": "nat", "decoding": "beam20"}},
            ["language_model.decoding", "beam20"],
        ),
        ("decodings/probe", {"share": 0.5}, ["chunk", "share"]),
        (
            "recipes/student",
            {"validation": {"decoding": "beam20", "metric": "bleu", "sentences": 4}},
            ["validation.decoding", "beam20"],
        ),
        (
            "systems/mixed",
            {"text": {"mixed": {"raw": 1.0, "distilled": TRANSLATIONS}}},
            ["text", "raw", "mixed", "1"],
        ),
        (
            "systems/mixed",
            {"text": {"mixed": {"raws": 0.5, "distilled": TRANSLATIONS}}},
            ["text", "raws", "mixed", "raw"],
        ),
        ("systems/mixed", {"text": {"mixed": {"raw": 0.5}}}, ["distilled", "text.mixed"]),
        (
            "systems/mixed",
            {"text": {"mixed": {"distilled": TRANSLATIONS}, "distilled": TRANSLATIONS}},
            ["text", "distilled", "mixed"],
        ),
        (
            "systems/mixed",
            {"text": {"mixed": {"distilled": {**TRANSLATIONS, "system": "att"}}}},
            ["text.mixed.distilled.system", "att", "at"],
        ),
        (
            "systems/dynamic",
            {"text": {"dynamic": {"candidates": ["raw"]}}},
            ["text.dynamic.candidates", "2"],
        ),
        (
            "systems/dynamic",
            {"text": {"dynamic": {"candidates": ["raw", "raw"]}}},
            ["text.dynamic.candidates", "repetitions"],
        ),
        (
            "systems/dynamic",
            {"text": {"dynamic": {"candidates": ["row", TRANSLATIONS]}}},
            ["text.dynamic.candidates.0", "row"],
        ),
        (
            "systems/dynamic",
            {"text": {"dynamic": {"candidates": [REFINED, BIG]}}},
            ["text.dynamic.candidates.system", "cmlm"],
        ),
        (
            "systems/dynamic",
            {"text": {"dynamic": {**DYNAMIC, "regulariser": {"beta": 0.2, "gamma": [1.0, 2.0]}}}},
            ["text.dynamic.regulariser.gamma", "2", "3"],
        ),
        (
            "systems/dynamic",
            {"text": {"dynamic": {**DYNAMIC, "regulariser": {**REGULARISER, "beta": 0.0}}}},
            ["text", "regulariser.beta", "dynamic"],
        ),
        (
            "systems/at-big",
            {"text": {"dynamic": {"candidates": [TRANSLATIONS, "raw"]}}},
            ["text", "at-big", "dynamic"],
        ),
        ("systems/predicted", {"teacher": None}, ["teacher", "null"]),
        ("systems/predicted", {"teacher": "at"}, ["teacher", "at"]),
        (
            "systems/predicted",
            {"input": {"method": "full_mask"}},
            ["decoder.input_predictor", "full_mask"],
        ),
        (
            "systems/dims",
            {"decoder": {"input_predictor": True}},
            ["decoder.input_predictor", "teacher"],
        ),
        ("decodings/sampled", {"assistant": "at"}, ["assistant", "at"]),
        ("decodings/sampled", {"assistant": "natt"}, ["assistant", "natt", "nat"]),
        ("decodings/one-pass", {"assistant": "nat"}, ["assistant", "nat", "one_pass"]),
        ("decodings/sampled", {"assistant": 3}, ["assistant", "3"]),
        (
            "recipes/student",
            {"validation": {"decoding": "sampled", "metric": "bleu", "sentences": 4}},
            ["validation.decoding", "sampled"],
        ),
    ],
)
def test_senseless_texts_and_assistants(
    folder: Folder, name: str, change: dict[str, Any], words: list[str]
) -> None:
    folder.files[name].update(change)
    check_words(folder.error(), name, words)


def test_a_decoding_that_needs_an_assistant(folder: Folder) -> None:
    del folder.files["decodings/sampled"]["assistant"]
    check_words(folder.error(), "decodings/sampled", ["assistant"])


def test_an_assistant_needs_the_same_kind_of_canvas(folder: Folder) -> None:
    folder.files["systems/ctc"] = system(**CTC)
    folder.files["decodings/sampled"]["assistant"] = "ctc"
    must_name(folder.error(), "'ctc'", "upsampled")


def test_an_assistant_has_room_for_every_text(folder: Folder) -> None:
    sizes = folder.files["scales/tiny"]["sizes"]
    sizes["short"] = {**sizes["base"], "max_positions": 20}
    folder.files["systems/other"] = system(size="short")
    folder.files["decodings/sampled"]["assistant"] = "other"
    with told("'other'", "20", "1024", "'short'"):
        folder.load().check_decoding("predicted", "sampled")


def test_a_teacher_has_room_for_every_text(folder: Folder) -> None:
    sizes = folder.files["scales/tiny"]["sizes"]
    sizes["short"] = {**sizes["base"], "max_positions": 20}
    folder.files["systems/nat"]["size"] = "short"
    must_name(folder.error(), "'teacher'", "'predicted'", "'nat'", "20", "1024")


def test_input_sampling_is_for_systems_with_a_predictor(folder: Folder) -> None:
    configuration = folder.load()
    with told("cmlm", "input_predictor", error=Exception):
        configuration.check_decoding("cmlm", "sampled")


def test_a_teacher_has_a_text_for_each_decoding(folder: Folder) -> None:
    folder.files["decodings/beam-1"] = {"method": "beam_search", "beam": 1}
    candidates = [{**TRANSLATIONS, "decoding": "beam-1"}, TRANSLATIONS, "raw"]
    folder.files["systems/dynamic"]["text"] = {
        "dynamic": {"candidates": candidates, "regulariser": {"beta": 0.1, "gamma": [1.0] * 3}}
    }
    configuration = folder.load()
    run, corpus = configuration.run, "own"
    found = inputs_of(configuration, Model(run, corpus, "dynamic", 7))
    other, text, _ = found["texts"]
    assert other != text == inputs_of(configuration, Model(run, corpus, "cmlm", 7))["texts"][0]
    assert "/at.beam-1+at.beam+raw/" in str(found["comparison"])
    for path, decoding in ((other, "beam-1"), (text, "beam")):
        (made,) = [
            each
            for each in with_inputs(configuration, [Model(run, corpus, "dynamic", 7)])
            if isinstance(each, Distilled) and each.path == path
        ]
        translations = inputs_of(configuration, made)["translations"]
        assert f"/{decoding}/" in str(translations)


def test_a_hybrid_assistant_may_be_left_out_and_leaves_out_as_much(folder: Folder) -> None:
    for name, chunk in (("hybrid", 2), ("deep", 2), ("sparse", 3)):
        folder.files[f"systems/{name}"] = system(
            input={"method": "skip"}, decoder={"chunk": chunk}, length=None
        )
    folder.files["decodings/alone"] = {"method": "hybrid"}
    folder.files["decodings/with-deep"] = {"method": "hybrid", "assistant": "deep"}
    configuration = folder.load()
    configuration.check_decoding("hybrid", "alone")
    configuration.check_decoding("sparse", "alone")
    configuration.check_decoding("hybrid", "with-deep")
    with told("sparse.yaml", "3", "config/systems/deep.yaml", "2"):
        configuration.check_decoding("sparse", "with-deep")
    folder.files["decodings/with-deep"]["assistant"] = "at"
    must_name(folder.error(), "hybrid", "'at'")
