"""Which goes with which: each rule is broken once."""

from typing import Any

import pytest

from nat.configuration.compatibility import RULES, check_decoding
from tests.configuration.test_configuration import DISTILLED, FILES, SIZE, Folder, system
from tests.messages import must_name, told
from tests.repository import ROOT

CTC: dict[str, Any] = {
    "input": {"method": "full_mask"},
    "target": {"method": "ctc"},
    "decoder": {"copy": "soft", "upsample": 2.0},
    "length": None,
}
ENCODER = {**CTC, "size": "encoder", "decoder": {"copy": "repeated", "upsample": 2.0}}
IMPUTER = {"target": {"method": "imputer"}}
LEFT_TO_RIGHT = {"input": {"method": "previous_tokens"}, "length": None}
HYBRID = {"input": {"method": "skip"}, "decoder": {"chunk": 2}, "length": None}
DYNAMIC = {"dynamic": {"candidates": [DISTILLED["distilled"], "raw"]}}
WEIGHTS = {"regulariser": {"beta": 0.2, "gamma": [1.0, 2.0, 3.0]}}
MASKS = {"input": {"method": "full_mask"}}
PREDICTS = {"parts": {"input_predictor": {}}, "teacher": "nat"}

# rule: systems that break it
OF_SYSTEMS: dict[str, list[dict[str, Any]]] = {
    "input": [
        {**LEFT_TO_RIGHT, "target": {"method": "oaxe"}},
        {**LEFT_TO_RIGHT, "target": {"method": "dims"}},
        {**PREDICTS, "teacher": "at"},
        {"text": {"distilled": {"system": "cmlm", "decoding": "refine-4"}}},
        {"text": {"distilled": {"system": "at", "decoding": "refine-4"}}},
        {"recipe": "validated"},
    ],
    "input canvas": [
        {"input": {"method": "block_mask"}},
        {**CTC, **IMPUTER, "input": {"method": "random_mask"}},
    ],
    "input tokens": [{"target": {"method": "dims"}, "init_from": "nat"}],
    "input.aligned_by": [
        {**CTC, **IMPUTER, "input": {"method": "block_mask", "aligned_by": "teacher"}}
    ],
    "decoder": [{**LEFT_TO_RIGHT, "decoder": {"copy": "soft"}}],
    "decoder copy": [{**ENCODER, "decoder": {"copy": "soft", "upsample": 2.0}}],
    "decoder.upsample": [{"decoder": {"upsample": 2.0}}, {**CTC, "decoder": {}}],
    "decoder.chunk": [{"decoder": {"chunk": 2}}, {**HYBRID, "decoder": {}}],
    "parts.input_predictor": [
        {**PREDICTS, "input": {"method": "full_mask"}},
        {**PREDICTS, "target": {"method": "dims"}, "init_from": "cmlm"},
        {**PREDICTS, "parts": {"input_predictor": {}, "latent": {}}},
    ],
    "parts.latent": [
        {**ENCODER, "parts": {"input_predictor": {}, "latent": {}}},
        {**HYBRID, "parts": {"input_predictor": {}, "latent": {}}},
    ],
    "parts.latent.added_to": [
        {"parts": {"latent": {"added_to": "decoder_input"}}, "decoder": {"copy": "uniform"}}
    ],
    "length": [{"length": None}, {**CTC, "length": "target"}, {**HYBRID, "length": "offset"}],
    "text": [{**LEFT_TO_RIGHT, "text": DYNAMIC}],
    "text gamma": [{"text": {"dynamic": {**DYNAMIC["dynamic"], **WEIGHTS}}}],
    "teacher": [{"teacher": "at"}, {"target": {"method": "hints"}}],
    "init_from": [{"target": {"method": "dims"}}],
    "size layers": [{"target": {"method": "hints"}, "teacher": "deep"}],
    "size positions": [{**PREDICTS, "teacher": "short"}],
    "size shape": [{"init_from": "cmlm", "size": "wide"}],
    "decoder shape": [{"init_from": "cmlm", "decoder": {"causal_attention": True}}],
    "decoder canvas": [
        {"init_from": "cmlm", "target": {"method": "dims"}, "decoder": {"copy": "soft"}}
    ],
    "parts shape": [{"init_from": "cmlm", "parts": {"latent": {"dim": 4}}}],
    "length shape": [{"init_from": "cmlm", "length": "offset"}],
}
# rule: a system, and a decoding that does not suit it
OF_DECODINGS: dict[str, list[tuple[dict[str, Any], dict[str, Any]]]] = {
    "input": [
        ({}, {"method": "beam_search"}),
        (HYBRID, {"method": "one_pass"}),
        (PREDICTS, {"method": "input_sampling", "assistant": "at"}),
        (HYBRID, {"method": "hybrid", "assistant": "at"}),
    ],
    "input tokens": [
        (MASKS, {"method": "mask_predict", "steps": 4}),
        (MASKS, {"method": "onnx_parallel", "tuning": {"steps": [1, 4]}}),
    ],
    "target tokens": [({}, {"method": "mask_correct", "steps": 4})],
    "decoder.upsample": [
        ({}, {"method": "ctc"}),
        (CTC, {"method": "one_pass"}),
        (CTC, {"method": "onnx_parallel", "tuning": {"length_beam": [1, 5]}}),
        ({}, {"method": "onnx_parallel", "blank_penalty": 1.0}),
        (PREDICTS, {"method": "input_sampling", "assistant": "up"}),
    ],
    "decoder.chunk size": [
        ({**HYBRID, "decoder": {"chunk": 3}}, {"method": "hybrid", "assistant": "hybrid"})
    ],
    "parts": [
        ({}, {"method": "input_sampling", "assistant": "nat"}),
        ({}, {"method": "latent_rescoring", "assistant": "at"}),
    ],
    "size": [(CTC, {"method": "ctranslate2_ctc"})],
    "size positions": [(PREDICTS, {"method": "input_sampling", "assistant": "short"})],
}


@pytest.fixture
def systems(folder: Folder) -> Folder:
    """The folder of the tests with a few more systems."""
    encoder = {**SIZE, "decoder_layers": 0}
    sizes = {"encoder": encoder, "short": {**SIZE, "max_positions": 20}}
    folder.files["scales/tiny"]["sizes"] |= {**sizes, "deep": {**SIZE, "decoder_layers": 2}}
    folder.files["systems/deep"] = {**FILES["systems/at"], "size": "deep"}
    folder.files["systems/short"] = {**FILES["systems/nat"], "size": "short"}
    folder.files["systems/hybrid"] = system(**HYBRID)
    folder.files["systems/up"] = system(**CTC)
    validation = {"decoding": "beam", "metric": "bleu", "sentences": None}
    folder.files["recipes/validated"] = {**FILES["recipes/teacher"], "validation": validation}
    return folder


@pytest.mark.parametrize(
    ("rule", "keys"), [(rule, keys) for rule in OF_SYSTEMS for keys in OF_SYSTEMS[rule]]
)
def test_systems_that_do_not_fit(systems: Folder, rule: str, keys: dict[str, Any]) -> None:
    systems.files["systems/own"] = system(**keys)
    message = systems.error()
    assert message.startswith("config/systems/own.yaml: key '")
    must_name(message, f"'{rule.partition(' ')[0]}'", RULES[rule])


@pytest.mark.parametrize(
    ("rule", "keys", "decoding"),
    [(rule, *each) for rule in OF_DECODINGS for each in OF_DECODINGS[rule]],
)
def test_decodings_that_do_not_suit(
    systems: Folder, rule: str, keys: dict[str, Any], decoding: dict[str, Any]
) -> None:
    systems.files["systems/own"] = system(**keys)
    systems.files["decodings/new"] = decoding
    configuration = systems.load()
    key = f"'{rule.partition(' ')[0]}'"
    with told("'new'", "'own'", "config/systems/", key, RULES[rule]):
        check_decoding(configuration, "own", "new")


def test_each_rule_is_broken_once() -> None:
    assert set(RULES) == {*OF_SYSTEMS, *OF_DECODINGS}


def test_the_docs_show_the_rules() -> None:
    text = (ROOT / "docs/methods.md").read_text()
    rows = [f"| `{rule.partition(' ')[0]}` | {sentence} |" for rule, sentence in RULES.items()]
    assert "\n".join(dict.fromkeys(rows)) in text


def test_an_assistant_that_is_missing_or_has_no_use(systems: Folder) -> None:
    systems.files["systems/predicts"] = system(**PREDICTS)
    systems.files["decodings/lacks"] = {"method": "input_sampling"}
    systems.files["decodings/has"] = {"method": "one_pass", "assistant": "nat"}
    configuration = systems.load()
    with told("'lacks'", "'assistant'", "null", "non-autoregressive"):
        check_decoding(configuration, "predicts", "lacks")
    with told("'has'", "'assistant'", "nat", "null"):
        check_decoding(configuration, "nat", "has")


def test_what_goes_together_besides_what_papers_show(systems: Folder) -> None:
    systems.files["systems/sparse"] = system(**HYBRID | {"decoder": {"chunk": 3}})
    for name, decoding in {
        "several": {"method": "onnx_parallel", "length_beam": 5},
        "penalised": {"method": "onnx_parallel", "blank_penalty": 1.0},
        "tuned": {"method": "onnx_parallel", "length_beam": 5, "tuning": {"length_beam": [1]}},
        "alone": {"method": "hybrid"},
        "with-hybrid": {"method": "hybrid", "assistant": "hybrid"},
    }.items():
        systems.files[f"decodings/{name}"] = decoding
    configuration = systems.load()
    for name, decodings in {
        "nat": ["refine-1", "several"],
        "dims": ["refine-4"],
        "up": ["penalised", "tuned"],
        "hybrid": ["alone", "with-hybrid"],
        "sparse": ["alone"],
    }.items():
        for decoding in decodings:
            check_decoding(configuration, name, decoding)
