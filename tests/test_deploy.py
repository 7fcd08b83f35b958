"""The command `nat`: raw text to raw text, as the graph translates; packages that travel."""

import importlib
import importlib.metadata
import io
import itertools
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ctranslate2
import pytest
import torch
import yaml
from fairseq.data import Dictionary
from fairseq.dataclass.configs import GenerationConfig
from made_up_models import CORPUS, ROOT, files_in, sentences, write_model, write_run

from benchmarks import exports
from nat.artifacts import Shard
from nat.checksums import OF_FOLDER, PACKAGE
from nat.configuration import load as load_configuration
from nat.data.bpe import segments_at
from nat.data.corpus import Corpus
from nat.data.lines import LONGEST_LINE
from nat.data.raw_text import RawText
from nat.data.splits import prepared_as
from nat.data.translations import read_translations
from nat.data.vocabulary import EOS, PAD, SPECIALS, UNK
from nat.decoding.hypothesis import Hypothesis
from nat.deploy import command, translator
from nat.deploy.export import export
from nat.deploy.package import (
    MODEL,
    USUAL_OF_STUDENTS,
    of_training,
    open_folder,
    packed,
    scored_decodings,
    usual_decoding,
)
from nat.deploy.translator import in_parts, load
from nat.fairseq_plugin import translation
from nat.jobs.translate import translate_shard
from nat.options import validated
from nat.training.model_file import TrainedModel, load_model
from nat.training.run import REPORT
from nat.training.weights import CONVERTED, WEIGHTS, checksum_of
from nat.transformer.model import Transformer
from tests.messages import must_name, told

TEST = [*sentences(20, 3), "", "   ", "A line\u2028with\x85breaks\x1cin it.", "x" * 40]
SYSTEMS = {
    "at-base": ["beam5", "ctranslate2-float32-beam2"],
    "nat-kd": ["one-pass"],
    "cmlm-kd": ["mask-predict-10-lb5", "mask-predict-2-lb3", "onnx-float32-2-lb3"],
    "dims-cmlm-kd": ["mask-predict-1-lb5"],
    "cmlmc-kd": ["mask-correct-10-lb5"],
    "ctc-kd": ["ctc", "ctc-beam20"],
    "ctc-vae-kd": ["ctc", "onnx-float32-1-lb1"],
    "imputer-kd": ["imputer-4"],
    "hrt": ["hybrid5-1"],
    "sat-mixed": ["group-beam5"],
}
"""Decodings of systems; the first is usual."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with models of all systems."""
    folder = tmp_path_factory.mktemp("run")
    converted = {"ctranslate2": ["at-base"], "onnx": ["cmlm-kd", "ctc-kd", "ctc-vae-kd"]}
    write_run(folder, TEST, SYSTEMS, converted)
    return folder


@pytest.fixture(autouse=True)
def in_root(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)


@pytest.fixture
def own_run(root: Path, in_root: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a copy of the run, which a test may change."""
    shutil.copytree(root, tmp_path / "run")
    monkeypatch.chdir(tmp_path / "run")


def model(system: str) -> Path:
    return Path("results/micro/models") / CORPUS / system / "seed1"


def of_graph(system: str, decoding: str) -> list[str]:
    """The translations that a job of the graph makes."""
    shard = Shard("micro", CORPUS, system, 1, decoding, "test", 1, 1)
    translate_shard(load_configuration("micro", checked=False), shard)
    return [record["text"] for record in read_translations(Path(shard.path))]


Run = Callable[..., tuple[str, str, int]]


@pytest.fixture
def nat(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Run the command in this process; returns both outputs and the exit status."""

    def run(*arguments: object, text: bytes = b"") -> tuple[str, str, int]:
        monkeypatch.setattr(sys, "argv", ["nat", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text)))
        status = 0
        try:
            command.main()
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
        found = capfdbinary.readouterr()
        return found.out.decode(), found.err.decode(), status

    return run


@pytest.mark.parametrize(
    ("system", "decoding"), [(system, name) for system, names in SYSTEMS.items() for name in names]
)
def test_translations_are_those_of_the_graph(system: str, decoding: str) -> None:
    expected = of_graph(system, decoding)
    found = load(model(system), decoding).translate(TEST)
    assert found == expected
    assert len({*found}) > 5
    assert [not text for text in found][20:22] == [True, True]


@pytest.mark.parametrize(("decoding", "mapped"), [("beam5", False), (SYSTEMS["at-base"][1], True)])
def test_an_engine_leaves_the_weights_of_pytorch_in_their_file(
    monkeypatch: pytest.MonkeyPatch, decoding: str, mapped: bool
) -> None:
    found: list[bool] = []

    def noting(path: Path, device: torch.device, *, mapped: bool) -> TrainedModel:
        found.append(mapped)
        return load_model(path, device, mapped=mapped)

    monkeypatch.setattr(translator, "load_model", noting)
    load(model("at-base"), decoding)
    assert found == [mapped]


def test_the_usual_decoding_suits_every_system() -> None:
    configuration = load_configuration("micro", checked=False)
    for system in configuration.systems:
        usual = usual_decoding(configuration, system)
        configuration.check_decoding(system, usual)
    for system, names in SYSTEMS.items():
        if system != "imputer-kd":
            assert usual_decoding(configuration, system) == names[0]
    assert usual_decoding(configuration, "dims-imputer-kd") == USUAL_OF_STUDENTS[1]


def test_a_line_comes_out_for_every_line_that_goes_in(nat: Run) -> None:
    text = "\n".join([*TEST, "no line feed at the end"]).encode()
    out, _, status = nat("translate", model("ctc-kd"), text=text)
    assert status == 0
    assert out.count("\n") == len(TEST) + 1 == len(out.splitlines())
    assert out.splitlines()[:-1] == load(model("ctc-kd")).translate(TEST)
    windows, _, _ = nat("translate", model("ctc-kd"), text=text.replace(b"\n", b"\r\n"))
    assert windows == out
    assert nat("translate", model("ctc-kd")) == ("", "", 0)
    mark = "\ufeff".encode()
    assert nat("translate", model("ctc-kd"), text=mark) == ("", "", 0)
    assert nat("translate", model("ctc-kd"), text=mark + text) == (out, "", 0)


def test_blocks_of_lines_stay_in_order(
    nat: Run, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    lines = [*TEST[:4], "bada " * 3000, *TEST[4:]]
    text = "".join(line + "\n" for line in lines).encode()
    whole = nat("translate", model("ctc-kd"), text=text)[0]
    caplog.clear()
    monkeypatch.setattr(command, "BLOCK", 3)
    assert nat("translate", model("ctc-kd"), text=text)[0] == whole
    (warning,) = caplog.messages
    must_name(warning, "line 5")


@pytest.mark.parametrize(("arguments", "terminal"), [([], True), (["--lines", "1"], False)])
def test_a_line_is_answered_before_the_next_one_is_read(
    arguments: list[str], terminal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[str] = []

    class Asking(io.BytesIO):
        def isatty(self) -> bool:
            return terminal

        def readline(self, size: int | None = -1, /) -> bytes:
            line = super().readline(size)
            events.append("read" if line else "end")
            return line

    monkeypatch.setattr(command, "_write", lambda lines: events.extend("wrote" for _ in lines))
    monkeypatch.setattr(sys, "argv", ["nat", "translate", str(model("ctc-kd")), *arguments])
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=Asking(b"bada\nbeida\n")))
    command.main()
    assert events == ["read", "wrote", "read", "wrote", "end"]


def test_memory_of_the_gpu_that_does_not_suffice_is_told(
    nat: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise torch.OutOfMemoryError(str(arguments[-1]))

    monkeypatch.setattr(translator, "translate", fail)
    out, err, status = nat("translate", model("ctc-kd"), "--batch-tokens", 700, text=b"bada\n")
    assert (out, status) == ("", 1)
    must_name(err, "700 source tokens", "--batch-tokens")


def test_a_long_line_is_cut_and_translated(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    translator = load(model("ctc-kd"))
    limit = translator.model.longest_source
    sentence = "bada beida bouda burda. "
    parts = in_parts(translator.raw_text.subwords(sentence * limit).split(), limit)
    assert len(parts) > 3
    assert all(part[-1] == "." and limit // 2 < len(part) <= limit for part in parts[:-1])
    (found,) = translator.translate([sentence * limit])
    assert len(found) > 100
    must_name(caplog.text, "line 1", len(parts))
    (unbroken,) = translator.translate(["bada" * 2 * limit])
    assert unbroken


def test_a_line_without_a_translation_is_told(caplog: pytest.LogCaptureFixture) -> None:
    translator = load(model("ctc-kd"))
    method, longest = translator.method, translator.model.longest_source
    texts = ("bada bada bada. " * number for number in itertools.count())
    prepared = ((text, translator.raw_text.subwords(text).split()) for text in texts)
    text, subwords = next(each for each in prepared if len(each[1]) > longest)
    assert [len(part) > 30 for part in in_parts(subwords, longest)] == [True, False]

    def decode(model: Transformer, source: torch.Tensor) -> list[Hypothesis]:
        """Finds nothing in short sentences, and no finite score in the shortest."""
        lengths = source.ne(PAD).sum(1).tolist()
        found = [Hypothesis([], -math.inf if length < 4 else -1.0, 1) for length in lengths]
        pairs = zip(lengths, method(model, source), found, strict=True)
        return [whole if length > 31 else empty for length, whole, empty in pairs]

    translator.method = decode
    found = translator.translate(["bada bada bada", "", " ", ".", text], first=7)
    assert found[:4] == [""] * 4 and found[4]
    warnings = [message for message in caplog.messages if "not translated" in message]
    for line, warning in zip(("line 7", "line 10", "part of line 11"), warnings, strict=True):
        must_name(warning, line)


def test_a_string_is_not_taken_for_lines() -> None:
    with told("[line]", error=TypeError):
        load(model("ctc-kd")).translate("one sentence")


@pytest.mark.parametrize(
    ("subwords", "longest", "parts"),
    [
        ("a b c", 3, ["a b c"]),
        ("a b c d", 3, ["a b c", "d"]),
        ("a b@@ c@@ d e", 3, ["a", "b@@ c@@ d", "e"]),
        ("a@@ b@@ c@@ d", 3, ["a@@ b@@ c@@", "d"]),
        ("a b . c d e f", 4, ["a b .", "c d e f"]),
        ("a . b c d e", 4, ["a . b c", "d e"]),
        ("\uffeda \uffedb c \uffedd", 3, ["\uffeda \uffedb", "c \uffedd"]),
        ("", 3, [""]),
    ],
)
def test_where_a_line_is_cut(subwords: str, longest: int, parts: list[str]) -> None:
    assert in_parts(subwords.split(), longest) == [part.split() for part in parts]


@pytest.mark.parametrize("system", ["at-base", "ctc-kd"])
def test_a_package_needs_nothing_else(
    system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nat: Run
) -> None:
    names = SYSTEMS[system]
    expected = [load(model(system), name).translate(TEST) for name in names]
    status = nat("pack", model(system), tmp_path / "first", "--decodings", *names)[2]
    assert status == 0
    shutil.move(tmp_path / "first", tmp_path / "moved")
    monkeypatch.chdir(tmp_path)
    assert [load("moved", name).translate(TEST) for name in names] == expected
    assert load("moved").decoding == names[0]
    with told(PACKAGE, f"{names[0]}s", names[0]):
        load("moved", f"{names[0]}s")
    packed(Path("moved"), Path("smaller"), names[-1:])
    assert load("smaller").translate(TEST) == expected[-1]
    assert not (Path("smaller") / "ctranslate2").exists() or system == "at-base"


def test_a_package_has_the_options_that_were_tuned(tmp_path: Path, nat: Run) -> None:
    arguments = ("pack", model("ctc-kd"), tmp_path / "packed", "--decodings", "ctc-tuned")
    file = Path("results/micro/tuning") / CORPUS / "ctc-kd/seed1/ctc-tuned.json"
    _, err, status = nat(*arguments)
    assert status == 1 and err.count("\n") == 1
    must_name(err, file)
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"chosen": {"blank_penalty": -20.0}}))
    assert nat(*arguments)[2] == 0
    file.unlink()
    assert not any(load(tmp_path / "packed").translate(TEST))


def test_the_usual_decoding_has_options_that_were_tuned(own_run: None) -> None:
    folder = Path("results/micro/tuning") / CORPUS / "ctc-kd/seed1"
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in {"ctc-tuned": 0.7, "onnx-int8-ctc-tuned": 0.9}.items():
        (folder / f"{name}.json").write_text(json.dumps({"chosen": {"blank_penalty": value}}))
    translator = load(model("ctc-kd"))
    assert translator.decoding == "ctc-tuned" and translator.method.blank_penalty == 0.7
    packed(model("ctc-kd"), Path("packed"))
    assert load("packed").decoding == "ctc-tuned"
    names = ["ctc", "onnx-int8-ctc-tuned"]
    packed(model("ctc-kd"), Path("with-engine"), names)
    for source in (model("ctc-kd"), Path("with-engine")):
        export(source, Path("exported"), "onnx")
        found = json.loads(Path("exported/model.json").read_text())["decodings"]
        assert list(found) == ["onnx-int8-ctc-tuned"]
        assert found["onnx-int8-ctc-tuned"]["blank_penalty"] == 0.9


def test_a_faulty_decoding_is_told_and_no_other_one_taken(own_run: None) -> None:
    file = Path("config/decodings/ctc.yaml")
    file.write_text(file.read_text().replace("ctc: {}", "ctc: {blank_penalties: 1}"))
    with told(file, "blank_penalties"):
        load(model("ctc-kd"))


def test_a_package_with_an_engine_is_packed_again(tmp_path: Path, nat: Run) -> None:
    folder = model("cmlm-kd")
    for _ in range(2):
        arguments = ("pack", folder, tmp_path / "packed", "--decodings", "onnx-float32-2-lb3")
        assert nat(*arguments) == ("", "", 0)
        folder = tmp_path / "again"  # a package is packed as a model is
        packed(tmp_path / "packed", folder)


def test_results_may_be_links(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = load(model("ctc-kd")).translate(TEST[:3])
    scratch = tmp_path / "scratch/nat-results"
    for name in (f"corpora/{CORPUS}/bpe", f"micro/models/{CORPUS}/ctc-kd"):
        shutil.copytree(root / "results" / name, scratch / name)
    whole, part = tmp_path / "whole", tmp_path / "part"
    for folder in (whole, part):
        folder.mkdir()
        (folder / "config").symlink_to(root / "config")
    (whole / "results").symlink_to(scratch)
    (part / "results").mkdir()
    (part / "results/corpora").symlink_to(scratch / "corpora")
    scratch.joinpath("micro").rename(tmp_path / "scratch/other")
    scratch.joinpath("micro").symlink_to(tmp_path / "scratch/other")
    (part / "results/micro").symlink_to(tmp_path / "scratch/other")
    (part / "mine").symlink_to(root / model("ctc-kd"))
    for folder, name in ((whole, model("ctc-kd")), (part, model("ctc-kd")), (part, "mine")):
        monkeypatch.chdir(folder)
        assert load(name).translate(TEST[:3]) == expected
    with told(MODEL, "nat pack"):
        load(tmp_path / "scratch/nat-results" / model("ctc-kd").relative_to("results"))


@pytest.mark.parametrize("name", ["model.pt", "ctranslate2/float32/model.bin"])
def test_what_is_damaged_is_not_packed(name: str, root: Path, tmp_path: Path, nat: Run) -> None:
    shutil.copytree(root, tmp_path / "run", dirs_exist_ok=True)
    folder = tmp_path / "run" / model("at-base")
    damaged = folder / name
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    _, err, status = nat("pack", folder, tmp_path / "packed", "--decodings", *SYSTEMS["at-base"])
    assert status == 1
    must_name(err, name, "damaged")
    assert not (tmp_path / "packed").exists()


@pytest.mark.parametrize(
    ("system", "decoding", "made"),
    [
        ("ctc-kd", "onnx-float32-1-lb1", "models/{}/ctc-kd/seed1/onnx"),
        ("at-base", "ctranslate2-float32-beam2", "models/{}/at-base/seed1/ctranslate2"),
        ("ctc-kd", "ctc-tuned", "tuning/{}/ctc-kd/seed1/ctc-tuned.json"),
    ],
)
@pytest.mark.parametrize("earlier", [False, True])
def test_what_was_made_from_other_weights_is_not_used(
    system: str, decoding: str, made: str, earlier: bool, nat: Run, own_run: None
) -> None:
    path = Path("results/micro") / made.format(CORPUS)
    if decoding == "ctc-tuned":
        path.parent.mkdir(parents=True, exist_ok=True)
        options = {"chosen": {"blank_penalty": 1.0}, WEIGHTS: checksum_of(model(system) / MODEL)}
        path.write_text(json.dumps(options))
    if earlier:  # as earlier versions of this project wrote it
        file = path
        if path.is_dir():
            file = path / CONVERTED
            (path / ".sha256sums").unlink()
        content = json.loads(file.read_text())
        assert content.pop(WEIGHTS) == checksum_of(model(system) / MODEL)
        file.write_text(json.dumps(content))
    commands = (
        ["translate", model(system), "--decoding", decoding],
        ["pack", model(system), "packed", "--decodings", decoding],
    )
    assert [nat(*each, text=b"bada\n")[2] for each in commands] == [0, 0]
    trained_again = write_model(system, seed=2)
    for name in (MODEL, f".{MODEL}.sha256"):
        (trained_again / name).replace(model(system) / name)
    shutil.rmtree("packed")
    parts = model(system) / MODEL, f"snakemake --force {path} --config scale=micro"
    for each in commands:
        out, err, status = nat(*each, text=b"bada\n")
        assert (out, status) == ("", 1) and err.count("\n") == 1
        must_name(err, *parts)
    assert not Path("packed").exists()
    with told(*parts):
        of_graph(system, decoding)


@pytest.mark.parametrize(
    "options", [["pack"], ["export", "--to", "huggingface"]], ids=lambda options: options[0]
)
def test_scores_of_other_weights_are_not_taken(options: list[str], nat: Run, own_run: None) -> None:
    name, *more = options
    file = Path("results/micro/scores") / CORPUS / "ctc-kd/seed1/ctc/test.json"
    file.parent.mkdir(parents=True)
    measures = {"sacrebleu": {"value": 1.0, "low": 0.5, "high": 1.5, "signature": "nrefs:1"}}
    score = {"decoding": "ctc", "split": "test", "measures": {"test": measures}}
    file.write_text(json.dumps(score | {"model": {"fingerprint": "first"}}))
    record = model("ctc-kd") / REPORT
    record.write_text(json.dumps({"fingerprint": "second"}))
    out, err, status = nat(name, model("ctc-kd"), "made", *more)
    assert (out, status) == ("", 1) and not Path("made").exists()
    again = f"snakemake --force {file} --config scale=micro"
    must_name(err, Path.cwd() / file, Path.cwd() / model("ctc-kd") / MODEL, again)
    assert nat(name, model("ctc-kd"), "other", *more, "--decodings", "ctc-beam20")[2] == 0
    record.write_text(json.dumps({"fingerprint": "first"}))
    assert nat(name, model("ctc-kd"), "made", *more) == ("", "", 0)


def test_a_model_does_not_translate_text_of_another_preparation(nat: Run, own_run: None) -> None:
    corpus = load_configuration("micro", checked=False).corpus(CORPUS)
    record = model("ctc-kd") / REPORT
    record.write_text(json.dumps({"corpus": prepared_as(corpus, "train")}))
    commands = [
        ["translate", model("ctc-kd")],
        ["pack", model("ctc-kd"), "made"],
        ["export", model("ctc-kd"), "made", "--to", "onnx"],
    ]
    assert [nat(*each, text=b"bada\n")[2] for each in commands] == [0, 0, 0]
    shutil.rmtree("made")
    file = Path("config/corpora") / f"{CORPUS}.yaml"
    file.write_text(file.read_text().replace("lowercase: true", "lowercase: false"))
    for each in commands:
        out, err, status = nat(*each, text=b"bada\n")
        assert (out, status) == ("", 1) and not Path("made").exists()
        again = f"snakemake --force {model('ctc-kd') / MODEL} --config scale=micro"
        must_name(err, Path.cwd() / file, "preprocessing.lowercase", again)


def test_a_named_run_is_read_with_its_override(root: Path, tmp_path: Path) -> None:
    shutil.copytree(root, tmp_path / "run")
    results = tmp_path / "run/results"
    (results / "micro").rename(results / "micro@wide")
    folder = results / "micro@wide/models" / CORPUS / "cmlm-kd/seed1"
    decoding = "masked-at-head-0.5"
    with told("micro@wide/override.json", "does not exist"):
        of_training(folder, [decoding])
    for changes, assistant in (
        ({}, "at-base"),
        # the teacher of HRT is another training then, with a name of its own
        ({"recipes": {"hrt-at": {"updates": 7}}}, "hrt-at-base"),
    ):
        (results / "micro@wide/override.json").write_text(json.dumps(changes))
        found = of_training(folder, [decoding]).files[f"assistant-{assistant}.pt"]
        assert found == results / "micro@wide/models" / CORPUS / assistant / "seed1" / MODEL
    (results / "micro@wide/override.json").write_text("[]")
    with told("micro@wide/override.json", "cannot be read"):
        of_training(folder, [decoding])


def test_decodings_that_the_run_has_scored_are_packed(root: Path, tmp_path: Path) -> None:
    score = root / "results/micro/scores" / CORPUS / "cmlm-kd/seed1/mask-predict-3-lb1/test.json"
    score.parent.mkdir(parents=True)
    score.write_text('{"measures": {}}')
    assert scored_decodings(model("cmlm-kd")) == ["mask-predict-3-lb1"]
    packed(model("cmlm-kd"), tmp_path / "packed")
    found = open_folder(tmp_path / "packed").package.decodings
    assert list(found) == ["mask-predict-10-lb5", "mask-predict-3-lb1"]


@pytest.mark.parametrize(("system", "engine"), [("at-base", "ctranslate2"), ("ctc-kd", "onnx")])
def test_an_export_is_what_the_graph_converts(
    system: str, engine: str, tmp_path: Path, nat: Run
) -> None:
    assert nat("export", model(system), tmp_path / "made", "--to", engine)[2] == 0
    expected, made = map(files_in, (model(system) / engine, tmp_path / "made"))
    assert made.pop("codes") == Path("results/corpora", CORPUS, "bpe/codes").read_bytes()
    corpus = validated(Corpus, json.loads(made.pop("corpus.json")))
    prepare = RawText(corpus, segments_at(tmp_path / "made/codes"))
    assert [*map(prepare.subwords, TEST)] == [*map(load(model(system)).raw_text.subwords, TEST)]
    own, there = json.loads(expected.pop(CONVERTED)), json.loads(made.pop(CONVERTED))
    assert there == {**own, "decodings": {}}  # nothing is tuned
    assert made == expected


@pytest.mark.parametrize(
    ("decoding", "part"), [("ctc-old", "'ctc-old'"), ("onnx-float32-1-lb1", "onnx")]
)
def test_only_what_has_decodings_needs_those_that_the_run_has_scored(
    decoding: str, part: str, nat: Run, own_run: None
) -> None:
    score = Path("results/micro/scores") / CORPUS / "ctc-kd/seed1" / decoding / "test.json"
    score.parent.mkdir(parents=True)
    score.write_text("{}")
    shutil.rmtree(model("ctc-kd") / "onnx")
    assert nat("export", model("ctc-kd"), "made", "--to", "onnx") == ("", "", 0)
    for name, *options in (
        ["pack"],
        ["export", "--to", "fairseq"],
        ["export", "--to", "huggingface"],
    ):
        _, err, status = nat(name, model("ctc-kd"), "other", *options)
        assert status == 1 and err.count("\n") == 1
        must_name(err, "--decodings", part)
        assert nat(name, model("ctc-kd"), "other", *options, "--decodings", "ctc")[2] == 0


@pytest.mark.parametrize("system", ["nat-kd", "cmlm-kd", "dims-cmlm-kd", "ctc-kd", "sat-mixed"])
def test_ctranslate2_takes_no_system_for_an_autoregressive_one(system: str, tmp_path: Path) -> None:
    with told(f"'{system}'", "--to"):
        export(model(system), tmp_path / "made", "ctranslate2")
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("system", "decoding"),
    [
        pytest.param("at-base", "beam5", marks=pytest.mark.long),
        pytest.param("ctc-vae-kd", "ctc", marks=pytest.mark.long),
        ("cmlm-kd", "mask-predict-2-lb3"),
    ],
)
def test_every_export_translates_the_same_in_its_own_program(system: str, decoding: str) -> None:
    found = exports.measure(model(system), decoding, sentences=15)
    assert found["sentences"] == 15
    itself = found["exports"].pop("model itself")
    int8 = [found["exports"].pop(name) for name in list(found["exports"]) if "int8" in name]
    assert len(int8) == 1 and len(found["exports"]) == 3
    # what is random writes until the maximal length, where CTranslate2 stops without an EOS
    found["exports"].pop("ctranslate2, float32", None)
    for each in found["exports"].values():
        assert (each["differ"], each["bleu"]) == (0, itself["bleu"])


@pytest.mark.long
def test_an_empty_line_stays_empty_in_other_programs(tmp_path: Path) -> None:
    case = exports.Case(load(model("nat-kd")), "en-de", [TEST[0], "", TEST[1]])
    expected = case.translator.translate(case.sources)
    assert all(expected[::2])
    for to, run in (("fairseq", exports.in_fairseq), ("huggingface", exports.in_transformers)):
        export(model("nat-kd"), tmp_path / to, to)
        assert run(case, tmp_path / to) == expected


def test_fairseq_writes_our_text_with_the_commands_of_the_docs(tmp_path: Path) -> None:
    export(model("nat-kd"), tmp_path / "nat-fairseq", "fairseq")
    docs = (ROOT / "docs/deployment.md").read_text()
    (commands,) = re.findall(r"```\n(fairseq-preprocess .*?)```", docs, re.DOTALL)
    commands = (
        commands.replace(" lu ", " de ").replace(" ka ", " en ").replace("dict.ka", "dict.en")
    )
    commands = commands.replace("toy-ka-lu", CORPUS).replace(" nat/", f" {ROOT}/nat/")
    (tmp_path / "results").symlink_to(Path("results").absolute())
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    output = exports.run_program(
        ["bash", "-ec", f"cd {tmp_path}\n{commands}"], PATH=path, PYTHONPATH=str(ROOT)
    )
    rows = [line.split("\t") for line in output.splitlines() if line.startswith("H-")]
    words = {int(row[0][2:]): row[2] for row in rows}
    assert not any("@@ " in line for line in words.values())
    ours = load(model("nat-kd"))
    expected = ours.translate(TEST)
    assert [ours.raw_text.text(words[number]) for number in range(len(TEST))] == expected


@pytest.mark.parametrize(
    ("given", "parts"),
    [
        ({"decoding": "one-pas"}, ["--decoding", "'one-pas'", "'one-pass'"]),
        ({"beam": 7, "nbest": 3}, ["--beam", "--decoding", "one-pass"]),
        ({"lenpen": 2.0}, ["--lenpen"]),
        ({"print_step": True}, None),
    ],
)
def test_options_without_effect_end_fairseq_with_one_sentence(
    given: dict[str, Any], parts: list[str] | None
) -> None:
    options = vars(GenerationConfig()) | given
    decodings = {"one-pass": {"method": "one_pass"}}
    task = translation.Translation(
        SimpleNamespace(decoding=options.pop("decoding", "")), Dictionary(), Dictionary()
    )
    models = [SimpleNamespace(decodings=decodings)]
    with nullcontext() if parts is None else told(*parts, error=SystemExit):
        task.build_generator(models, SimpleNamespace(**options))


@pytest.mark.long
def test_fairseq_skips_a_line_that_is_too_long_where_it_is_asked_to(tmp_path: Path) -> None:
    export(model("ctc-kd"), tmp_path, "fairseq")
    limit = load(model("ctc-kd")).model.longest_source
    lines = [". " * limit, ". " * (limit + 1), "."]
    for side in ("en", "de"):  # a reference may be longer than what the model can write
        text = "".join(f"{line}\n" for line in lines if side == "en") or "a " * 999 + "\n.\n.\n"
        (tmp_path / f"test.en-de.{side}").write_text(text)
    generate = [sys.executable, "-m", "fairseq_cli.generate", str(tmp_path), "--path"]
    generate += [str(tmp_path / "model.pt"), "--user-dir", str(ROOT / "nat/fairseq_plugin")]
    generate += ["--task", "nat_translation", "--dataset-impl", "raw", "--scoring", "sacrebleu"]
    skipped, refused = (
        subprocess.run(
            [*generate, *option],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        for option in (["--skip-invalid-size-inputs-valid-test"], [])
    )
    assert skipped.returncode == 0, skipped.stderr[-2000:]
    found = {line.split("\t")[0] for line in skipped.stdout.splitlines() if line[:2] == "H-"}
    assert found == {"H-0", "H-2"}
    assert refused.returncode == 1
    assert "Size of sample #1 is invalid" in refused.stderr
    assert "--skip-invalid-size-inputs-valid-test" in refused.stderr


@pytest.mark.long
def test_what_transformers_saves_it_opens_again(tmp_path: Path) -> None:
    export(model("ctc-kd"), tmp_path / "made", "huggingface")
    program = (
        "import sys\n"
        "from transformers import AutoModel, AutoTokenizer\n"
        "for kind in (AutoModel, AutoTokenizer):\n"
        "    found = kind.from_pretrained(sys.argv[1], trust_remote_code=True)\n"
        "    found.save_pretrained(sys.argv[2])\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "made"), str(tmp_path / "saved")]
    exports.run_program(command, HF_HOME=str(tmp_path / "home"), HF_HUB_OFFLINE="1", PYTHONPATH="")
    case = exports.Case(load(model("ctc-kd")), "en-de", TEST[:5])
    shutil.rmtree(tmp_path / "made")
    found = exports.in_transformers(case, tmp_path / "saved")
    assert found == case.translator.translate(case.sources)


def in_transformers(folder: Path, program: str) -> Any:
    """What a program prints as JSON that has the tokenizer and the model of an export."""
    opened = (
        "import json\n"
        "from transformers import AutoModel, AutoTokenizer\n"
        f"folder = {str(folder)!r}\n"
        "tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=True)\n"
        "model = AutoModel.from_pretrained(folder, trust_remote_code=True)\n"
    )
    home = {"HF_HOME": str(folder / "home"), "HF_HUB_OFFLINE": "1", "PYTHONPATH": ""}
    return json.loads(exports.run_program([sys.executable, "-c", opened + program], **home))


@pytest.mark.long
def test_transformers_is_told_what_would_be_ignored(tmp_path: Path) -> None:
    export(model("ctc-kd"), tmp_path / "made", "huggingface")
    found = in_transformers(
        tmp_path / "made",
        "told = []\n"
        "given = tokenizer(['bada'], return_tensors='pt')\n"
        "model.generate(**given, decoding='ctc')\n"
        "AutoModel.from_pretrained(folder, trust_remote_code=True, dtype='auto')\n"
        "cut = tokenizer(['bada ' * 3000], truncation=True, return_tensors='pt').input_ids\n"
        "assert len(cut[0]) == tokenizer.model_max_length and model.generate(cut).numel()\n"
        "for call in (\n"
        "    lambda: model.generate(**given, decoding='ctd'),\n"
        "    lambda: model.generate(**given, num_beams=3),\n"
        "    lambda: AutoModel.from_pretrained(\n"
        "        folder, trust_remote_code=True, output_loading_info=True\n"
        "    ),\n"
        "    lambda: AutoModel.from_pretrained(folder, trust_remote_code=True, dtype='float16'),\n"
        "    lambda: model.generate(tokenizer(['bada ' * 3000], return_tensors='pt').input_ids),\n"
        "    lambda: model.generate(\n"
        "        tokenizer(['bada'], add_special_tokens=False, return_tensors='pt').input_ids\n"
        "    ),\n"
        "):\n"
        "    try:\n"
        "        call()\n"
        "    except Exception as error:\n"
        "        told.append(f'{type(error).__name__}: {error}')\n"
        "print(json.dumps(told))",
    )
    expected = (
        ["UserError", "'ctd'", "'ctc'"],
        ["TypeError", "'num_beams'"],
        ["TypeError", "'output_loading_info'"],
        ["TypeError", "'dtype'"],
        ["UserError", "max_positions"],
        ["UserError", "add_special_tokens=False"],
    )
    for parts, sentence in zip(expected, found, strict=True):
        must_name(sentence, *parts)


@pytest.mark.long
def test_transformers_may_pad_on_either_side(tmp_path: Path) -> None:
    export(model("nat-kd"), tmp_path / "made", "huggingface")
    left, right = in_transformers(
        tmp_path / "made",
        f"lines = {TEST[:6]!r}\n"
        "found = []\n"
        "for side in ('left', 'right'):\n"
        "    given = tokenizer(lines, return_tensors='pt', padding=True, padding_side=side)\n"
        "    ids = model.generate(**given)\n"
        "    found.append(tokenizer.batch_decode(ids, skip_special_tokens=True))\n"
        "print(json.dumps(found))",
    )
    assert left == right == load(model("nat-kd")).translate(TEST[:6])


def test_written_specials_are_unknown_words_for_transformers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "run").mkdir()
    undivided = {"tokeniser": "none", "lowercase": False, "normalise_punctuation": False}
    write_run(tmp_path / "run", TEST, ["ctc-kd"], {}, **undivided, bpe_merges=0)
    monkeypatch.chdir(tmp_path / "run")
    export(model("ctc-kd"), tmp_path / "made", "huggingface")
    line = f"{TEST[0]} {' '.join(SPECIALS)} w2"
    ours = load(model("ctc-kd"))
    expected = ours.vocabularies.source.encode(ours.raw_text.subwords(line))
    assert expected[-7:] == [UNK] * 7 and len({*expected}) > 1
    found = in_transformers(tmp_path / "made", f"print(json.dumps(tokenizer({line!r}).input_ids))")
    assert found == [*expected, EOS]


def test_ctranslate2_writes_our_text_with_the_options_of_the_docs(tmp_path: Path) -> None:
    export(model("at-base"), tmp_path / "made", "ctranslate2")
    docs = (ROOT / "docs/deployment.md").read_text()
    (code,) = re.findall(r"```python\ntranslator = [^\n]*\n(limit = .*?)```", docs, re.DOTALL)
    ours = load(model("at-base"), "ctranslate2-float32-beam5")
    about = json.loads((tmp_path / "made" / CONVERTED).read_text())
    assert about["longest_source"] == ours.model.longest_source
    translator = ctranslate2.Translator(str(tmp_path / "made/float32"), compute_type="float32")
    for line in TEST[:8]:
        sentence = ours.raw_text.subwords(line).split()
        known = [each if each in ours.vocabularies.source.ids else "<unk>" for each in sentence]
        names: dict[str, Any] = {"translator": translator, "sentence": known, "about": about}
        exec(code, names)
        written = " ".join(word for word in names["best"] if word != "</s>")
        assert [ours.raw_text.text(written)] == ours.translate([line])


def test_translations_that_differ_are_counted() -> None:
    own = exports.Written(["a", "b", "c"], [-1.0, -2.0, -3.0])
    there = exports.Written(["a", "x", "y"], [-1.5, -2.25, -3.0])
    found = exports.compared(own, there, ["a", "b", "c"])
    assert (found["differ"], found["apart"]) == (2, 0.25)


def test_a_model_card_has_scores_and_settings(tmp_path: Path, root: Path) -> None:
    measured = {"value": 38.269, "low": 36.79, "high": 39.71, "signature": "nrefs:1|bs:1000"}
    measures = {"test": {"sacrebleu": measured}}
    score = {"decoding": "one-pass", "split": "test", "measures": measures}
    path = root / "results/micro/scores" / CORPUS / "nat-kd/seed1/one-pass/test.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(score))
    export(model("nat-kd"), tmp_path / "made", "huggingface")
    card = (tmp_path / "made/README.md").read_text()
    assert "| one-pass | test | 38.27 | 36.8 to 39.7 | `nrefs:1\\|bs:1000` |" in card
    assert '"learning_rate": ' in card
    assert (tmp_path / "made/LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    needed = (tmp_path / "made/requirements.txt").read_text().splitlines()
    packages = {line.split("==")[0] for line in needed}
    assert {"torch", "transformers", "safetensors", "pydantic", "subword-nmt"} <= packages
    assert f"transformers=={importlib.metadata.version('transformers')}" in needed
    front = yaml.safe_load(card.split("---")[1])
    assert front["language"] == ["en", "de"]
    config = json.loads((tmp_path / "made/config.json").read_text())
    assert list(config["decodings"]) == ["one-pass"]
    packed(model("nat-kd"), tmp_path / "first")
    packed(tmp_path / "first", tmp_path / "second")
    export(tmp_path / "second", tmp_path / "of_package", "huggingface")
    assert (tmp_path / "of_package/README.md").read_text() == card
    measured |= {"low": None, "high": None}
    path.write_text(json.dumps(score))
    export(model("nat-kd"), tmp_path / "made", "huggingface")
    assert "| one-pass | test | 38.27 | none |" in (tmp_path / "made/README.md").read_text()
    packed(model("nat-kd"), tmp_path / "other", ["mask-predict-1-lb5"])
    export(tmp_path / "other", tmp_path / "made", "huggingface")
    assert "No scores of these" in (tmp_path / "made/README.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "text", "parts"),
    [
        (["translate", "nowhere"], b"", ["nowhere", PACKAGE, MODEL]),
        (["translate", model("ctc-kd"), "--decoding", "beam5"], b"", ["'beam5'"]),
        (["translate", model("ctc-kd"), "--lines", "0"], b"", ["--lines", "0"]),
        (["translate", model("ctc-kd"), "--batch-tokens", "-1"], b"", ["--batch-tokens", "-1"]),
        (["translate", model("ctc-kd"), "--decoding", "ctd"], b"", ["'ctd'", "'ctc'"]),
        (["translate", model("ctc-kd")], b"fine\n\xff\n", ["standard input, line 2"]),
        (
            ["translate", model("ctc-kd")],
            b"a\n" + b"b" * (1 + LONGEST_LINE),
            ["standard input, line 2", "4,194,304 bytes"],
        ),
        (["translate", model("nat-raw")], b"", ["nat-raw"]),
        (["export", model("hrt"), "made", "--to", "ctranslate2"], b"", ["--to huggingface"]),
        (["export", model("at-base"), "made", "--to", "onnx"], b"", ["'length'"]),
        (["export", model("hrt"), "made", "--to", "onnx"], b"", ["huggingface"]),
        (
            ["export", model("ctc-kd"), "made", "--to", "onnx", "--decodings", "ctc"],
            b"",
            ["--decodings"],
        ),
        (
            ["export", model("cmlm-kd"), "made", "--to", "fairseq", "--decodings"]
            + SYSTEMS["cmlm-kd"],
            b"",
            ["'onnx-float32-2-lb3'", "onnx"],
        ),
    ],
    ids=str,
)
def test_a_mistake_is_one_sentence(
    arguments: list[object], text: bytes, parts: list[str], nat: Run
) -> None:
    _, err, status = nat(*arguments, text=text)
    assert status == 1
    assert err.startswith("error: ") and err.count("\n") == 1
    must_name(err, *parts)


def test_a_package_that_is_not_whole_is_refused(tmp_path: Path) -> None:
    packed(model("ctc-kd"), tmp_path / "packed")
    (tmp_path / "packed/codes").unlink()
    with told("codes", "does not exist", "nat pack"):
        load(tmp_path / "packed")
    (tmp_path / "packed/codes").touch()
    (tmp_path / "packed/.sha256sums").unlink()  # as of a package that someone edits
    whole = json.loads((tmp_path / "packed" / PACKAGE).read_text())
    for content, part in {
        '{"corpus": 1}': "corpus",
        "{": "nat pack",
        json.dumps(whole | {"decodings": {}}): "decodings",
        json.dumps(whole | {"decodings": {"mine": {"method": {"method": "nope"}}}}): "'nope'",
    }.items():
        (tmp_path / "packed" / PACKAGE).write_text(content)
        with told(PACKAGE, part):
            load(tmp_path / "packed")


@pytest.mark.parametrize("packed_before", [True, False])
def test_a_model_of_other_vocabularies_is_told_with_its_remedy(
    packed_before: bool, own_run: None
) -> None:
    folder, vocabulary = model("ctc-kd"), Path("results/corpora", CORPUS, "bpe/vocabulary.txt")
    remedy = f"run 'snakemake --force {folder / MODEL} "
    if packed_before:
        packed(folder, Path("packed"))
        folder, vocabulary = Path("packed"), Path("packed/vocabulary.txt")
        remedy = "pack the model again with 'nat pack'"
    vocabulary.with_name(OF_FOLDER).unlink()
    vocabulary.write_text("".join(vocabulary.read_text().splitlines(keepends=True)[:-1]))
    with told(MODEL, remedy):
        load(folder)


def test_a_package_that_was_damaged_on_its_way_is_to_be_copied_again(tmp_path: Path) -> None:
    packed(model("ctc-kd"), tmp_path / "packed")
    damaged = tmp_path / "packed/model.pt"
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"?")
    with told("model.pt", "damaged"):
        load(tmp_path / "packed")


@pytest.mark.parametrize("command", [["pack"], ["export", "--to", "fairseq"]])
def test_a_folder_with_files_of_others_is_not_replaced(
    command: list[str], tmp_path: Path, nat: Run
) -> None:
    name, *options = command
    output = tmp_path / "made"
    output.mkdir()  # an empty folder may be filled
    for _ in range(2):  # and what was made before is made anew
        assert nat(name, model("nat-kd"), output, *options)[2] == 0
    before = (output / "model.pt").read_bytes()
    (output / "notes").mkdir()
    (output / "notes/mine.txt").write_text("mine")
    _, err, status = nat(name, model("nat-kd"), output, *options)
    assert status == 1 and err.count("\n") == 1
    must_name(err, output, "notes/mine.txt")
    assert (output / "notes/mine.txt").read_text() == "mine"
    assert (output / "model.pt").read_bytes() == before
    for other in ("model.pt", "model.pt/made"):
        _, err, status = nat(name, model("nat-kd"), output / other, *options)
        assert status == 1
        must_name(err, output / "model.pt")


@pytest.mark.parametrize("command", [["pack"], ["export", "--to", "onnx"]])
@pytest.mark.parametrize("output", ["packed", "packed/made", "current", "above", "../run/packed"])
def test_a_package_does_not_replace_what_it_is_made_from(
    command: list[str], output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nat: Run
) -> None:
    name, *options = command
    packed(model("ctc-kd"), tmp_path / "run/packed")
    monkeypatch.chdir(tmp_path / "run")
    Path("current").symlink_to("packed")
    Path("above").symlink_to(".")
    before = sorted(Path().rglob("*"))
    _, err, status = nat(name, "packed", output, *options)
    assert status == 1 and err.count("\n") == 1
    must_name(err, output, tmp_path / "run/packed")
    assert sorted(Path().rglob("*")) == before


def test_what_the_graph_has_made_is_not_replaced(nat: Run) -> None:
    bpe = Path("results/corpora") / CORPUS / "bpe"
    _, err, status = nat("pack", model("ctc-kd"), bpe)
    assert status == 1
    must_name(err, bpe)
    assert (bpe / "codes").exists()


def test_the_command_is_installed() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    module, _, name = scripts["nat"].partition(":")
    assert getattr(importlib.import_module(module), name) is command.main


def test_a_full_disk_is_one_sentence() -> None:
    command = [sys.executable, "-m", "nat.deploy.command", "translate", str(model("ctc-kd"))]
    with Path("/dev/full").open("wb") as full:
        found = subprocess.run(
            command,
            input=b"bada\n",
            stdout=full,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
    assert found.returncode == 1 and found.stderr.count(b"\n") == 1
    must_name(found.stderr.decode(), "standard output", "disk is full")


def test_a_reader_that_ends_early_ends_the_command_quietly() -> None:
    running = subprocess.Popen(
        [sys.executable, "-m", "nat.deploy.command", "translate", str(model("ctc-kd"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert running.stdout is not None
    running.stdout.close()  # before anything is written there
    running.stdout = None
    assert running.communicate(b"bada\n" * 20) == (None, b"")
    assert running.returncode == 0


def test_help_does_not_import_torch() -> None:
    program = (
        "import sys; from nat.deploy import command; sys.argv = ['nat', 'translate', '--help']\n"
        "try: command.main()\n"
        "finally: assert 'torch' not in sys.modules"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert "--decoding" in found.stdout
