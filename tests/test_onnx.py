"""Models in ONNX Runtime: equal translations, whatever the decoder."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx as onnx_library
import onnxruntime
import pytest
import torch
from onnx import TensorProto, numpy_helper
from test_decode_corpus import CONFIGURATION, VOCABULARIES, engine, texts

from nat.checksums import OF_FOLDER
from nat.data.batch import source_tensor
from nat.data.vocabulary import BLANK, MASK, NEVER_WRITTEN, PAD, SPECIALS, VocabularySizes
from nat.decoding.ctc import Ctc
from nat.decoding.imputer import Imputer
from nat.decoding.mask_predict import MaskPredict
from nat.decoding.network import OnnxNetwork, never_chosen, silent
from nat.decoding.one_pass import OnePass
from nat.decoding.onnx_parallel import OnnxParallel
from nat.export import onnx
from nat.export.onnx import write_onnx
from nat.jobs.translate import matching_engine
from nat.transformer import projection
from nat.transformer.projection import best_symbols
from tests.messages import told

SOURCE = source_tensor(texts([3, 9, 1, 12, 5, 1, 11]))

DECODERS: list[dict[str, Any]] = [
    {"length": "offset"},
    {"length": "target", "pre_norm": True, "activation": "gelu", "positions": "learned_apart"},
    {"length": "constant", "decoder": {"copy": "uniform"}},
    {"length": "offset", "decoder": {"copy": "soft", "positional_attention": True}},
    {"length": "offset", "decoder": {"copy": "soft_index", "attention_without_self": True}},
    {"length": "offset", "decoder": {"positions": "concatenated", "causal_attention": True}},
    {"decoder": {"upsample": 2.5}},
    {"decoder": {"copy": "repeated", "upsample": 2.5}, "decoder_layers": 0},
    {"decoder": {"copy": "soft_upsampled", "upsample": 3.0, "count_source_end": True}},
    {"decoder": {"copy": "soft", "upsample": 1.5}, "latent": {"dim": 3, "posterior_layers": 1}},
    {
        "decoder": {"copy": "soft", "upsample": 2.0},
        "latent": {"dim": 3, "posterior_layers": 1, "added_to": "decoder_input"},
    },
]


@pytest.mark.parametrize("options", DECODERS, ids=lambda options: json.dumps(options))
def test_translations_are_those_of_the_model(
    make_model: Callable[..., Any], options: dict[str, Any]
) -> None:
    model = make_model(dtype=torch.float32, dropout=0.1, **options)
    opened = engine(model, "float32", "onnx")
    for steps in (1, 3):
        ours: Any = Imputer(steps=steps) if "upsample" in options.get("decoder", {}) else None
        ours = ours or MaskPredict(steps=steps, length_beam=2)
        lengths = 1 if model.decoder.upsample else 2
        its = OnnxParallel(steps=steps, length_beam=lengths)(model, SOURCE, opened)
        expected = ours(model, SOURCE)
        assert [each.tokens for each in its] == [each.tokens for each in expected]
        for one, other in zip(its, expected, strict=True):
            assert one.score == pytest.approx(other.score, abs=1e-4)
            assert one.steps == other.steps
    assert any(each.tokens for each in expected)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (lambda symbol, value: (torch.full_like(symbol, len(SPECIALS)), value), "symbols"),
        (lambda symbol, value: (torch.full_like(symbol, PAD), value), "symbols"),
        (lambda symbol, value: (symbol, 3 * value), "log_probabilities"),
    ],
    ids=["other symbols", "forbidden symbols", "other log-probabilities"],
)
def test_graphs_that_compute_something_else_are_not_written(
    make_model: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    wrong: Callable[..., Any],
    named: str,
) -> None:
    right = onnx.ChoiceGraph.forward
    monkeypatch.setattr(
        onnx.ChoiceGraph, "forward", lambda *given: wrong(*right(*given)), raising=True
    )
    model = make_model(dtype=torch.float32, length="offset")
    with told(named):
        write_onnx(model, VOCABULARIES, tmp_path / "onnx")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("penalty", [-2.0, -1.0])
def test_a_penalty_of_blank_is_that_of_ctc(make_model: Callable[..., Any], penalty: float) -> None:
    model = make_model(dtype=torch.float32, decoder={"copy": "soft", "upsample": 2.0})
    with torch.no_grad():
        model.embedding.weight[BLANK] *= 2
    opened = engine(model, "float32", "onnx")
    its = OnnxParallel(blank_penalty=penalty)(model, SOURCE, opened)
    ours = Ctc(blank_penalty=penalty)(model, SOURCE)
    assert [each.tokens for each in its] == [each.tokens for each in ours]
    assert [each.tokens for each in its] != [each.tokens for each in Ctc()(model, SOURCE)]
    for one, other in zip(its, ours, strict=True):
        assert one.score == pytest.approx(other.score, abs=1e-4)


def test_a_graph_that_knows_no_penalty_is_not_used_with_one(make_model: Callable[..., Any]) -> None:
    """As those are that were exported before there was a penalty."""
    model = make_model(dtype=torch.float32, length="offset")
    opened = engine(model, "float32", "onnx")
    network, tokens = OnnxNetwork(model, opened), torch.full((1, 3), MASK)
    encoded = network.encode(source_tensor(texts([3])))
    everywhere = torch.ones_like(tokens, dtype=torch.bool)
    assert len(network.predict(tokens, encoded, everywhere, 0.0).symbols) == 3
    with told("blank_penalty"):
        network.predict(tokens, encoded, everywhere, 0.5)


def test_what_is_never_written_is_never_chosen(make_model: Callable[..., Any]) -> None:
    model = make_model(dtype=torch.float32, length="offset")
    with torch.no_grad():
        model.embedding.weight[list(NEVER_WRITTEN)] *= 9
    found = OnnxParallel()(model, SOURCE, engine(model, "float32", "onnx"))
    assert not {token for each in found for token in each.tokens} & set(NEVER_WRITTEN)


@pytest.mark.parametrize("penalty", [None, 0.0, 3.0])
@pytest.mark.parametrize("words", [1, 5, 6, 7, 23])
def test_symbols_are_chosen_as_by_the_projection(
    make_model: Callable[..., Any],
    words: int,
    penalty: float | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whether or not the words fill the blocks in which the largest is searched."""
    monkeypatch.setattr(projection, "BLOCK", 6)
    decoder = {} if penalty is None else {"copy": "soft", "upsample": 2.0}
    length = "offset" if penalty is None else None
    size = len(SPECIALS) + words
    model = make_model(length=length, decoder=decoder, vocabulary_size=size)
    states = torch.randn(400, model.architecture.model_dim, dtype=torch.float64)
    given = None if penalty is None else torch.tensor(penalty, dtype=torch.float64)
    symbols, log_probabilities = onnx.ChoiceGraph(model)(states, given)
    expected = best_symbols(
        states,
        model.embedding.weight,
        forbidden=torch.tensor(never_chosen(model)),
        penalties=dict.fromkeys(silent(model), penalty or 0.0),
    )
    assert torch.equal(symbols[:, 0], expected.symbols)
    torch.testing.assert_close(log_probabilities[:, 0], expected.log_probabilities)
    assert len(symbols.unique()) > min(words, 9)


def test_int8_is_near_float32(make_model: Callable[..., Any], tmp_path: Path) -> None:
    model = make_model(
        dtype=torch.float32, decoder={"copy": "soft", "upsample": 2.0}, model_dim=32, ffn_dim=64
    )
    write_onnx(model, VOCABULARIES, tmp_path / "onnx")
    exact, rounded = (
        OnnxParallel(precision=precision)(
            model,
            SOURCE,
            matching_engine(tmp_path / "onnx", VOCABULARIES.sizes, precision, torch.device("cpu")),
        )
        for precision in ("float32", "int8")
    )
    assert any(one.score != other.score for one, other in zip(exact, rounded, strict=True))
    for one, other in zip(exact, rounded, strict=True):
        assert other.score == pytest.approx(one.score, abs=0.2)
    sizes = [
        (tmp_path / f"onnx/decoder.{name}.onnx").stat().st_size for name in ("int8", "float32")
    ]
    assert sizes[0] < sizes[1]
    weights = [
        numpy_helper.to_array(each)
        for each in onnx_library.load(tmp_path / "onnx/decoder.int8.onnx").graph.initializer
        if each.data_type == TensorProto.INT8 and len(each.dims) == 2
    ]
    # pairs of products with inputs of 8 bits fit in the 16 bits of processors without VNNI
    assert weights and all(np.abs(each.astype(int)).max() * 255 * 2 < 2**15 for each in weights)


def test_the_graphs_can_be_used_without_this_project(
    make_model: Callable[..., Any], tmp_path: Path
) -> None:
    model = make_model(dtype=torch.float32, decoder={"copy": "soft_upsampled", "upsample": 2.5})
    write_onnx(model, VOCABULARIES, tmp_path / "onnx")
    about = json.loads((tmp_path / "onnx/model.json").read_text())
    encoder, decoder = (
        onnxruntime.InferenceSession(tmp_path / f"onnx/{part}.float32.onnx")
        for part in ("encoder", "decoder")
    )
    given = texts([3, 9, 1])
    for text, expected in zip(given, Ctc()(model, source_tensor(given)), strict=True):
        source = np.append(text.astype(np.int64), about["end"])[None]
        width = int(np.ceil(len(text) * about["upsample"]))
        tokens = np.full((1, width), about["mask"])
        (states,) = encoder.run(None, {"source": source})
        given_to = {"source": source, "states": states, "tokens": tokens}
        labels, _ = decoder.run(None, {**given_to, "blank_penalty": np.array(0, dtype=np.float32)})
        written = [
            label
            for label, before in zip(labels[0], [BLANK, *labels[0][:-1]], strict=True)
            if label not in (before, about["blank"])
        ]
        assert written == expected.tokens


@pytest.mark.parametrize("length", ["target", "offset", "constant"])
def test_what_the_graphs_do_not_do_is_in_model_json(
    make_model: Callable[..., Any], tmp_path: Path, length: str
) -> None:
    """Lengths and empty tokens, as docs/deployment.md describes them."""
    model = make_model(dtype=torch.float32, length=length)
    model.empty_token = True
    given = texts([3, 9, 1, 12, 5])
    token = OnePass()(model, source_tensor(given))[0].tokens[0]
    with torch.no_grad():  # the empty token takes the place of one that was written
        model.embedding.weight[BLANK] = 1.1 * model.embedding.weight[token]
    if length == "constant":
        model.length_predictor.difference.fill_(-1.5)
    write_onnx(model, VOCABULARIES, tmp_path / "onnx")
    about = json.loads((tmp_path / "onnx/model.json").read_text())
    encoder, decoder = (
        onnxruntime.InferenceSession(tmp_path / f"onnx/{part}.float32.onnx")
        for part in ("encoder", "decoder")
    )
    dropped = 0
    for text, expected in zip(given, OnePass()(model, source_tensor(given)), strict=True):
        source = np.append(text.astype(np.int64), about["end"])[None]
        states, *more = encoder.run(None, {"source": source})
        if about["length"] == "constant":
            width = max(int(np.ceil(len(text) + about["length_difference"] - 0.5)), 1)
        else:
            shift = {"target": 0, "offset": len(text) - 128}[about["length"]]
            widths = np.arange(256) + shift
            possible = (widths >= 1) & (widths <= about["positions"])
            width = int(widths[np.where(possible, more[0][0], -np.inf).argmax()])
        tokens = np.full((1, width), about["mask"])
        symbols, _ = decoder.run(None, {"source": source, "states": states, "tokens": tokens})
        written = [
            symbol
            for symbol in symbols[0].tolist()
            if not (about["empty_token"] and symbol == about["blank"])
        ]
        dropped += width - len(written)
        assert written == expected.tokens
    assert dropped


def test_several_lengths_and_steps_are_decoded_as_the_docs_describe(
    make_model: Callable[..., Any], tmp_path: Path
) -> None:
    model = make_model(dtype=torch.float32, length="target")
    write_onnx(model, VOCABULARIES, tmp_path / "onnx")
    about = json.loads((tmp_path / "onnx/model.json").read_text())
    encoder, decoder = (
        onnxruntime.InferenceSession(tmp_path / f"onnx/{part}.float32.onnx")
        for part in ("encoder", "decoder")
    )
    given, steps, beam = texts([3, 9, 1, 12, 5]), 4, 3
    method = MaskPredict(steps=steps, length_beam=beam)
    for text, expected in zip(given, method(model, source_tensor(given)), strict=True):
        source = np.append(text.astype(np.int64), about["end"])[None]
        states, lengths = encoder.run(None, {"source": source})
        possible = range(1, about["positions"] + 1)
        found = []
        for width in sorted(possible, key=lambda length: -lengths[0, length])[:beam]:
            symbols, scores, masked = np.zeros(width, dtype=np.int64), np.zeros(width), width
            for step in range(1, steps + 1):
                masks = np.argsort(scores, kind="stable")[:masked]
                if masks.size:
                    tokens = symbols.copy()
                    tokens[masks] = about["mask"]
                    inputs = {"source": source, "states": states, "tokens": tokens[None]}
                    predicted, their_scores = decoder.run(None, inputs)
                    symbols[masks], scores[masks] = predicted[0, masks], their_scores[0, masks]
                masked = width * (steps - step) // steps
            found.append((scores.mean(), symbols.tolist()))
        assert max(found, key=lambda each: each[0])[1] == expected.tokens


def test_the_lengths_of_the_graph_are_those_of_the_predictor(
    make_model: Callable[..., Any], tmp_path: Path
) -> None:
    model = make_model(dtype=torch.float32, length="offset")
    write_onnx(model, VOCABULARIES, tmp_path / "onnx")
    encoder = onnxruntime.InferenceSession(tmp_path / "onnx/encoder.float32.onnx")
    assert [each.name for each in encoder.get_outputs()] == ["states", "lengths"]
    encoded = model.encode(SOURCE)
    expected = model.length_predictor(encoded.states, encoded.padding)
    found = encoder.run(["lengths"], {"source": SOURCE.numpy()})[0]
    torch.testing.assert_close(torch.from_numpy(found), expected, atol=1e-4, rtol=0)


def test_an_autoregressive_model_is_refused(make_model: Callable[..., Any], tmp_path: Path) -> None:
    with told("length", "decoder.upsample"):
        write_onnx(make_model(), VOCABULARIES, tmp_path / "onnx")
    assert not (tmp_path / "onnx").exists()


def test_only_parallel_systems_are_translated() -> None:
    CONFIGURATION.check_decoding("ctc-kd", "onnx-int8-1-lb1")
    CONFIGURATION.check_decoding("cmlm-kd", "onnx-int8-4-lb5")
    with told("'onnx-int8-1-lb1'"):
        CONFIGURATION.check_decoding("at-base", "onnx-int8-1-lb1")
    with told("2 steps"):
        CONFIGURATION.check_decoding("ctc-kd", "onnx-int8-2-lb1")


def test_what_is_no_exported_model_is_told(make_model: Callable[..., Any], tmp_path: Path) -> None:
    with told("vocabulary.json"):
        matching_engine(tmp_path / "onnx", VOCABULARIES.sizes, "int8", torch.device("cpu"))
    write_onnx(make_model(length="offset"), VOCABULARIES, tmp_path / "onnx")
    with told("29 symbols", "30"):
        matching_engine(tmp_path / "onnx", VocabularySizes(30), "int8", torch.device("cpu"))
    (tmp_path / "onnx/encoder.int8.onnx").write_bytes(b"damaged")
    with told("encoder.int8.onnx", "damaged"):
        matching_engine(tmp_path / "onnx", VOCABULARIES.sizes, "int8", torch.device("cpu"))
    (tmp_path / "onnx" / OF_FOLDER).unlink()
    with told("ONNX Runtime", "onnx"):
        matching_engine(tmp_path / "onnx", VOCABULARIES.sizes, "int8", torch.device("cpu"))
