"""A corpus with separate vocabularies: the programs train, distil, translate, pack and export."""

import json
import shutil
from pathlib import Path

import pytest
import torch

from nat.artifacts import Distilled, Model, Ngrams, Score, Translations
from nat.configuration import read
from nat.data.binarised import BinarisedText
from nat.data.subwords import merge
from nat.data.translations import merge_shards
from nat.data.vocabulary import Vocabularies, VocabularySizes
from nat.export.formats import export
from nat.export.package import packed
from nat.export.translator import load
from nat.jobs.evaluate import evaluate
from nat.jobs.prepare import distil_text
from nat.jobs.train import train_system
from nat.jobs.translate import translate_shard
from nat.language_model.ngram import LanguageModel, estimate_from
from nat.training.model_file import load_model, matching_model
from nat.workflow.specification import jobs
from tests.made_up_models import CORPUS, files_in, of_graph, sentences, write_run
from tests.messages import told
from tests.repository import ROOT, job, python

TEST = sentences(20, 3)
SYSTEMS = {
    "at-base": ["beam5", "ctranslate2-float32-beam2"],
    "cmlm-kd": ["mask-predict-2-lb3", "onnx-float32-2-lb3"],
    "hints-kd": ["one-pass"],
    "ctc-vae-kd": ["ctc"],
    "ctc-encoder-kd": ["ctc", "ctranslate2-float32-ctc", "onnx-float32-1-lb1"],
    "hrt": ["hybrid5-1"],
}
"""Untrained systems, among them all that show something of the source in the decoder's input."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the scale `micro` whose corpus has two vocabularies of different sizes."""
    folder = tmp_path_factory.mktemp("run")
    converted = {
        "ctranslate2": ["at-base", "ctc-encoder-kd"],
        "onnx": ["cmlm-kd", "ctc-encoder-kd"],
    }
    write_run(folder, TEST, SYSTEMS, converted, seed=2, bpe_merges={"en": 40, "de": 20})
    return folder


@pytest.fixture(autouse=True)
def in_root(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def vocabularies() -> Vocabularies:
    return Vocabularies.load(Path("results/corpora", CORPUS, "train/binarised"))


def model(system: str) -> Path:
    return Path("results/micro/models", CORPUS, system, "seed2")


def test_systems_are_trained_distilled_and_scored() -> None:
    configuration = read("micro").on(CORPUS)
    train_system(job(configuration, Model("micro", CORPUS, "at-base", 1)))
    distilled = Distilled("micro", CORPUS, "at-base", 1, "beam5")
    translations = distilled.inputs(configuration).translations  # type: ignore[union-attr]
    assert isinstance(translations, Translations)
    shards = translations.inputs(configuration).shards
    for shard in shards:
        translate_shard(job(configuration, shard))
    merge_shards([Path(shard.path) for shard in shards], 200, Path(translations.path))
    distil_text(job(configuration, distilled))
    sizes = vocabularies().sizes
    assert sizes.source is not None and sizes.source > sizes.target
    assert int(BinarisedText(f"{distilled.path}/train.de").tokens.max()) < sizes.target
    ngrams = Path(Ngrams("micro", CORPUS, "at-base", 1, "beam5", 2).path)
    estimate_from(Path(distilled.path), "de", 2, ngrams)
    assert LanguageModel.load(ngrams, sizes.target)
    train_system(job(configuration, Model("micro", CORPUS, "nat-kd", 1)))
    for system, decoding in (("at-base", "beam5"), ("nat-kd", "one-pass")):
        score = Score("micro", CORPUS, system, 1, decoding, "test")
        own = job(configuration, score).configuration
        trained = matching_model(Model("micro", CORPUS, system, 1), own, sizes)
        assert trained.vocabulary_sizes == sizes
        evaluate(jobs(configuration, [score]))
        assert (
            json.loads(Path(score.path).read_text())["measures"]["test"]["sacrebleu"]["value"] >= 0
        )
    with told(CORPUS, f"{sizes.target} symbols"):
        matching_model(Model("micro", CORPUS, "nat-kd", 1), own, VocabularySizes(sizes.target))


def test_a_training_learns_both_embeddings() -> None:
    trained = Model("micro", CORPUS, "nat-raw", 1)
    train_system(job(read("micro").on(CORPUS), trained))
    first, last = (
        load_model(Path(trained.path).parent / name).model.state_dict()
        for name in ("kept/10k.pt", "model.pt")
    )
    for name in ("embedding.weight", "source_embedding.weight"):
        assert not torch.equal(first[name], last[name])


@pytest.mark.parametrize(
    ("system", "decoding"), [(system, name) for system, names in SYSTEMS.items() for name in names]
)
def test_translations_of_a_package_are_those_of_the_graph(
    system: str, decoding: str, tmp_path: Path
) -> None:
    expected = of_graph(system, decoding, seed=2)
    assert len({*expected}) > 5
    packed(model(system), tmp_path / "packed", [decoding])
    names = {path.name for path in (tmp_path / "packed").glob("[!.]*") if path.is_file()}
    symbols = {"vocabulary.source.txt", "vocabulary.target.txt"}
    assert names == {"model.pt", "package.json", "codes.source"} | symbols
    assert load(tmp_path / "packed").translate(TEST) == expected


@pytest.mark.long
def test_fairseq_generate_translates_the_same(tmp_path: Path) -> None:
    made, decoding = tmp_path / "made", "mask-predict-2-lb3"
    export(model("cmlm-kd"), made, "fairseq", [decoding])
    translator = load(model("cmlm-kd"), decoding)
    lines = [translator.raw_text.subwords(line) for line in TEST]
    for side in ("en", "de"):
        shutil.copy(made / f"dict.{side}.txt", tmp_path)
        (tmp_path / f"test.en-de.{side}").write_text("".join(line + "\n" for line in lines))
    generate = ["-m", "fairseq_cli.generate", tmp_path, "--path", made / "model.pt"]
    generate += ["--user-dir", ROOT / "nat/fairseq_plugin", "--task", "nat_translation"]
    generate += ["--dataset-impl", "raw", "--scoring", "sacrebleu", "--max-tokens", "300"]
    status, printed, errors = python(*generate, folder=Path())
    assert status == 0, errors[-2000:]
    rows = [line.split("\t") for line in printed.splitlines() if line.startswith("H-")]
    merged = {int(row[0][2:]): merge(row[2]) for row in rows}
    expected = translator.translate(TEST)
    how = read("micro").corpus(CORPUS).preparation("de")
    assert [how.text(merged[number]) for number in range(len(TEST))] == expected


@pytest.mark.parametrize(("system", "engine"), [("at-base", "ctranslate2"), ("cmlm-kd", "onnx")])
def test_an_export_is_what_the_graph_converts(system: str, engine: str, tmp_path: Path) -> None:
    export(model(system), tmp_path / "made", engine)
    expected, made = map(files_in, (model(system) / engine, tmp_path / "made"))
    codes = Path("results/corpora", CORPUS, "train/bpe/codes.source")
    assert made.pop("codes.source") == codes.read_bytes()
    assert json.loads(made.pop("corpus.json"))["preprocessing"]["bpe_merges"] == {
        "en": 40,
        "de": 20,
    }
    own, there = json.loads(expected.pop("model.json")), json.loads(made.pop("model.json"))
    assert there.pop("decodings") == {}  # nothing is tuned
    assert {key: there[key] for key in own} == own
    assert set(there) - set(own) <= {"translate_batch", "limit", "search", "vocabularies"}
    guide = {"README.md", "example.py", "raw_text.py", "requirements.txt", "LICENSE"}
    assert {name: made[name] for name in made if name not in guide} == expected
    assert guide < set(made)
    assert load_model(model(system) / "model.pt").model.vocabulary_sizes == vocabularies().sizes
