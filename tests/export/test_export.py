"""The command `nat`: raw text to raw text, as the graph translates; packages that travel."""

import functools
import importlib.metadata
import io
import itertools
import json
import math
import os
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from fairseq.data import Dictionary
from fairseq.dataclass.configs import GenerationConfig
from huggingface_hub import ModelCard

from benchmarks import exports
from nat.checksums import OF_FOLDER
from nat.configuration import read
from nat.configuration.compatibility import check_decoding
from nat.data import raw_text
from nat.data.corpus_parts import prepared_as
from nat.data.lines import LONGEST_LINE
from nat.data.raw_text import RawText
from nat.data.vocabulary import PAD
from nat.decoding.hypothesis import Hypothesis
from nat.export import command, translator
from nat.export.formats import export
from nat.export.package import MODEL, SCORES, USUAL_OF_STUDENTS, open_folder, packed, usual_decoding
from nat.export.translator import in_parts, load
from nat.fairseq_plugin import translation
from nat.files import link, write_json
from nat.training.model_file import WEIGHTS, checksum_of
from nat.training.run import REPORT
from nat.transformer.model import Transformer
from tests.made_up_models import CORPUS, of_graph, sentences, write_model, write_run
from tests.messages import must_name, told
from tests.repository import ROOT

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
    "ctc-encoder-kd": ["ctc"],
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


Run = Callable[..., tuple[str, str, int]]
Refused = Callable[..., None]


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
        out, err = (each.decode() for each in capfdbinary.readouterr())
        return out, err, status

    return run


@pytest.fixture
def refused(nat: Run) -> Refused:
    """Check that the command writes nothing but an error of one line that names all parts."""

    def check(arguments: Sequence[object], *parts: object, text: bytes = b"bada\n") -> None:
        out, err, status = nat(*arguments, text=text)
        assert (out, status) == ("", 1)
        assert err.startswith("error: ") and err.count("\n") == 1
        must_name(err, *parts)

    return check


def write_score(system: str, decoding: str, **content: Any) -> Path:
    """The score of a decoding in the current run; its file."""
    path = Path("results/micro/scores", CORPUS, system, "seed1", decoding, "test.json")
    write_json(path, {"decoding": decoding, "split": "test", "measures": {}} | content)
    return path


def write_tuned(decoding: str, blank_penalty: float, **content: Any) -> Path:
    """The tuned options of a decoding of CTC in the current run; their file."""
    path = Path("results/micro/tuning", CORPUS, f"ctc-kd/seed1/{decoding}.json")
    write_json(path, {"chosen": {"blank_penalty": blank_penalty}} | content)
    return path


def again(path: Path) -> str:
    return f"snakemake --force {path} --config scale=micro"


@pytest.mark.parametrize(
    ("system", "decoding"), [(system, name) for system, names in SYSTEMS.items() for name in names]
)
def test_translations_are_those_of_the_graph(system: str, decoding: str) -> None:
    written = load(model(system), decoding).translate(TEST)
    assert written == of_graph(system, decoding)
    assert len({*written}) > 5 and not any(written[20:22])


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("system", ["ctc-kd", "nat-kd"])
def test_a_gpu_writes_what_a_processor_writes(system: str) -> None:
    lines = ["bada", "bada foh", "", "wara bada foh delis"]
    on_processor = load(model(system), device="cpu").translate(lines)
    assert load(model(system), device="cuda").translate(lines) == on_processor
    assert len(load(model(system), device="cuda", precision="float16").translate(lines)) == 4


def test_the_usual_decoding_suits_every_system() -> None:
    configuration = read("micro")
    for system in configuration.systems:
        usual = usual_decoding(configuration, system)
        check_decoding(configuration, system, usual)
    for system, names in SYSTEMS.items():
        if system != "imputer-kd":
            assert usual_decoding(configuration, system) == names[0]
    assert usual_decoding(configuration, "dims-imputer-kd") == USUAL_OF_STUDENTS[1]


@pytest.mark.parametrize("block", [3, 1000])
def test_a_line_comes_out_for_every_line_that_goes_in(
    block: int, nat: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(translator, "BLOCK", block)
    lines = [*TEST, "no line feed at the end"]
    text = "\n".join(lines).encode()
    out, _, status = nat("translate", model("ctc-kd"), text=text)
    assert status == 0 and out.endswith("\n")
    assert out.split("\n")[:-1] == out.splitlines() == load(model("ctc-kd")).translate(lines)
    mark = "\ufeff".encode()
    for same in (text.replace(b"\n", b"\r\n"), mark + text):
        assert nat("translate", model("ctc-kd"), text=same) == (out, "", 0)
    Path("text").write_bytes(text)
    assert nat("translate", model("ctc-kd"), "text") == (out, "", 0)
    for nothing in (b"", mark):
        assert nat("translate", model("ctc-kd"), text=nothing) == ("", "", 0)


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

    buffer = SimpleNamespace(writelines=lambda lines: events.extend("wrote" for _ in lines))
    buffer.flush = bool
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=buffer, flush=bool))
    monkeypatch.setattr(sys, "argv", ["nat", "translate", str(model("ctc-kd")), *arguments])
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=Asking(b"bada\nbeida\n")))
    command.main()
    assert events == ["read", "wrote", "read", "wrote", "end"]


def test_a_long_line_is_cut_and_translated(caplog: pytest.LogCaptureFixture) -> None:
    loaded = load(model("ctc-kd"))
    limit = loaded.model.longest_source
    sentence = "bada beida bouda burda. "
    parts = in_parts(loaded.raw_text.subwords(sentence * limit).split(), limit)
    assert len(parts) > 3
    assert all(part[-1] == "." and limit // 2 < len(part) <= limit for part in parts[:-1])
    assert len(loaded.translate([sentence * limit])[0]) > 100
    must_name(caplog.text, "line 1", len(parts))
    assert loaded.translate(["bada" * 2 * limit])[0]


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = load(model("ctc-kd"))
    package = open_folder(model("ctc-kd"), ()).package
    chinese = package.text.as_written()
    chinese["preprocessing"]["tokeniser"] = "jieba"
    loaded.raw_text = RawText(chinese, str)
    monkeypatch.setitem(sys.modules, "jieba", None)
    raw_text._jieba.cache_clear()
    with told("jieba", "pip install 'nat-reproduced[jieba]'"):
        loaded.translate(["bada"])


def test_a_line_without_a_translation_is_told(caplog: pytest.LogCaptureFixture) -> None:
    loaded = load(model("ctc-kd"))
    method, longest = loaded.method, loaded.model.longest_source
    texts = ("bada bada bada. " * number for number in itertools.count())
    text = next(each for each in texts if len(loaded.raw_text.subwords(each).split()) > longest)

    def decode(model: Transformer, source: torch.Tensor) -> list[Hypothesis]:
        """Finds nothing in short sentences, and no finite score in the shortest."""
        pairs = zip(source.ne(PAD).sum(1).tolist(), method(model, source), strict=True)
        return [
            whole if length > 31 else Hypothesis([], -math.inf if length < 4 else -1.0, 1)
            for length, whole in pairs
        ]

    loaded.method = decode
    *nothing, whole = loaded.translate(["bada bada bada", "", " ", ".", text], first=7)
    assert not any(nothing) and whole
    warnings = [message for message in caplog.messages if "not translated" in message]
    for line, warning in zip(("line 7", "line 10", "part of line 11"), warnings, strict=True):
        must_name(warning, line)


@pytest.mark.parametrize(
    ("subwords", "longest", "parts"),
    [
        ("a b c d", 3, ["a b c", "d"]),
        ("a b@@ c@@ d e", 3, ["a", "b@@ c@@ d", "e"]),
        ("a@@ b@@ c@@ d", 3, ["a@@ b@@ c@@", "d"]),
        ("a b . c d e f", 4, ["a b .", "c d e f"]),
        ("a . b c d e", 4, ["a . b c", "d e"]),
        ("\uffeda \uffedb c \uffedd", 3, ["\uffeda \uffedb", "c \uffedd"]),
        ("So it is ‿, one day ‿. And then ‿, so", 9, ["So it is ‿, one day ‿.", "And then ‿, so"]),
        ("", 3, [""]),
    ],
)
def test_where_a_line_is_cut(subwords: str, longest: int, parts: list[str]) -> None:
    assert in_parts(subwords.split(), longest) == [part.split() for part in parts]


def test_a_line_is_cut_in_linear_time() -> None:
    copied = []

    class Subwords(list[str]):
        def __getitem__(self, key: Any) -> Any:
            if not isinstance(key, slice):
                return super().__getitem__(key)
            copied.extend(part := Subwords(super().__getitem__(key)))
            return part

    in_parts(Subwords(["a"] * 1000), 10)
    assert len(copied) == 1000


@pytest.mark.parametrize("system", ["at-base", "ctc-kd", "cmlm-kd"])
def test_a_package_needs_nothing_else(
    system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nat: Run
) -> None:
    names = SYSTEMS[system]
    expected = [load(model(system), name).translate(TEST) for name in names]
    arguments = ("pack", model(system), tmp_path / "first", "--decodings", *names)
    assert nat(*arguments) == ("", "", 0)
    shutil.move(tmp_path / "first", tmp_path / "moved")
    monkeypatch.chdir(tmp_path)
    assert [load("moved", name).translate(TEST) for name in names] == expected
    assert load("moved").decoding == names[0]
    with told("package.json", f"{names[0]}s", names[0]):
        load("moved", f"{names[0]}s")
    packed(Path("moved"), Path("smaller"), names[-1:])  # a package is packed as a model is
    assert load("smaller").translate(TEST) == expected[-1]
    engines = {path.name for path in Path("smaller").iterdir() if path.is_dir()}
    assert engines == {"at-base": {"ctranslate2"}, "cmlm-kd": {"onnx"}}.get(system, set())


def test_tuned_options_are_those_of_the_run(own_run: None, nat: Run, refused: Refused) -> None:
    arguments = ("pack", model("ctc-kd"), "packed", "--decodings", "ctc-tuned")
    refused(arguments, Path("results/micro/tuning", CORPUS, "ctc-kd/seed1/ctc-tuned.json"))
    file = write_tuned("ctc-tuned", -20.0)
    assert nat(*arguments)[2] == 0
    file.unlink()
    assert not any(load("packed").translate(TEST))
    write_tuned("ctc-tuned", 0.7)
    write_tuned("onnx-int8-ctc-tuned", 0.9)
    loaded = load(model("ctc-kd"))
    assert loaded.decoding == "ctc-tuned" and loaded.method.blank_penalty == 0.7
    packed(model("ctc-kd"), Path("packed"))
    assert load("packed").decoding == "ctc-tuned"
    packed(model("ctc-kd"), Path("with-engine"), ["ctc", "onnx-int8-ctc-tuned"])
    for source in (model("ctc-kd"), Path("with-engine")):
        export(source, Path("exported"), "onnx")
        [(name, tuned)] = json.loads(Path("exported/model.json").read_text())["decodings"].items()
        assert (name, tuned["blank_penalty"]) == ("onnx-int8-ctc-tuned", 0.9)


@pytest.mark.parametrize(
    ("system", "decoding", "made"),
    [
        ("ctc-kd", "onnx-float32-1-lb1", "models/{}/ctc-kd/seed1/onnx"),
        ("at-base", "ctranslate2-float32-beam2", "models/{}/at-base/seed1/ctranslate2"),
        ("ctc-kd", "ctc-tuned", "tuning/{}/ctc-kd/seed1/ctc-tuned.json"),
    ],
)
def test_what_was_made_from_other_weights_is_not_used(
    system: str, decoding: str, made: str, nat: Run, refused: Refused, own_run: None
) -> None:
    path, weights = Path("results/micro") / made.format(CORPUS), model(system) / MODEL
    if decoding == "ctc-tuned":
        write_tuned(decoding, 1.0, **{WEIGHTS: checksum_of(weights)})
    commands = (
        ["translate", model(system), "--decoding", decoding],
        ["pack", model(system), "packed", "--decodings", decoding],
    )
    assert [nat(*each, text=b"bada\n")[2] for each in commands] == [0, 0]
    trained_again = write_model(system, seed=2)
    link(trained_again / MODEL, model(system) / MODEL)
    shutil.rmtree("packed")
    for each in commands:
        refused(each, weights, again(path))
    assert not Path("packed").exists()
    with told(weights, again(path)):
        of_graph(system, decoding)


def test_scores_of_other_weights_are_not_taken(nat: Run, refused: Refused, own_run: None) -> None:
    measures = {"sacrebleu": {"value": 1.0, "low": 0.5, "high": 1.5, "signature": "nrefs:1"}}
    score = {"measures": {"test": measures}, "model": {"fingerprint": "first"}}
    file = write_score("ctc-kd", "ctc", **score)
    record = model("ctc-kd") / REPORT
    write_json(record, {"fingerprint": "second"})
    command = ["pack", model("ctc-kd"), "made"]
    refused(command, file.absolute(), (model("ctc-kd") / MODEL).absolute(), again(file))
    assert not Path("made").exists()
    assert nat("pack", model("ctc-kd"), "other", "--decodings", "ctc-beam20")[2] == 0
    write_json(record, {"fingerprint": "first"})
    assert nat(*command) == ("", "", 0)


def test_a_named_run_is_read_with_its_override(own_run: None) -> None:
    results = Path("results").absolute()
    (results / "micro").rename(results / "micro@wide")
    folder = results / "micro@wide/models" / CORPUS / "cmlm-kd/seed1"
    decoding = "masked-at-head-0.5"
    with told("micro@wide/override.json"):
        open_folder(folder, [decoding])
    override = results / "micro@wide/override.json"
    override.write_text("{}")
    assistant = open_folder(folder, [decoding]).files["assistant-at-base.pt"]
    assert assistant == results / "micro@wide/models" / CORPUS / "at-base/seed1" / MODEL
    # the teacher of HRT is another training then, with a name of its own
    override.write_text(json.dumps({"recipes": {"hrt-at": {"updates": 7}}}))
    with told("hrt-at-base/seed1/model.pt", "name=wide override=recipes.hrt-at.updates=7"):
        open_folder(folder, [decoding])


@pytest.mark.parametrize(
    ("system", "decoding"),
    [
        pytest.param("at-base", "beam5", marks=pytest.mark.long),
        pytest.param("ctc-vae-kd", "ctc", marks=pytest.mark.long),
        ("cmlm-kd", "mask-predict-2-lb3"),
    ],
)
def test_every_export_translates_the_same_in_its_own_program(system: str, decoding: str) -> None:
    measured = exports.measure(model(system), decoding, sentences=15)
    assert measured["sentences"] == 15
    made = measured["exports"]
    itself, int8 = made.pop("model itself"), [name for name in made if "int8" in name]
    assert len(int8) == 1 and len(made) == 4
    for name, each in made.items():
        # what is random writes until the maximal length, where CTranslate2 stops without an EOS
        if name not in (*int8, "ctranslate2, float32"):
            assert (each["differ"], each["bleu"]) == (0, itself["bleu"])


def test_fairseq_writes_our_text_with_the_commands_of_the_docs(tmp_path: Path) -> None:
    export(model("nat-kd"), tmp_path / "nat-fairseq", "fairseq")
    docs = (ROOT / "docs/deployment.md").read_text()
    (commands,) = re.findall(r"\n(fairseq-preprocess .*?)```", docs, re.DOTALL)
    ours = {" lu ": " de ", " ka ": " en ", "dict.ka": "dict.en", "toy-ka-lu": CORPUS}
    for theirs, own in {**ours, " nat/": f" {ROOT}/nat/"}.items():
        commands = commands.replace(theirs, own)
    (tmp_path / "results").symlink_to(Path("results").absolute())
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    output = exports.run_program(
        ["bash", "-ec", f"cd {tmp_path}\n{commands}"], PATH=path, PYTHONPATH=str(ROOT)
    )
    rows = [line.split("\t") for line in output.splitlines() if line.startswith("H-")]
    words = {int(row[0][2:]): row[2] for row in rows}
    assert not any("@@ " in line for line in words.values())
    loaded = load(model("nat-kd"))
    written = [loaded.raw_text.text(words[number]) for number in range(len(TEST))]
    assert written == loaded.translate(TEST)


def in_transformers(folder: Path, program: str) -> Any:
    """The JSON that a program prints, which has the tokenizer and the model of an export."""
    opened = (
        "import json\n"
        "from transformers import AutoModel, AutoTokenizer\n"
        f"folder = {str(folder)!r}\n"
        "tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=True)\n"
        "model = AutoModel.from_pretrained(folder, trust_remote_code=True)\n"
    )
    home = {"HF_HOME": str(folder / "home"), "HF_HUB_OFFLINE": "1", "PYTHONPATH": ""}
    return json.loads(exports.run_program([sys.executable, "-c", opened + program], **home))


IGNORED = {
    "generate(**given, decoding='ctd')": ["UserError", "'ctd'", "'ctc'"],
    "generate(**given, num_beams=3)": ["UserError", "'num_beams'", "decoding=NAME", "ctc"],
    "opened(dtype='float16')": ["TypeError", "'dtype'"],
    "generate(tokenizer(long, **tensors).input_ids)": ["UserError", "max_positions"],
    "generate(ids_without_eos)": ["UserError", "add_special_tokens=False"],
}
"""Calls that transformers would not do as they ask, and the parts of the error."""


@pytest.mark.long
def test_transformers_is_told_what_would_be_ignored(tmp_path: Path) -> None:
    export(model("ctc-kd"), tmp_path / "made", "huggingface")
    errors = in_transformers(
        tmp_path / "made",
        "def opened(**options):\n"
        "    return AutoModel.from_pretrained(folder, trust_remote_code=True, **options)\n"
        "def told(call):\n"
        "    try: eval(call)\n"
        "    except Exception as error: return f'{type(error).__name__}: {error}'\n"
        "generate, tensors, long = model.generate, {'return_tensors': 'pt'}, ['bada ' * 3000]\n"
        "given = tokenizer(['bada'], **tensors)\n"
        "ids_without_eos = tokenizer(['bada'], add_special_tokens=False, **tensors).input_ids\n"
        "generate(**given, decoding='ctc'), opened(dtype='auto')\n"
        "cut = tokenizer(long, truncation=True, **tensors).input_ids\n"
        "assert len(cut[0]) == tokenizer.model_max_length and generate(cut).numel()\n"
        f"print(json.dumps([told(call) for call in {[*IGNORED]}]))",
    )
    for parts, sentence in zip(IGNORED.values(), errors, strict=True):
        must_name(sentence, *parts)


@pytest.mark.long
def test_transformers_opens_what_it_saves_and_pads_on_either_side(tmp_path: Path) -> None:
    lines = [*TEST[:5], "", TEST[5]]
    export(model("nat-kd"), tmp_path / "made", "huggingface")
    saved = str(tmp_path / "saved")
    program = f"model.save_pretrained({saved!r}), tokenizer.save_pretrained({saved!r}), print(1)"
    in_transformers(tmp_path / "made", program)
    shutil.rmtree(tmp_path / "made")
    left, right = in_transformers(
        tmp_path / "saved",
        f"lines = {lines!r}\n"
        "texts = []\n"
        "for side in ('left', 'right'):\n"
        "    given = tokenizer(lines, return_tensors='pt', padding=True, padding_side=side)\n"
        "    ids = model.generate(**given)\n"
        "    texts.append(tokenizer.batch_decode(ids, skip_special_tokens=True))\n"
        "print(json.dumps(texts))",
    )
    assert left == right == load(model("nat-kd")).translate(lines)


@pytest.mark.parametrize(
    ("system", "to", "decoding", "given"),
    [
        ("at-base", "ctranslate2", "ctranslate2-float32-beam5", ["float32"]),
        ("ctc-encoder-kd", "ctranslate2", None, ["float32"]),
        ("nat-kd", "onnx", None, ["float32"]),
        ("cmlm-kd", "onnx", None, ["float32"]),
        ("ctc-vae-kd", "onnx", None, ["float32"]),
        ("cmlm-kd", "fairseq", None, []),
        ("at-base", "huggingface", None, []),
        pytest.param("ctc-kd", "huggingface", "ctc-beam20", ["ctc-beam20"], marks=pytest.mark.long),
    ],
)
def test_an_export_explains_itself_by_a_program(
    system: str, to: str, decoding: str | None, given: list[str], tmp_path: Path, nat: Run
) -> None:
    own = ["--decodings", decoding] if given == [decoding] else []
    told, _, status = nat("export", model(system), tmp_path / "made", "--to", to, *own)
    assert status == 0
    must_name(told, tmp_path / "made", "checked")
    made = [path for path in (tmp_path / "made").rglob("[!.]*") if path.is_file()]
    megabytes = sum(path.stat().st_size for path in made) / 1e6
    must_name(told, f"{len(made)} files", f"{megabytes:.1f} MB")
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['nat'] = None\n")
    home = {"HF_HOME": str(tmp_path / "home"), "HF_HUB_OFFLINE": "1", "PYTHONPATH": str(tmp_path)}
    written = exports.run_program(
        [sys.executable, str(tmp_path / "made/example.py"), *given],
        "".join(f"{line}\n" for line in TEST),
        **home,
    )
    assert written.split("\n")[:-1] == load(model(system), decoding).translate(TEST)
    kind = "autoregressive" if system == "at-base" else "non-autoregressive"
    assert ModelCard.load(tmp_path / "made/README.md").data.tags == ["translation", kind]
    example = (tmp_path / "made/example.py").read_text()
    readme = (tmp_path / "made/README.md").read_text()
    assert example in readme and "$" not in readme.replace("$ref", "")
    needed = (tmp_path / "made/requirements.txt").read_text().split()
    assert not any("==" in each for each in needed)
    packages = {re.split("[<>]", each)[0] for each in needed}
    program = {"onnx": "onnxruntime", "fairseq": "fairseq-fixed", "huggingface": "transformers"}
    assert {program.get(to, to), "subword-nmt", "sacremoses"} <= packages
    assert not packages & {"jieba", "sentencepiece", "filelock", "requests", "nat"}


def test_a_model_card_has_scores_and_settings(own_run: None) -> None:
    def exported(source: Path) -> str:
        export(source, Path("made"), "huggingface")
        return Path("made/README.md").read_text()

    for decoding, value in {"one-pass": 38.269, "mask-predict-1-lb5": 12.5}.items():
        measured = {"value": value, "low": 36.79, "high": 39.71, "signature": "nrefs:1|bs:1000"}
        write_score("nat-kd", decoding, measures={"test": {"sacrebleu": measured}})
    card = exported(model("nat-kd"))
    assert "| one-pass | test | 38.27 | 36.8 to 39.7 | `nrefs:1\\|bs:1000` |" in card
    assert '"learning_rate": ' in card
    head = ModelCard(card).data
    assert (head.language, head.datasets) == (["en", "de"], [CORPUS])
    assert (head.license, head.pipeline_tag) == (None, "translation")
    results = {each.metric_name: each for each in head.eval_results}
    of_one_pass = results["sacreBLEU, one-pass"]
    assert (of_one_pass.metric_value, of_one_pass.dataset_split) == (38.27, "test")
    file = Path("config/corpora") / f"{CORPUS}.yaml"
    file.write_text(file.read_text() + "licence: cc-by-4.0\ndataset: someone/made-up\n")
    licensed = ModelCard(exported(model("nat-kd"))).data
    assert (licensed.license, licensed.datasets) == ("cc-by-4.0", ["someone/made-up"])
    card = exported(model("nat-kd"))
    assert Path("made/LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    needed = Path("made/requirements.txt").read_text().splitlines()
    assert {re.split("[<>]", line)[0] for line in needed} == {
        *("numpy", "pydantic", "pydantic_core", "regex", "sacremoses", "safetensors"),
        *("subword-nmt", "torch", "transformers"),
    }
    major, minor, *_ = importlib.metadata.version("transformers").split(".")
    assert f"transformers>={major}.{minor},<{int(major) + 1}" in needed
    assert not {"locks", "download", "archive", "checksums"} & {
        part for path in Path("made").glob("nat_*.py") for part in path.stem.split("_")
    }
    config = json.loads(Path("made/config.json").read_text())
    assert list(config["decodings"]) == ["one-pass", "mask-predict-1-lb5"]  # what was scored
    packed(model("nat-kd"), Path("first"))
    packed(Path("first"), Path("second"))
    assert exported(Path("second")) == card


def of(system: str, command: str) -> list[object]:
    """A command for the model of a system."""
    name, *options = command.split()
    return [name, model(system), *options]


@pytest.mark.parametrize(
    ("arguments", "text", "parts"),
    [
        (["translate", "nowhere"], b"", ["nowhere", "package.json", MODEL]),
        (["translate", "x" * 5000], b"", ["x" * 5000]),
        (of("ctc-kd", f"pack {'x' * 5000}"), b"", ["x" * 5000]),
        (of("ctc-kd", "translate --decoding ctd"), b"", ["'ctd'", "'ctc'"]),
        (of("ctc-kd", "translate --device cuda"), b"", ["--device", "cpu"]),
        (of("ctc-kd", "translate"), b"fine\n\xff\n", ["standard input, line 2"]),
        (of("ctc-kd", "translate absent"), b"", ["absent"]),
        (of("ctc-kd", "translate"), b"a\n" + b"b" * (1 + LONGEST_LINE), ["standard input, line 2"]),
        (of("hrt", "export made --to ctranslate2"), b"", ["'hrt'", "--to huggingface"]),
        (of("ctc-kd", "export made --to ctranslate2"), b"", ["'ctc-kd'", "--to"]),
        (of("at-base", "export made --to onnx"), b"", ["'length'"]),
        (of("ctc-kd", "export made --to onnx --decodings ctc"), b"", ["--decodings"]),
        (of("cmlm-kd", "export made --to fairseq --decodings onnx-float32-2-lb3"), b"", ["onnx"]),
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_mistake_is_one_sentence(
    arguments: list[object], text: bytes, parts: list[str], refused: Refused
) -> None:
    refused(arguments, *parts, text=text)
    assert not Path("made").exists()


def test_a_package_that_is_not_whole_is_refused(tmp_path: Path) -> None:
    packed(model("ctc-kd"), tmp_path / "packed")
    weights = (tmp_path / "packed/model.pt").read_bytes()
    (tmp_path / "packed/model.pt").write_bytes(weights[:-1] + b"?")
    with told("model.pt", "damaged"):  # on its way
        load(tmp_path / "packed")
    (tmp_path / "packed/model.pt").write_bytes(weights)
    (tmp_path / "packed/codes").unlink()
    with told("codes", "does not exist", "nat pack"):
        load(tmp_path / "packed")
    (tmp_path / "packed/codes").touch()
    (tmp_path / "packed/.sha256sums").unlink()  # as of a package that someone edits
    (tmp_path / "packed/package.json").write_text('{"corpus": 1}')
    with told("package.json", "corpus"):
        load(tmp_path / "packed")


ONE_PASS = "decodings.mask-predict-2-lb3"
ONNX = "decodings.onnx-float32-2-lb3"


@pytest.fixture(scope="module")
def packed_once(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package with an engine and with an assistant."""
    folder = tmp_path_factory.mktemp("packages") / "packed"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        packed(model("cmlm-kd"), folder, [*SYSTEMS["cmlm-kd"][1:], "masked-at-head-0.5"])
    return folder


@pytest.fixture
def package(packed_once: Path, tmp_path: Path) -> Path:
    """A copy of it, as from a stranger, who can write any manifest."""
    shutil.copytree(packed_once, tmp_path / "packed")
    (tmp_path / "packed" / OF_FOLDER).unlink()
    return tmp_path / "packed"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("subwords", "/etc/passwd"),
        ("subwords", "../codes"),
        ("subwords", "x" * 5000),
        (f"{ONE_PASS}.assistant", "assistant-at-base.pt"),
        (f"{ONE_PASS}.language_model", "model.pt"),
        (f"{ONE_PASS}.converted", "onnx"),
        (f"{ONE_PASS}.method", {"method": "beam_search"}),
        (f"{ONE_PASS}.method", {"method": "x" * 5000}),
        (f"{ONNX}.converted", "vocabulary.txt"),
        ("decodings.masked-at-head-0.5.assistant", "model.pt"),
        ("system", "at-base"),
        ("weights", "0" * 64),
        ("scores", {"scores": 1}),
        ("scores", [{"decoding": "onnx-float32-2-lb3", "split": "test", "measures": {}}]),
        ("scores", [{"decoding": "b", "split": "test", "measures": {"sacrebleu": {"value": 1}}}]),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_package_names_its_own_files_and_what_suits_them(
    key: str, value: Any, package: Path
) -> None:
    if key == "scores":
        (package / SCORES).write_text(json.dumps(value))
        with told(SCORES):
            open_folder(package)
        return
    content = json.loads((package / "package.json").read_text())
    *path, last = re.split(r"\.(?!\d)", key)
    functools.reduce(lambda inner, each: inner[each], path, content)[last] = value
    (package / "package.json").write_text(json.dumps(content))
    with told(last):
        open_folder(package)


@pytest.mark.parametrize(
    ("key", "value"), [("model_dim", 10**7), ("encoder_layers", 10**6), ("max_positions", 10**12)]
)
def test_sizes_are_compared_before_a_network_is_built(key: str, value: int, package: Path) -> None:
    saved = torch.load(package / MODEL, weights_only=True)
    saved["training"]["architecture"][key] = value
    torch.save(saved, package / MODEL)
    with told(MODEL):
        load(package)


def test_a_model_of_another_folder_is_refused(refused: Refused, own_run: None) -> None:
    own, other = model("nat-kd"), model("cmlm-kd")
    commands = ["translate", own], ["pack", own, "made"], ["export", own, "made", "--to", "onnx"]
    for said, fault in (({"seed": 2}, "seed"), ({WEIGHTS: "of another"}, "weights")):
        write_json(own / REPORT, said)
        refused(commands[0], own / REPORT, fault)
    (own / REPORT).unlink()
    link(other / MODEL, own / MODEL)
    for each in commands:
        refused(each, own / MODEL, "nat-kd", "cmlm-kd", again(own / MODEL))


def test_a_folder_with_files_of_others_is_not_replaced(
    tmp_path: Path, nat: Run, refused: Refused
) -> None:
    output = tmp_path / "made"
    for _ in range(2):  # what was made before is made anew
        assert nat("pack", model("nat-kd"), output)[2] == 0
    (output / "notes").mkdir()
    (output / "notes/mine.txt").write_text("mine")
    bpe = Path("results/corpora") / CORPUS / "train/bpe"  # which the graph has made
    for folder, named in ((output, "notes/mine.txt"), (bpe, bpe)):
        refused(["pack", model("nat-kd"), folder], folder, named)
    assert (output / "notes/mine.txt").exists() and (bpe / "codes").exists()


def test_a_model_does_not_translate_text_of_another_preparation(
    nat: Run, refused: Refused, own_run: None
) -> None:
    corpus = read("micro").corpus(CORPUS)
    record = model("ctc-kd") / REPORT
    write_json(record, {"corpus": prepared_as(corpus, "train")})
    command = ["pack", model("ctc-kd"), "made"]
    assert nat(*command)[2] == 0
    shutil.rmtree("made")
    file = Path("config/corpora") / f"{CORPUS}.yaml"
    file.write_text(file.read_text().replace("lowercase: true", "lowercase: false"))
    parts = file.absolute(), "preprocessing.lowercase", again(model("ctc-kd") / MODEL)
    refused(command, *parts)
    assert not Path("made").exists()


@pytest.mark.parametrize(
    ("given", "parts"),
    [
        ({"decoding": "one-pas"}, ["--decoding", "'one-pas'", "'one-pass'"]),
        ({"beam": 7, "nbest": 3}, ["--beam", "--decoding", "one-pass"]),
    ],
)
def test_options_without_effect_end_fairseq_with_one_sentence(
    given: dict[str, Any], parts: list[str]
) -> None:
    options: Any = SimpleNamespace(decoding="", **vars(GenerationConfig()))
    vars(options).update(given)
    task = translation.DecodingTask(options, Dictionary(), Dictionary())
    models = [SimpleNamespace(decodings={"one-pass": {"method": "one_pass"}})]
    with told(*parts, error=SystemExit):
        task.build_generator(models, options)


@pytest.mark.parametrize("output", ["packed", "packed/made", "current", "above", "../run/packed"])
def test_a_package_does_not_replace_what_it_is_made_from(
    output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Refused
) -> None:
    packed(model("ctc-kd"), tmp_path / "run/packed")
    monkeypatch.chdir(tmp_path / "run")
    Path("current").symlink_to("packed")
    Path("above").symlink_to(".")
    before = sorted(Path().rglob("*"))
    refused(["export", "packed", output, "--to", "onnx"], output, tmp_path / "run/packed")
    assert sorted(Path().rglob("*")) == before
