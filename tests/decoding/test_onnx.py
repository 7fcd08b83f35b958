"""Models in ONNX Runtime: equal translations, whatever the decoder."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx as onnx_library
import onnxruntime
import pytest
import torch
from onnx import TensorProto, numpy_helper

from nat.checksums import OF_FOLDER
from nat.data.batch import source_tensor
from nat.data.vocabulary import BLANK, MASK, SPECIALS
from nat.decoding.ctc import CtcDecoding
from nat.decoding.engines import BLANK_PENALTY, engine_module
from nat.decoding.engines.onnx import OnnxEngine
from nat.decoding.imputer import ImputerDecoding
from nat.decoding.mask_predict import MaskPredict
from nat.decoding.network import choice
from nat.decoding.one_pass import OnePass
from nat.decoding.onnx_parallel import OnnxParallel
from nat.export import onnx
from nat.export.formats import convert
from nat.files import atomic_directory
from nat.transformer import projection
from tests.decoding.test_decode_corpus import VOCABULARIES, engine, must_agree, texts
from tests.messages import told
from tests.tiny import PARALLEL, make_model

SOURCE = source_tensor(texts([3, 9, 1, 12, 5, 1, 11]))


@pytest.mark.parametrize("name", PARALLEL)
def test_translations_are_those_of_the_model(name: str) -> None:
    model = make_model(dtype=torch.float32, dropout=0.1, **PARALLEL[name])
    opened = engine(model, "float32", "onnx")
    pairs: list[tuple[Any, dict[str, Any]]] = [
        (MaskPredict(steps=steps, length_beam=2), {"steps": steps, "length_beam": 2})
        for steps in (1, 3)
    ]
    if model.decoder.upsample:
        pairs = [
            (ImputerDecoding(steps=3), {"steps": 3}),
            (CtcDecoding(), {}),
            (CtcDecoding(blank_penalty=-2.0), {"blank_penalty": -2.0}),
        ]
    for ours, options in pairs:
        expected, written = ours(model, SOURCE), OnnxParallel(**options)(model, SOURCE, opened)
        must_agree(written, expected, 1e-4)
        assert [each.steps for each in written] == [each.steps for each in expected]
        assert options.get("blank_penalty") or any(each.tokens for each in expected)


@pytest.mark.parametrize("named", ["symbols", "log_probabilities"])
def test_graphs_that_compute_something_else_are_not_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, named: str
) -> None:
    def wrong(*given: Any) -> Any:
        symbol, value = right(*given)
        if named == "symbols":
            return torch.full_like(symbol, len(SPECIALS)), value
        return symbol, 3 * value

    right, model = onnx.ChoiceGraph.forward, make_model(dtype=torch.float32, length="offset")
    monkeypatch.setattr(onnx.ChoiceGraph, "forward", wrong)
    with told(named):
        convert("onnx", model, VOCABULARIES, tmp_path)


def test_a_graph_without_a_penalty_takes_none() -> None:
    model = make_model(dtype=torch.float32, length="offset")
    opened = engine(model, "float32", "onnx")
    canvas = torch.full((1, 3), MASK)
    with told(BLANK_PENALTY):
        encoded = opened.encode(SOURCE[:1], model.output.weight)
        opened.predict(canvas, encoded, canvas.eq(MASK), 0.5)


@pytest.mark.parametrize("penalty", [None, 0.0, 3.0])
@pytest.mark.parametrize("words", [1, 5, 6, 7, 23])
def test_symbols_are_chosen_as_by_the_projection(
    words: int, penalty: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The words fill the blocks in which the largest is searched, or do not."""
    monkeypatch.setattr(projection, "BLOCK", 6)
    decoder = {} if penalty is None else {"copy": "soft", "upsample": 2.0}
    length = "offset" if penalty is None else None
    size = len(SPECIALS) + words
    model = make_model(length=length, decoder=decoder, vocabulary_size=size)
    states = torch.randn(400, model.architecture.model_dim, dtype=torch.float64)
    given = None if penalty is None else torch.tensor(penalty, dtype=torch.float64)
    symbols, log_probabilities = onnx.ChoiceGraph(model)(states, given)
    expected = model.output.best(states, *choice(model, penalty or 0.0))
    assert torch.equal(symbols[:, 0], expected.symbols)
    torch.testing.assert_close(log_probabilities[:, 0], expected.log_probabilities)
    assert len(symbols.unique()) > min(words, 9)


def test_a_model_with_few_positions_is_exported(tmp_path: Path) -> None:
    model = make_model(dtype=torch.float32, length="offset", max_positions=4)
    convert("onnx", model, VOCABULARIES, tmp_path / "onnx")


def test_int8_is_near_float32(tmp_path: Path) -> None:
    model = make_model(
        dtype=torch.float32, decoder={"copy": "soft", "upsample": 2.0}, model_dim=32, ffn_dim=64
    )
    convert("onnx", model, VOCABULARIES, tmp_path / "onnx")
    exact, rounded = (
        OnnxParallel()(model, SOURCE, OnnxEngine(tmp_path / "onnx", precision))
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


@pytest.mark.parametrize("length", ["target", "offset", "token", "constant"])
def test_what_the_graphs_do_not_do_is_in_model_json(tmp_path: Path, length: str) -> None:
    """Lengths and empty tokens, as docs/deployment.md describes them."""
    model = make_model(dtype=torch.float32, length=length)
    model.empty_token = True
    given = texts([3, 9, 1, 12, 5])
    token = OnePass()(model, source_tensor(given))[0].tokens[0]
    with torch.no_grad():  # the empty token takes the place of one that was written
        model.embedding.weight[BLANK] = 1.1 * model.embedding.weight[token]
    if length == "constant":
        model.length_predictor.difference.fill_(-1.5)
    convert("onnx", model, VOCABULARIES, tmp_path / "onnx")
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
            shift = len(text) - 128 if about["length"] == "offset" else 0
            widths = np.arange(256) + shift
            possible = (widths >= 1) & (widths <= about["positions"])
            width = int(widths[np.where(possible, more[-1][0], -np.inf).argmax()])
        tokens = np.full((1, width), about["mask"])
        symbols, _ = decoder.run(None, {"source": source, "states": states, "tokens": tokens})
        empty = about["blank"] if about["empty_token"] else None
        written = [symbol for symbol in symbols[0].tolist() if symbol != empty]
        dropped += width - len(written)
        assert written == expected.tokens
    assert dropped


@pytest.mark.parametrize(
    ("name", "options", "file"),
    [("onnx", {"length": "offset"}, "decoder.int8.onnx"), ("ctranslate2", {}, "int8/model.bin")],
)
def test_what_is_no_converted_model_is_told(
    name: str, options: dict[str, Any], file: str, tmp_path: Path
) -> None:
    folder, cpu = tmp_path / name, torch.device("cpu")
    with atomic_directory(folder) as made:
        convert(name, make_model(dtype=torch.float32, **options), VOCABULARIES, made)
    (folder / file).write_bytes(bytes((folder / file).stat().st_size))
    with told(file, "damaged"):
        engine_module(name).ENGINE(folder, "int8", cpu)
    for each in folder.rglob(OF_FOLDER):  # as in a package of a stranger
        each.unlink()
    with told(folder):
        engine_module(name).ENGINE(folder, "int8", cpu)
