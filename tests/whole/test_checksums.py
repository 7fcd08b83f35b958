"""Damage of results is found: by readers where it would be silent, else by `verify`."""

import hashlib
import json
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
import torch

from nat import checksums, files
from nat.checksums import (
    OF_FOLDER,
    TIMESTAMP,
    command,
    recorded,
    remedy,
    sha256_of,
    verified,
    verified_folder,
)
from nat.data.lines import write_lines
from nat.data.vocabulary import Vocabulary
from nat.files import atomic_directory, copy, read_json, write_json
from nat.language_model.ngram import LanguageModel
from nat.training.model_file import average, load_model, write_tensors
from nat.workflow.verification import verify
from tests.messages import must_name, told
from tests.repository import ROOT, python


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes."),
    ],
)
def test_what_does_not_fit_the_memory_is_not_called_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    for library in (torch, np):
        monkeypatch.setattr(library, "load", Mock(side_effect=error))
    for read in (
        load_model,
        lambda path: average([path]),
        lambda path: LanguageModel.load(path, 8),
    ):
        with told("weights_10.pt", "memory"):
            read(tmp_path / "weights_10.pt")


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """A folder that is the output of a job, with a folder in it."""
    folder = tmp_path / "results/corpora/toy/train/text"
    with atomic_directory(folder) as partial:
        (partial / "given").mkdir()
        for name in ("train.en", "given/codes", "given/pieces"):
            write_lines(partial / name, ["a", "b"])
    (folder / TIMESTAMP).touch()
    return folder


AGAIN, DEMO = "snakemake --force results/corpora/toy/train/text", "--config scale=demo"


@pytest.mark.parametrize("name", ["train.en", "given/codes"])
def test_a_file_is_held_against_the_manifest_of_its_folder(text: Path, name: str) -> None:
    assert verified_folder(text) == text and verified_folder(text / "given")
    assert recorded(text / name) == sha256_of(text / name)
    (text / name).write_text("a\nc\n")
    with told(name, "damaged", AGAIN):
        verified(text / name)
    (text / name).unlink()
    with told(name, "does not exist", AGAIN):
        verified_folder(text)


def test_a_manifest_is_in_the_format_of_sha256sum(tmp_path: Path, text: Path) -> None:
    for value in (1, 2):  # a file that is written again
        write_json(tmp_path / "score.json", {"value": value})
    for folder in (tmp_path, text, text / "given"):
        check = ["sha256sum", "--check", "--strict", OF_FOLDER]
        assert subprocess.run(check, cwd=folder).returncode == 0


def test_who_is_stopped_while_a_file_is_replaced_leaves_a_whole_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.json"
    write_json(path, 1)
    for place, name, expected in ((Path, "replace", 1), (checksums, "forget_replaced", 2)):
        with monkeypatch.context() as patch:
            patch.setattr(place, name, Mock(side_effect=KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                write_json(path, 2)
        assert read_json(path) == expected
        assert verify(tmp_path) == (1, {})
    path.write_text("3")
    assert verify(tmp_path) != (1, {})
    write_json(path, 4)
    subprocess.run(["sha256sum", "--check", "--strict", OF_FOLDER], cwd=tmp_path, check=True)


def test_files_that_are_written_at_the_same_time_are_all_in_the_manifest(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        paths = [tmp_path / f"{number % 20}.json" for number in range(60)]
        list(pool.map(lambda path: write_json(path, path.name), paths))
    assert verify(tmp_path) == (20, {})


def test_what_is_damaged_or_not_whole_is_not_copied(tmp_path: Path) -> None:
    write_json(tmp_path / "score.json", {"value": 1})
    with atomic_directory(tmp_path / "bpe") as folder:
        Vocabulary(["a", "b"]).save(folder / "vocabulary.txt")
    (tmp_path / "to").mkdir()
    for name in ("score.json", "bpe"):
        copy(tmp_path / name, tmp_path / f"to/{name}")
    (tmp_path / "score.json").write_text("{}")
    vocabulary = tmp_path / "bpe/vocabulary.txt"
    vocabulary.write_text("a 1\n")
    with told("score.json", "damaged"):
        copy(tmp_path / "score.json", tmp_path / "to/second")
    with told("vocabulary.txt", "damaged"):
        copy(tmp_path / "bpe", tmp_path / "to")
    vocabulary.unlink()
    with told("vocabulary.txt"):
        copy(tmp_path / "bpe", tmp_path / "to/third")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("results/demo/models/c/s/seed1/model.pt", f"{{path}} {DEMO}"),
        (
            "results/demo@wide/scores/c/s/seed1/d/test.json",
            f"{{path}} {DEMO} name=wide 'override=config.threads=2 "
            "recipes.student.betas=[0.9, 0.98]'",
        ),
        ("results/corpora/c/corpus.json", "{path}"),
        ("results/demo/report/papers/dims.html", f"results/demo/report/index.html {DEMO}"),
        # what no rule makes
        ("results/demo@wide/override.json", None),
        ("results/demo/models/c/s/seed1/checkpoints/weights_10.pt", None),
        ("results/demo/scores/c/s/seed1/d/.test.finished/score.json", None),
        ("results/downloads/data.example/train.en", None),
        ("results/jobs/train/1f3a5c7e9b2d4f60.json", None),
        ("elsewhere/model.pt", None),
    ],
)
def test_the_command_that_makes_a_result_again(
    path: str, words: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    override = tmp_path / "results/demo@wide/override.json"
    override.parent.mkdir(parents=True)
    changes = {"config": {"threads": 2}, "recipes": {"student": {"betas": [0.9, 0.98]}}}
    override.write_text(json.dumps(changes))
    expected = None if words is None else f"snakemake --force {words.format(path=path)}"
    assert command(tmp_path / path) == command(path) == expected


def test_what_no_rule_makes_has_a_remedy_that_works(tmp_path: Path) -> None:
    for name in ("packed/ctranslate2", "data"):
        (tmp_path / name).mkdir(parents=True)
    with atomic_directory(tmp_path / "made") as made:
        write_json(made / "int8/model.json", {})
        write_json(made / "model.json", {})
    for part, names in {
        "nat pack": ["packed/model.pt", "packed/ctranslate2/int8/model.bin"],
        "nat export": ["made/model.json", "made/int8/model.json"],
        "right file": ["data/dict.txt"],
        "run again": ["results/downloads/data.example/train.en"],
        "train again": ["results/demo/models/c/s/seed1/checkpoints/weights_10.pt"],
    }.items():
        for name in names:
            must_name(remedy(tmp_path / name), part)


SCORE = "results/demo/scores/c/s/seed{}/d/test.json"
SCORE_AGAIN = f"snakemake --force {SCORE.format(1)} {DEMO}"


@pytest.fixture
def results(tmp_path: Path, text: Path) -> Path:
    """Three files of a folder, two of their own, and those of a log and of `make`."""
    for seed in (1, 2):
        write_json(tmp_path / SCORE.format(seed), {"value": 1})
    for name in ("demo/logs/train.log", "bench/growth.png", "site/css/theme.css"):
        (tmp_path / "results" / name).parent.mkdir(parents=True)
        (tmp_path / "results" / name).touch()
    return tmp_path / "results"


def test_all_results_are_verified(results: Path, text: Path) -> None:
    assert verify(results) == (6, {})
    first, second = (results.parent / SCORE.format(seed) for seed in (1, 2))
    first.write_text('{"value": 2}')
    second.unlink()  # Snakemake sees this itself
    (text / "train.en").write_text("a\nB\n")
    (text / "given/codes").unlink()
    of_text = {text / "train.en": "damaged", text / "given/codes": "missing"}
    assert verify(results) == (2, {**of_text, first: "damaged"})
    assert {*map(remedy, of_text)} == {f"run '{AGAIN}' to make it again"}
    must_name(remedy(first), SCORE_AGAIN)
    assert verify(text / "given") == (1, {text / "given/codes": "missing"})
    with told("typo"):
        verify(results / "typo")


def test_a_folder_that_disappears_from_another_is_missing(text: Path) -> None:
    shutil.rmtree(text / "given")
    assert verify(text)[1] == {text / "given" / OF_FOLDER: "missing"}
    with told(text / "given", AGAIN):
        verified_folder(text)


@pytest.mark.parametrize(
    "content", ["", "?", f"{'0' * 64}  train.en", f"{'0' * 64}  other\n", "\xff", None]
)
def test_a_manifest_that_is_damaged_or_missing_is_told(
    results: Path, text: Path, caplog: pytest.LogCaptureFixture, content: str | None
) -> None:
    score = results.parent / SCORE.format(1)
    for file, again in ((text / "train.en", AGAIN), (score, score.parent)):
        listing = file.with_name(OF_FOLDER)
        before = listing.read_text()
        listing.unlink()
        if content is None:
            verified(file)
            must_name(caplog.text, file, "not checked")
        else:
            listing.write_text(content, encoding="latin-1")
            with told(file, "damaged", "manifest"):
                verified(file)
        assert listing in verify(results)[1]
        must_name(remedy(listing), again)
        listing.write_text(before)


def test_a_file_in_the_place_of_another_is_told_also_with_its_manifest(tmp_path: Path) -> None:
    run = tmp_path / "results/demo"
    own, other = (run / f"scores/c/{system}/seed1/d" for system in ("nat-kd", "nat-raw"))
    for number, folder in enumerate((own, other)):
        write_json(folder / "test.json", {"value": number})
        write_json(folder / "valid.json", {"value": 1})
    for name in ("test.json", OF_FOLDER):
        shutil.copy(other / name, own / name)
    for path in (own / "test.json", own / "valid.json"):
        with told(path, f"snakemake --force {path.relative_to(tmp_path)}"):
            read_json(path)
    assert verify(tmp_path / "results")[1].keys() == {own / "test.json", own / "valid.json"}
    moved = run.rename(run.with_name("of-june"))  # a run may get another name
    assert read_json(moved / other.relative_to(run) / "test.json") == {"value": 1}
    write_json(moved / own.relative_to(run) / "test.json", {"value": 2})
    assert read_json(moved / own.relative_to(run) / "test.json") == {"value": 2}


def test_a_score_of_an_earlier_translation_is_told_though_nothing_is_damaged(
    tmp_path: Path,
) -> None:
    results = tmp_path / "results"
    run, references = results / "demo", results / "corpora/c/train/text/test.en"
    translations, score = run / "translations/c/s/seed1/d/test.jsonl", run / "scores/c/test.json"
    for path, text in ((references, "a"), (translations, "b")):
        files.atomic_write_text(path, text)
    read = {"reference": references, "hypotheses": translations, "trace": run / "removed.json"}
    origin = {
        name: {"path": str(path.relative_to(tmp_path)), "sha256": hashlib.sha256(text).hexdigest()}
        for (name, path), text in zip(read.items(), (b"a", b"b", b"c"), strict=True)
    }
    write_json(score, {"files": origin})
    assert verify(results) == (3, {})
    moved = run.rename(run.with_name("of-june"))
    assert verify(results) == (3, {})
    files.atomic_write_text(moved / translations.relative_to(run), "B")
    told_of = moved / score.relative_to(run)
    intact, faults = verify(results)
    assert [*faults] == [told_of] and intact == 2
    must_name(faults[told_of], "earlier", "of-june/translations/c/s/seed1/d/test.jsonl")
    must_name(remedy(told_of), f"snakemake --force {told_of.relative_to(tmp_path)}")


def test_downloads_are_verified_and_what_no_rule_makes_is_to_be_removed(tmp_path: Path) -> None:
    results = tmp_path / "results"
    downloads = results / "downloads/data.example"
    downloads.mkdir(parents=True)
    for name in ("train.en", "train.de", "published.gz", "train.ro.toy.part"):
        (downloads / name).write_text(name)
    for name in ("train.en", "train.de", "of_a_mirror"):
        digest = hashlib.sha256(name.encode()).hexdigest()
        (downloads / f"{name}.sha256").write_text(f"{digest}\n")
    override = results / "demo@wide/override.json"
    weights = results / "demo/models/c/s/seed1/checkpoints/weights_10.pt"
    write_json(override, {"config": {"threads": 2}})
    write_tensors(weights, {})
    (weights.parent / "checkpoint_1_10.pt").touch()  # of fairseq
    assert verify(results) == (4, {})
    for path in (downloads / "train.en", override, weights):
        path.write_text("")
    intact, faults = verify(results)
    assert set(faults) == {downloads / "train.en", override, weights} and intact == 1
    remedies = "\n".join(map(remedy, faults))
    must_name(remedies, downloads / "train.en", override, weights.parent)
    assert [*verify(downloads)[1]] == [downloads / "train.en"]


def test_a_link_to_a_result_is_held_against_the_manifest_of_what_it_points_to(
    results: Path, caplog: pytest.LogCaptureFixture
) -> None:
    link = results / "demo@wide/scores/c/s/seed1/d/test.json"
    link.parent.mkdir(parents=True)
    link.symlink_to(results.parent / SCORE.format(1))
    (results / "demo/scores/c/s/all").symlink_to(results / "demo/scores/c")  # in a circle
    assert verify(results) == (7, {}) and verified(link) == link and not caplog.text
    link.resolve().write_text("{}")
    assert set(verify(results)[1]) == {link, link.resolve()}


def test_the_program_that_verifies_names_what_is_damaged(results: Path) -> None:
    program = ROOT / "workflow_scripts/verify_results.py"
    for damaged in (False, True):
        status, shown, errors = python(program, folder=results.parent)
        assert status == damaged
        assert (SCORE.format(1) in shown) == (SCORE_AGAIN in errors) == damaged
        (results.parent / SCORE.format(1)).write_text('{"value": 2}')
