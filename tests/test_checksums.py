"""Nothing damaged is used in silence: one bit of a result changes, and its reader refuses it."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import torch

from nat import checksums
from nat.checksums import (
    command,
    is_intact,
    recorded,
    remedy,
    sha256_of,
    unreadable,
    verified,
    verified_folder,
)
from nat.data.arrays import mapped_array, read_arrays
from nat.data.binarised import BinarisedText, write_binarised
from nat.data.lines import count_lines, read_lines, write_lines
from nat.data.references import References, write_references
from nat.data.translations import OK, read_in_order, write_translations
from nat.data.vocabulary import Vocabulary, copy_vocabularies
from nat.files import atomic_directory, atomic_path, atomic_write_text, copy, read_json, write_json
from nat.language_model.ngram import NgramModel, estimate
from nat.measures import statistics
from nat.measures.score import read_references
from nat.training.averaging import average, save_weights
from nat.training.fairseq_checkpoint import read_checkpoint
from nat.training.model_file import load_model
from nat.workflow import verification
from nat.workflow.verification import Found, verify
from tests.messages import must_name, told

ROOT = Path(__file__).resolve().parents[1]
RECORD = {"id": 0, "tokens": "a", "text": "a", "score": 0.5, "steps": 1, "status": OK}


def write_pairwise_bleu(path: Path) -> None:
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        np.save(file, np.ones((3, 2, 2), dtype=np.float32))


def write_tokens(path: Path) -> None:
    write_binarised(["a b b", "b"], Vocabulary(["a", "b"]), path.parent / "train.en")


def write_model(path: Path) -> None:
    with atomic_path(path) as temporary:
        shutil.copyfile(ROOT / "tests/stored/ctc.pt", temporary)


def write_ngrams(path: Path) -> None:
    model, _ = estimate(np.array([6, 7, 6, 7, 7]), np.array([3, 2]), 8, 2)
    model.save(path)


KINDS: dict[str, tuple[Callable[[Path], Any], Callable[[Path], Any]]] = {
    "score.json": (lambda path: write_json(path, {"value": 34.25}), read_json),
    "test.npz": (
        lambda path: statistics.write(path, {"sacrebleu": np.arange(40)}),
        read_arrays,
    ),
    "test.jsonl": (
        lambda path: write_translations(path, [RECORD]),
        lambda path: [*read_in_order(path)],
    ),
    "references.jsonl": (
        lambda path: write_references(path, {0: References(["a b", "c"])}),
        lambda path: read_references(path, 1),
    ),
    "train.en.tokens.npy": (write_tokens, lambda path: BinarisedText(path.parent / "train.en")),
    "train.en.offsets.npy": (write_tokens, lambda path: BinarisedText(path.parent / "train.en")),
    "vocabulary.txt": (lambda path: Vocabulary(["a", "b"]).save(path), Vocabulary.load),
    "model.pt": (write_model, load_model),
    "weights_10.pt": (
        lambda path: save_weights(path, {"weight": torch.arange(100.0)}),
        lambda path: average([path]),
    ),
    "bleu.npy": (write_pairwise_bleu, mapped_array),
    "order2.npz": (write_ngrams, NgramModel.load),
}
"""How each kind of file is written and read."""


@pytest.mark.parametrize("name", KINDS)
def test_any_flipped_bit_is_found_when_the_file_is_read(name: str, tmp_path: Path) -> None:
    write, read = KINDS[name]
    path = tmp_path / name
    write(path)
    read(path)
    whole = path.read_bytes()
    for place in np.random.default_rng(1).integers(0, 8 * len(whole), 12):
        damaged = bytearray(whole)
        damaged[place // 8] ^= 1 << place % 8
        path.write_bytes(damaged)
        with told(name):
            read(path)
    path.write_bytes(whole)
    read(path)


READERS = [load_model, lambda path: average([path]), read_checkpoint]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("content", [b"hello\n", b"PK no archive", b""])
def test_what_holds_no_weights_is_refused_without_a_record(
    tmp_path: Path, content: bytes, read: Callable[[Path], Any]
) -> None:
    path = tmp_path / "weights_10.pt"
    path.write_bytes(content)
    with told(path.name, "damaged"):
        read(path)


@pytest.mark.parametrize("read", [*READERS, NgramModel.load])
@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes."),
        RuntimeError("unable to mmap 9 bytes from file <x>: Cannot allocate memory (12)"),
    ],
)
def test_what_does_not_fit_the_memory_is_not_called_damaged(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    read: Callable[[Path], Any],
    error: Exception,
) -> None:
    for library in (torch, np):
        monkeypatch.setattr(library, "load", Mock(side_effect=error))
    with told("weights_10.pt", "memory"):
        read(tmp_path / "weights_10.pt")


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """A result that is written as one, with a folder in it."""
    folder = tmp_path / "results/corpora/toy/text"
    with atomic_directory(folder) as partial:
        (partial / "given").mkdir()
        for name in ("train.en", "given/codes", "given/pieces"):
            write_lines(partial / name, ["a", "b"])
    return folder


AGAIN = "snakemake --force results/corpora/toy/text"


@pytest.mark.parametrize("name", ["train.en", "given/codes"])
@pytest.mark.parametrize("read", [count_lines, lambda path: [*read_lines(path)]])
def test_a_file_of_a_folder_is_checked_against_the_record_of_the_folder(
    text: Path, name: str, read: Callable[[Path], Any]
) -> None:
    read(text / name)
    assert recorded(text / name) == sha256_of(text / name)
    (text / name).write_text("a\nc\n")
    with told(name, "damaged", AGAIN):
        read(text / name)
    (text / name).unlink()
    for fail in (read, lambda _: verified_folder(text)):
        with told(name, "does not exist", AGAIN):
            fail(text / name)


def test_a_record_is_in_the_format_of_sha256sum(tmp_path: Path, text: Path) -> None:
    write_json(tmp_path / "score.json", {"value": 1})
    for record in (tmp_path / ".score.json.sha256", text / ".sha256sums"):
        check = ["sha256sum", "--check", "--strict", record.name]
        assert subprocess.run(check, cwd=record.parent).returncode == 0


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
    for copying in (copy, copy_vocabularies):
        with told("vocabulary.txt", "damaged"):
            copying(tmp_path / "bpe", tmp_path / "to")
    vocabulary.unlink()
    with told("vocabulary.txt"):
        copy(tmp_path / "bpe", tmp_path / "to/third")


def test_files_of_a_user_are_not_checked(tmp_path: Path) -> None:
    path = tmp_path / "mine/text.en"
    path.parent.mkdir()
    path.write_text("text")
    (tmp_path / ".sha256sums").write_text(f"{'0' * 64}  text.en\n")  # of another folder
    assert recorded(path) is None and verified(path) == path and is_intact(path)


def test_a_record_that_is_damaged_itself_does_not_pass(tmp_path: Path, text: Path) -> None:
    atomic_write_text(tmp_path / "file", "text")
    (tmp_path / ".file.sha256").write_bytes(b"\xff")
    (text / ".sha256sums").write_text("?")
    for path in (tmp_path / "file", text / "train.en"):
        with told(path, "damaged"):
            verified(path)


def test_a_change_just_after_the_check_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("one")
    first = sha256_of(path)
    path.write_text("two")
    assert sha256_of(path) != first


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("results/demo/models/c/s/seed1/model.pt", "{path} --config scale=demo"),
        (
            "results/demo@wide/scores/c/s/seed1/d/test.json",
            "{path} --config scale=demo name=wide "
            "'override=config.threads=2 recipes.student.betas=[0.9, 0.98]'",
        ),
        ("results/corpora/c/corpus.json", "{path}"),
        (
            "results/demo/report/papers/dims.html",
            "results/demo/report/index.html --config scale=demo",
        ),
        # what no rule makes
        ("results/demo@wide/override.json", None),
        ("results/demo/models/c/s/seed1/checkpoints/weights_10.pt", None),
        ("results/demo/scores/c/s/seed1/d/.test.finished/score.json", None),
        ("results/downloads/data.example/train.en", None),
        ("elsewhere/model.pt", None),
        # what has the name of the folder of all results, or of reports
        (
            "../results/mine/results/demo/models/c/s/seed1/model.pt",
            "results/demo/models/c/s/seed1/model.pt --config scale=demo",
        ),
        ("results/corpora/report/corpus.json", "{path}"),
        ("results/demo/models/results/s/seed1/model.pt", "{path} --config scale=demo"),
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
    for name in ("packed/ctranslate2", "results/demo/packed", "made", "data"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("packed", "results/demo/packed"):
        (tmp_path / name / "package.json").write_text("{}")
    (tmp_path / "made/.sha256sums").write_text("0  int8/model.bin\n")
    for name, part in {
        "packed/model.pt": "nat pack",
        "packed/ctranslate2/int8/model.bin": "nat pack",
        "results/demo/packed/model.pt": "nat pack",
        "made/model.json": "nat export",
        "made/int8/model.bin": "nat export",
        "made/int8/dict.txt": "right file",
        "data/dict.txt": "right file",
        "results/downloads/data.example/train.en": "run again",
        "results/demo/models/c/s/seed1/checkpoints/weights_10.pt": "train again",
    }.items():
        must_name(remedy(tmp_path / name), part)
    refused = unreadable(tmp_path / "data/dict.txt", PermissionError(13, "Permission denied"))
    must_name(str(refused), f"{tmp_path}/data/dict.txt", "Permission denied")


SCORE = "results/demo/scores/c/s/seed{}/d/test.json"
SCORE_AGAIN = f"snakemake --force {SCORE.format(1)} --config scale=demo"


@pytest.fixture
def results(tmp_path: Path, text: Path) -> Path:
    """Three files of a folder, two of their own, two without a record, and one of a log."""
    found = tmp_path / "results"
    for seed in (1, 2):
        write_json(tmp_path / SCORE.format(seed), {"value": 1})
    (found / "demo/logs").mkdir()
    for name in ("of_an_earlier_version.csv", "of_a_user.csv", "logs/train.log"):
        (found / "demo" / name).touch()
    return found


def test_all_results_are_verified(results: Path, text: Path) -> None:
    assert verify(results) == Found(5, 2)
    first, second = (results.parent / SCORE.format(seed) for seed in (1, 2))
    first.write_text('{"value": 2}')
    second.unlink()  # Snakemake sees this itself
    (text / "train.en").write_text("a\nB\n")
    (text / "given/codes").unlink()
    found = verify(results)
    of_text = {text / "train.en": "damaged", text / "given/codes": "missing"}
    assert (found.intact, found.unknown) == (1, 2)
    assert found.faults == {**of_text, first: "damaged"}
    assert len(found.remedies) == 2
    must_name("; ".join(found.remedies), AGAIN, SCORE_AGAIN)
    assert verify(text / "given").faults == of_text, "a part of what is made as one"
    with told("typo"):
        verify(results / "typo")


@pytest.mark.parametrize("content", ["", "?", f"{'0' * 64}  train.en", "\xff", None])
def test_a_record_of_a_folder_that_is_damaged_or_missing_is_told(
    results: Path, text: Path, content: str | None
) -> None:
    (text / ".snakemake_timestamp").touch()
    record = text / ".sha256sums"
    record.unlink()
    if content is not None:
        record.write_text(content, encoding="latin-1")
    found = verify(results)
    assert found.faults[record] == ("missing" if content is None else "damaged")
    (remedy,) = found.remedies
    must_name(remedy, AGAIN)


def test_downloads_are_verified_and_what_no_rule_makes_is_to_be_removed(tmp_path: Path) -> None:
    results = tmp_path / "results"
    downloads = results / "downloads/data.example"
    downloads.mkdir(parents=True)
    for name in ("train.en", "train.de", "published.gz"):
        (downloads / name).write_text(name)
    for name in ("train.en", "train.de", "of_a_mirror"):
        digest = hashlib.sha256(name.encode()).hexdigest()
        (downloads / f"{name}.sha256").write_text(f"{digest}\n")
    override = results / "demo@wide/override.json"
    weights = results / "demo/models/c/s/seed1/checkpoints/weights_10.pt"
    write_json(override, {"config": {"threads": 2}})
    save_weights(weights, {})
    assert verify(results) == Found(4, 1)
    for path in (downloads / "train.en", override, weights):
        path.write_text("")
    found = verify(results)
    assert set(found.faults) == {downloads / "train.en", override, weights} and found.intact == 1
    assert len(found.remedies) == 3
    must_name("\n".join(found.remedies), downloads / "train.en", override, weights.parent)
    assert [*verify(downloads).faults] == [downloads / "train.en"]


def test_results_behind_links_are_verified_once(tmp_path: Path) -> None:
    results, scratch = tmp_path / "results", tmp_path / "scratch"
    score = tmp_path / SCORE.format(1)
    write_json(scratch / "c/s/seed1/d/test.json", {"value": 1})
    (results / "demo").mkdir(parents=True)
    (results / "demo/scores").symlink_to(scratch)
    (scratch / "c/s/all").symlink_to(scratch / "c")  # two links in a circle, and a second way
    (results / "other").symlink_to(results / "demo")
    assert verify(results) == Found(1, 0)
    score.write_text('{"value": 2}')
    found = verify(results)
    assert [*found.faults] == [score]
    must_name(found.remedies[0], SCORE_AGAIN)


def test_what_cannot_be_read_does_not_hide_what_else_is_damaged(
    results: Path, text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that fails, a folder in the place of a file, and what permissions refuse."""
    errors = {"train.en": OSError(5, "Input/output error"), "codes": PermissionError(13, "No")}
    digest, list_folder = checksums._digest, os.scandir

    def read(path: Path) -> str:
        if path.name in errors:
            raise errors[path.name]
        return digest(path)

    def refuse(path: str) -> Any:
        if Path(path).name == "seed1":
            raise PermissionError(13, "Permission denied", path)
        return list_folder(path)

    monkeypatch.setattr(checksums, "_digest", read)
    monkeypatch.setattr(os, "scandir", refuse)
    pieces, seed = text / "given/pieces", results / "demo/scores/c/s/seed1"
    pieces.unlink()
    pieces.mkdir()
    found = verify(results)
    assert set(found.faults) == {text / "train.en", text / "given/codes", pieces, seed}
    assert {fault.partition(" (")[0] for fault in found.faults.values()} == {"cannot be read"}
    assert len(found.remedies) == 4
    must_name("\n".join(found.remedies), AGAIN, text / "given/codes", pieces, seed)


def test_what_a_run_removes_meanwhile_is_not_missing(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remove = Mock(side_effect=lambda *_: shutil.rmtree(results) or Mock())
    monkeypatch.setattr(verification, "Progress", remove)
    assert verify(results) == Found(0, 0)


@pytest.mark.parametrize("damaged", [False, True])
def test_the_program_that_verifies_names_what_is_damaged(results: Path, damaged: bool) -> None:
    if damaged:
        (results.parent / SCORE.format(1)).write_text('{"value": 2}')
    run = subprocess.run(
        [sys.executable, ROOT / "workflow_scripts/verify_results.py"],
        cwd=results.parent,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert run.returncode == damaged
    assert (SCORE.format(1) in run.stdout) == (SCORE_AGAIN in run.stderr) == damaged
