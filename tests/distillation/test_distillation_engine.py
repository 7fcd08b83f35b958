"""A training text that CTranslate2 translates in the place of our own beam search."""

import itertools
from pathlib import Path
from typing import Any

import pytest

from nat.analyses import toy
from nat.artifacts import Distilled, DistilledText, Model, Shard
from nat.configuration import Configuration, read
from nat.configuration.runnable import decoding_to_distil
from nat.data.batch import Batch
from nat.data.binarised import BinarisedText
from nat.data.lines import count_lines, read_lines
from nat.data.translations import merge_shards, write_translations
from nat.data.vocabulary import SPECIALS, Vocabularies
from nat.files import read_json
from nat.jobs.prepare import distil_text
from nat.jobs.translate import translate_shard
from nat.training.model_file import save_model
from tests.made_up_corpus import translation
from tests.made_up_models import CORPUS, write_converted, write_corpus
from tests.messages import told
from tests.repository import job

TEACHER, SETTING, UPDATES = "at-base", "distillation_engine: ", 300
NAMES: Any = ("micro", CORPUS, TEACHER, 1)


@pytest.fixture(autouse=True)
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A prepared corpus, in the current folder."""
    monkeypatch.chdir(tmp_path)
    write_corpus(tmp_path, ["x"])


def train() -> None:
    """Train the teacher for some seconds, so that it writes sentences of its own and ends them."""
    folder = Path("results/corpora") / CORPUS / "train/binarised"
    sides = [BinarisedText(folder / f"train.{side}") for side in ("en", "de")]
    sizes = Vocabularies.load(folder).sizes
    training = read("micro").training(CORPUS, TEACHER)
    some = (range(at, at + 50) for at in itertools.cycle(range(0, len(sides[0]), 50)))
    batches = (Batch.collate(ids, *([side[id] for id in ids] for side in sides)) for ids in some)
    first, words = [*itertools.islice(batches, UPDATES)], sizes.target - len(SPECIALS)
    model = toy.train(training, words, first, 1, 1e-2, annealed=False)
    save_model(Path(Model(*NAMES).path), model.state_dict(), training, sizes, UPDATES)


def with_engine(engine: str) -> Configuration:
    file = Path("config/config.yaml")
    lines = file.read_text().splitlines()
    kept = [line for line in lines if not line.startswith(SETTING)]
    file.write_text("\n".join([*kept, f"{SETTING}{engine}\n"]))
    return read("micro")


def distilled(configuration: Configuration) -> tuple[list[str], dict[str, Any]]:
    """Translate and distil; the lines of the text, and the report."""
    made = Distilled(*NAMES, "beam5")
    inputs = made.inputs(configuration)
    wanted = inputs.translations
    shard = Shard(*NAMES, wanted.decoding, "train", 1, 1)
    translate_shard(job(configuration.on(CORPUS), shard))
    text = BinarisedText(Path("results/corpora") / CORPUS / "train/binarised/train.en")
    merge_shards([Path(shard.path)], len(text), Path(wanted.path))
    distil_text(job(configuration.on(CORPUS), made))
    report = read_json(Path(made.path).with_name("distillation.json"))
    return list(read_lines(Path(DistilledText(**vars(made)).path) / "train.de")), report


def test_the_engine_of_a_run_distils_the_same_text() -> None:
    train()
    write_converted(TEACHER, "ctranslate2")
    ours, report = distilled(with_engine("pytorch"))
    assert (report["engine"], report["decoding"]) == ("pytorch", "beam5")
    its, report = distilled(with_engine("ctranslate2"))
    assert (report["engine"], report["decoding"]) == ("ctranslate2", "ctranslate2-float32-beam5")
    assert "ctranslate2-float32-beam5" in report["translations"]
    assert len(set(ours)) > len(ours) // 2  # the teacher has learned something
    different = sum(one != other for one, other in zip(ours, its, strict=True))
    assert different <= 2  # of 200, where two hypotheses have nearly the same score


def test_the_report_names_the_engine_of_the_decoding() -> None:
    configuration = read("micro").on(CORPUS)
    for decoding, engine in (("onnx-float32-1-lb1", "onnx"), ("mask-predict-1-lb1", "pytorch")):
        made = Distilled("micro", CORPUS, "cmlm-raw", 1, decoding)
        inputs = made.inputs(configuration)
        lines = count_lines(Path(inputs.corpus.path) / "train.de")
        path = Path(inputs.translations.path)
        path.parent.mkdir(parents=True)
        write_translations(path, [translation(number, "x") for number in range(lines)])
        distil_text(job(configuration, made))
        report = read_json(Path(made.path).with_name("distillation.json"))
        assert report["engine"] == engine


def test_only_beam_search_has_an_equal_in_the_engine() -> None:
    found = with_engine("ctranslate2")
    assert decoding_to_distil(found, "beam5") == "ctranslate2-float32-beam5"
    assert decoding_to_distil(found, "beam5-tuned") == "ctranslate2-float32-beam5-tuned"
    assert decoding_to_distil(found, "mask-predict-4-lb5") == "mask-predict-4-lb5"
    same = found.training(CORPUS, "nat-kd").as_json()
    assert same == with_engine("pytorch").training(CORPUS, "nat-kd").as_json()
    path = Path("config/decodings/ctranslate2.yaml")
    path.write_text(path.read_text().replace("length_penalty: 1.0", "length_penalty: 0.6"))
    with told("config.yaml", "distillation_engine", "beam5"):
        decoding_to_distil(with_engine("ctranslate2"), "beam5")
    with told("distillation_engine", "onnx"):
        with_engine("onnx")
