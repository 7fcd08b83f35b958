"""One job translates a split by several decodings and scores them; what is made is kept."""

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import torch

from nat.artifacts import Converted, Score, TrainingRecord
from nat.checksums import OF_FOLDER
from nat.configuration import read
from nat.export.formats import convert_model
from nat.files import atomic_write_text, write_json
from nat.jobs import evaluate as evaluation
from nat.jobs.evaluate import evaluate
from nat.measures import bleu, score, statistics
from nat.transformer.model import Transformer
from nat.workflow.specification import jobs
from tests.made_up_models import CORPUS, sentences, write_model, write_run
from tests.messages import told
from tests.repository import job

SYSTEM = "at-base"
SENTENCES = sentences(12, 3)
TEXTS = Path("results/corpora", CORPUS)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the micro scale with a test set, without models."""
    folder = tmp_path_factory.mktemp("run")
    write_run(folder, SENTENCES, [], {})
    return folder


@pytest.fixture
def translated(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The same with an untrained model; sizes of the batches that models encode."""
    shutil.copytree(root, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    save_model_of(seed=0)
    calls: list[int] = []
    encode = Transformer.encode

    def counted(model: Transformer, source: torch.Tensor, *others: Any, **more: Any) -> Any:
        calls.append(source.size(0))
        return encode(model, source, *others, **more)

    monkeypatch.setattr(Transformer, "encode", counted)
    return calls


def save_model_of(seed: int, system: str = SYSTEM) -> None:
    write_model(system, drawn=seed)
    record = Path(TrainingRecord("micro", CORPUS, system, 1).path)
    write_json(record, {"fingerprint": "that of the training"})


def scores(*decodings: str, system: str = SYSTEM) -> list[Score]:
    return [Score("micro", CORPUS, system, 1, decoding, "test") for decoding in decodings]


def run(*decodings: str, system: str = SYSTEM) -> dict[str, bytes]:
    """Make these; all files of the run's translations and scores, by path."""
    evaluate(jobs(read("micro").on(CORPUS), scores(*decodings, system=system)))
    return made()


def made() -> dict[str, bytes]:
    return {
        str(path): path.read_bytes()
        for folder in ("translations", "scores")
        for path in Path("results/micro").glob(f"{folder}/**/*")
        if path.is_file() and path.name != OF_FOLDER and not path.parent.name.startswith(".")
    }


MASK_PREDICT = [f"mask-predict-{steps}-lb5" for steps in (1, 2, 4)]
MASK_CORRECT = ["mask-predict-1-lb5", "mask-correct-2-lb5", "mask-correct-4-lb5"]


@pytest.mark.parametrize(
    ("system", "decodings", "passes"),
    [
        (SYSTEM, ["beam2", "beam3"], 2),
        # a twin without repetitions has the same passes
        *(
            (system, [*decodings, *(f"{each}-deduplicated" for each in decodings)], 3)
            for system, decodings in (("cmlm-kd", MASK_PREDICT), ("cmlmc-kd", MASK_CORRECT))
        ),
        # what an assistant writes is written once
        ("cmlm-kd", ["masked-at-head-0.3", "masked-at-chunk-2"], 1 + 2),
    ],
)
def test_several_decodings_are_what_each_alone_would_be(
    translated: list[int], system: str, decodings: list[str], passes: int
) -> None:
    save_model_of(seed=2, system=system)
    together = run(*sorted(decodings), system=system)
    assert sum(translated) == passes * len(SENTENCES)
    shutil.rmtree("results/micro/translations")
    shutil.rmtree("results/micro/scores")
    alone = [run(decoding, system=system) for decoding in reversed(decodings)][-1]
    assert alone == together
    assert len(together) == 4 * len(decodings)


@pytest.mark.parametrize(
    ("system", "engine", "decodings"),
    [
        (SYSTEM, "ctranslate2", ["beam2", "ctranslate2-float32-beam2", "ctranslate2-int8-beam2"]),
        ("cmlm-kd", "onnx", ["mask-predict-2-lb3", "onnx-float32-2-lb3", "onnx-int8-2-lb3"]),
    ],
)
def test_decodings_of_another_engine_are_kept_until_its_files_change(
    translated: list[int], system: str, engine: str, decodings: list[str]
) -> None:
    save_model_of(seed=2, system=system)
    configuration = read("micro").on(CORPUS)
    converted = Converted("micro", CORPUS, system, 1, engine)
    convert_model(job(configuration, converted))
    before = run(*decodings, system=system)
    assert len(before) == len(decodings) * 4
    when = {path: Path(path).stat().st_mtime_ns for path in before}
    assert run(*decodings, system=system) == before
    assert when == {path: Path(path).stat().st_mtime_ns for path in before}

    def hashes() -> list[str]:
        wanted = scores(*decodings, system=system)
        return [
            evaluation.fingerprints(each)[evaluation.TRANSLATED_FROM]
            for each in jobs(configuration, wanted)
        ]

    own, *others = hashes()
    for file in Path(converted.path).rglob("*"):
        if file.is_file() and not file.name.startswith("."):
            was = file.read_bytes()
            file.write_bytes(was + b" ")
            found = hashes()
            file.write_bytes(was)
            assert found[0] == own and not set(found) & set(others), file


def test_translations_of_another_decoding_are_not_taken_for_its_own(
    translated: list[int],
) -> None:
    before = run("beam2", "beam3")
    for folder in Path("results").rglob(OF_FOLDER):  # as if copied without hidden files
        folder.unlink()
    own, other = (Path(each.translations.path) for each in scores("beam2", "beam3"))
    text = other.read_text().replace("w1", "w2")
    own.write_text(text)
    translated.clear()
    assert run("beam2", "beam3") == before and sum(translated) == len(SENTENCES)
    write_json(Path(TrainingRecord("micro", CORPUS, SYSTEM, 1).path), {"seed": 2})
    with told("training.json", "seed"):
        run("beam2")


def test_only_a_decoding_with_other_options_runs_again(translated: list[int]) -> None:
    own = Path("config/decodings/own.yaml")
    own.write_text("{method: beam_search, beam: 3, length_penalty: 1.0}")
    before = run("beam2", "own")
    translated.clear()
    own.write_text("{method: beam_search, beam: 3, length_penalty: 0.0}")
    after = run("beam2", "own")
    assert sum(translated) == len(SENTENCES)
    assert {path for path in before if before[path] != after[path]} >= {
        path for path in before if "/own/" in path and not path.endswith("npz")
    }
    assert all(before[path] == after[path] for path in before if "/beam2/" in path)


def test_a_missing_file_is_told_before_anything_is_translated(translated: list[int]) -> None:
    target = read("micro").corpus(CORPUS).target
    (TEXTS / f"test/tokens/test.{target}").unlink()
    with told(f"tokens/test.{target}"):
        run("beam2")
    assert not translated


def test_a_job_that_fails_loses_one_decoding(
    translated: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run("beam2", "beam3", "beam4")
    shutil.rmtree("results/micro/translations")
    shutil.rmtree("results/micro/scores")
    translated.clear()
    write = score.score_translations

    def failing(job: Any) -> None:
        if job.artifact.decoding == "beam4":
            raise KeyboardInterrupt
        write(job)

    monkeypatch.setattr(score, "score_translations", failing)
    with pytest.raises(KeyboardInterrupt):
        run("beam2", "beam3", "beam4")
    remove(whole)
    monkeypatch.setattr(score, "score_translations", write)
    translated.clear()
    assert run("beam2", "beam3", "beam4") == whole
    assert sum(translated) == len(SENTENCES)


def remove(paths: Iterable[str]) -> None:
    """As Snakemake does before it starts a job."""
    for path in paths:
        Path(path).unlink(missing_ok=True)


def test_what_is_finished_is_there_again_after_snakemake_has_removed_it(
    translated: list[int],
) -> None:
    before = run("beam2")
    remove(before)
    translated.clear()
    after = run("beam2", "beam3")
    assert sum(translated) == len(SENTENCES)
    assert before.items() <= after.items()
    remove(after)
    save_model_of(seed=1)
    translated.clear()
    run("beam2", "beam3")
    assert sum(translated) == 2 * len(SENTENCES)


def test_what_was_damaged_is_made_again(translated: list[int]) -> None:
    before = run("beam2")
    for path in map(Path, before):
        translated.clear()
        damaged = bytearray(path.read_bytes())
        damaged[len(damaged) // 2] ^= 1
        path.write_bytes(damaged)
        assert run("beam2") == before
        of_translations = path.parts[2] == "translations"
        assert sum(translated) == (len(SENTENCES) if of_translations else 0)


def test_translations_are_kept_and_scored_again(
    translated: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (wanted,) = scores("beam2")
    translations = run("beam2")[wanted.translations.path]
    translated.clear()
    # the code that measures has changed
    changed = tmp_path / "bleu.py"
    changed.write_text(Path(bleu.__file__).read_text() + "# other orders\n")
    monkeypatch.setattr(bleu, "__file__", str(changed))
    monkeypatch.setitem(statistics.MEASURED, "new", statistics.MEASURED["repeated_tokens"])
    found = json.loads(run("beam2")[wanted.path])["measures"]["test"]
    assert found["new"]["value"] == found["repeated_tokens"]["value"]
    # what they are compared with has changed, or is missing
    target = read("micro").corpus(CORPUS).target
    reference = TEXTS / f"test/text/test.{target}"
    written = [json.loads(line)["text"] for line in translations.splitlines()]
    atomic_write_text(reference, "".join(f"{line}\n" for line in written))
    other = run("beam2")
    assert json.loads(other[wanted.path])["measures"]["test"]["sacrebleu"] != found["sacrebleu"]
    remove([wanted.path, wanted.statistics.path])
    assert run("beam2") == other
    assert other[wanted.translations.path] == translations
    assert not translated


def test_translations_depend_on_all_that_their_decoding_reads(translated: list[int]) -> None:
    for system, decoding, consulted in (
        ("ctc-kd", "ctc-beam5-lm4-tuned", ("model", "language_model", "tuned")),
        ("nat-kd", "npd5", ("model", "assistant")),
    ):
        save_model_of(seed=1, system=system)
        [wanted] = jobs(read("micro").on(CORPUS), scores(decoding, system=system))
        text = (TEXTS / "test/binarised").glob("[!.]*")
        sources = [each for each in text if ".de." not in each.name]
        files = [*(Path(wanted.inputs[name].path) for name in consulted), *sources]
        hashes = []
        for number, changed in enumerate([files, *([path] for path in files)]):
            for path in changed:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(f"{number}")
            hashes.append(evaluation.fingerprints(wanted)[evaluation.TRANSLATED_FROM])
        assert len({*hashes}) == len(files) + 1 > len(consulted) + 3


def test_a_score_depends_on_all_that_it_is_computed_from(
    translated: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    (wanted,) = jobs(read("micro").on(CORPUS), scores("beam2"))

    def scored_from() -> str:
        return evaluation.fingerprints(wanted)[evaluation.SCORED_FROM]

    before = scored_from()
    record = Path(wanted.inputs.training.path)
    said = json.loads(record.read_text())
    write_json(record, {**said, "seconds": 3.5, "tokens_per_second": 8.0})
    assert scored_from() == before
    for changed in ({**said, "flags": ["BLEU 0"]}, {**said, "fingerprint": "another"}):
        write_json(record, changed)
        assert scored_from() != before
    write_json(record, said)
    for module in (score, statistics, bleu):
        with monkeypatch.context() as patch:
            patch.setattr(module, "__file__", str(record))
            assert scored_from() != before
    assert scored_from() == before
