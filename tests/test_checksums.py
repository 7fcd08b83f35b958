"""Nothing damaged is used in silence: one bit of a result changes, and its reader refuses it."""

import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

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
from nat.data.binarised import BinarisedText, write_binarised
from nat.data.lines import count_lines, read_lines, write_lines
from nat.data.references import References, write_references
from nat.data.translations import OK, read_in_order, write_translations
from nat.data.vocabulary import Vocabulary, copy_vocabularies
from nat.distillation.pairwise_bleu import load_pairwise_bleu
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
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}

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
        statistics.read,
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
    "bleu.npy": (write_pairwise_bleu, lambda path: load_pairwise_bleu(path, 2)),
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


def weights_in_the_old_format() -> bytes:
    text = io.BytesIO()
    torch.save({"weight": torch.zeros(3)}, text, _use_new_zipfile_serialization=False)
    return text.getvalue()


@pytest.mark.parametrize("read", [load_model, lambda path: average([path]), read_checkpoint])
@pytest.mark.parametrize(
    "content", [b"hello\n", weights_in_the_old_format()[:15], b"PK no archive", b""]
)
def test_what_holds_no_weights_is_refused_without_a_record(
    tmp_path: Path, content: bytes, read: Callable[[Path], Any]
) -> None:
    path = tmp_path / "weights_10.pt"
    path.write_bytes(content)
    with told("weights_10.pt", "damaged"):
        read(path)


@pytest.mark.parametrize(
    ("read", "loader"),
    [
        (load_model, (torch, "load")),
        (lambda path: average([path]), (torch, "load")),
        (read_checkpoint, (torch, "load")),
        (NgramModel.load, (np, "load")),
    ],
)
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
    loader: tuple[Any, str],
    error: Exception,
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(*loader, fail)
    with told("weights_10.pt", "memory"):
        read(tmp_path / "weights_10.pt")


def test_a_record_is_in_the_format_of_sha256sum(tmp_path: Path) -> None:
    write_json(tmp_path / "score.json", {"value": 1})
    with atomic_directory(tmp_path / "text") as folder:
        write_lines(folder / "train.en", ["a", "b"])
        write_json(folder / "text.json", {})
    assert sorted(path.name for path in (tmp_path / "text").iterdir()) == [
        ".sha256sums",
        "text.json",
        "train.en",
    ]
    for record in (tmp_path / ".score.json.sha256", tmp_path / "text/.sha256sums"):
        checked = subprocess.run(
            ["sha256sum", "--check", "--strict", record.name], cwd=record.parent
        )
        assert checked.returncode == 0


def test_a_file_of_a_folder_is_checked_against_the_record_of_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "results/corpora/toy/text"
    with atomic_directory(folder) as partial:
        write_lines(partial / "train.en", ["a", "b"])
    assert [*read_lines(folder / "train.en")] == ["a", "b"]
    (folder / "train.en").write_text("a\nc\n")
    again = "snakemake --force results/corpora/toy/text"
    readers = (count_lines, lambda path: [*read_lines(path)])
    for read in readers:
        with told("train.en", "damaged", again):
            read(folder / "train.en")
    (folder / "train.en").unlink()
    for read in (*readers, lambda path: verified_folder(path.parent)):
        with told("train.en", "does not exist", again):
            read(folder / "train.en")


def test_a_file_in_a_subfolder_is_checked_against_the_record_above_it(tmp_path: Path) -> None:
    folder = tmp_path / "results/corpora/toy/text"
    with atomic_directory(folder) as partial:
        (partial / "given").mkdir()
        for name in ("train.en", "given/codes", "given/pieces"):
            write_lines(partial / name, ["a", "b"])
    codes = folder / "given/codes"
    assert recorded(codes) == sha256_of(codes)
    found = verify(tmp_path / "results")
    assert (found.intact, found.unknown, found.damaged) == (3, 0, ())
    codes.write_text("a\nc\n")
    with told("codes", "damaged", "results/corpora/toy/text"):
        verified(codes)
    (folder / "given/pieces").unlink()
    for part in (tmp_path / "results", folder / "given"):
        found = verify(part)
        assert set(found.damaged) == {codes, folder / "given/pieces"}
        assert found.remedies == ["snakemake --force results/corpora/toy/text"]


def test_a_record_above_the_files_of_a_user_is_not_ours(tmp_path: Path) -> None:
    path = tmp_path / "mine/text.en"
    path.parent.mkdir()
    path.write_text("text")
    (tmp_path / ".sha256sums").write_text(f"{'0' * 64}  text.en\n")
    assert recorded(path) is None


def test_what_is_damaged_is_not_copied(tmp_path: Path) -> None:
    write_json(tmp_path / "score.json", {"value": 1})
    with atomic_directory(tmp_path / "onnx") as folder:
        write_lines(folder / "model.onnx", ["a"])
        write_lines(folder / "model.json", ["b"])
    for name in ("score.json", "onnx"):
        copy(tmp_path / name, tmp_path / f"first_{name}")
    assert (tmp_path / "first_onnx/model.onnx").read_text() == "a\n"
    (tmp_path / "score.json").write_text("{}")
    (tmp_path / "onnx/model.onnx").write_text("A\n")
    for name, damaged in (("score.json", "score.json"), ("onnx", "model.onnx")):
        with told(damaged, "damaged"):
            copy(tmp_path / name, tmp_path / f"second_{name}")
    (tmp_path / "onnx/model.onnx").unlink()
    with told("model.onnx"):
        copy(tmp_path / "onnx", tmp_path / "third")


def test_a_damaged_vocabulary_is_not_copied(tmp_path: Path) -> None:
    with atomic_directory(tmp_path / "bpe") as folder:
        Vocabulary(["a", "b"]).save(folder / "vocabulary.txt")
    (tmp_path / "bpe/vocabulary.txt").write_text("a 1\n")
    (tmp_path / "to").mkdir()
    with told("vocabulary.txt", "damaged"):
        copy_vocabularies(tmp_path / "bpe", tmp_path / "to")


def test_files_of_a_user_are_not_checked(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("text")
    assert recorded(path) is None and verified(path) == path and is_intact(path)


def test_a_record_that_is_damaged_itself_does_not_pass(tmp_path: Path) -> None:
    atomic_write_text(tmp_path / "file", "text")
    (tmp_path / ".file.sha256").write_bytes(b"\xff")
    with told("file", "damaged"):
        verified(tmp_path / "file")


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
    assert command(tmp_path / path) == expected
    assert command(path) == expected


def test_results_are_told_from_folders_of_a_user_with_that_name(tmp_path: Path) -> None:
    path = tmp_path / "results/mine/results/demo/models/c/s/seed1/model.pt"
    expected = "results/demo/models/c/s/seed1/model.pt --config scale=demo"
    assert command(path) == f"snakemake --force {expected}"


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
    }.items():
        must_name(remedy(tmp_path / name), part)
    refused = unreadable(tmp_path / "data/dict.txt", PermissionError(13, "Permission denied"))
    must_name(str(refused), f"{tmp_path}/data/dict.txt", "Permission denied")


def test_weights_of_an_unfinished_training_name_a_remedy_that_works(tmp_path: Path) -> None:
    path = tmp_path / "results/demo/models/c/s/seed1/checkpoints/weights_10.pt"
    save_weights(path, {"weight": torch.arange(100.0)})
    path.write_bytes(path.read_bytes()[:-30])
    with told(f"remove the folder {path.parent}"):
        average([path])


def test_all_results_are_verified(tmp_path: Path) -> None:
    results = tmp_path / "results"
    scores = [results / f"demo/scores/c/s/seed{seed}/d/test.json" for seed in (1, 2, 3)]
    for path in scores:
        write_json(path, {"value": 1})
    with atomic_directory(results / "corpora/c/text") as folder:
        for name in ("train.en", "train.de"):
            write_lines(folder / name, ["a", "b"])
    (results / "demo/papers").mkdir()
    (results / "demo/papers/of_an_earlier_version.csv").write_text("")
    (results / "demo/logs").mkdir()
    (results / "demo/logs/train.log").write_text("")
    found = verify(results)
    assert (found.intact, found.unknown, found.damaged) == (5, 1, ())
    scores[0].write_text('{"value": 2}')
    scores[1].unlink()  # Snakemake sees this itself
    (results / "corpora/c/text/train.en").write_text("a\nB\n")
    (results / "corpora/c/text/train.de").unlink()
    found = verify(results)
    text = results / "corpora/c/text"
    assert set(found.damaged) == {scores[0], text / "train.en", text / "train.de"}
    assert found.remedies == [
        "snakemake --force results/corpora/c/text",
        "snakemake --force results/demo/scores/c/s/seed1/d/test.json --config scale=demo",
    ]


def test_downloads_are_verified_and_what_no_rule_makes_is_to_be_removed(tmp_path: Path) -> None:
    results = tmp_path / "results"
    downloads = results / "downloads/data.example"
    downloads.mkdir(parents=True)
    for name in ("train.en", "train.de", "published.gz"):
        (downloads / name).write_text(name)
    for name in ("train.en", "train.de", "of_a_mirror"):
        digest = hashlib.sha256(name.encode()).hexdigest()
        (downloads / f"{name}.sha256").write_text(f"{digest}\n")
    write_json(results / "demo@wide/override.json", {"config": {"threads": 2}})
    save_weights(results / "demo/models/c/s/seed1/checkpoints/weights_10.pt", {})
    found = verify(results)
    assert (found.intact, found.unknown, found.damaged) == (4, 1, ())
    (downloads / "train.en").write_text("train.em")
    (results / "demo@wide/override.json").write_text("{}")
    (results / "demo/models/c/s/seed1/checkpoints/weights_10.pt").write_text("")
    found = verify(results)
    removed = (
        downloads / "train.en",
        results / "demo@wide/override.json",
        results / "demo/models/c/s/seed1/checkpoints",
    )
    assert len(found.remedies) == len(removed)
    must_name("\n".join(found.remedies), *removed)
    assert found.intact == 1 and verify(downloads).damaged == (downloads / "train.en",)


def test_results_behind_links_are_verified_once(tmp_path: Path) -> None:
    results, scratch = tmp_path / "results", tmp_path / "scratch"
    score = results / "demo/scores/c/s/seed1/d/test.json"
    write_json(scratch / "c/s/seed1/d/test.json", {"value": 1})
    (results / "demo").mkdir(parents=True)
    (results / "demo/scores").symlink_to(scratch)
    (scratch / "c/s/all").symlink_to(scratch / "c")  # two links in a circle, and a second way
    (results / "other").symlink_to(results / "demo")
    assert verify(results) == Found(1, 0, ())
    score.write_text('{"value": 2}')
    found = verify(results)
    assert found.damaged == (score,)
    assert found.remedies == [
        "snakemake --force results/demo/scores/c/s/seed1/d/test.json --config scale=demo"
    ]


def test_what_cannot_be_read_does_not_hide_what_else_is_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder in the place of a file, a disk that fails, and what permissions refuse."""
    text = tmp_path / "results/corpora/c/text"
    names = ("first", "failing", "refused", "replaced", "removed", "whole")
    with atomic_directory(text) as folder:
        for name in names:
            write_lines(folder / name, ["a"])
    for name in ("first", "removed", "replaced"):
        (text / name).unlink()
    (text / "first").write_text("b\n")
    (text / "replaced").mkdir()
    errors = {"failing": OSError(5, "Input/output error"), "refused": PermissionError(13, "No")}
    digest = checksums._digest

    def read(path: Path) -> str:
        if path.name in errors:
            raise errors[path.name]
        return digest(path)

    monkeypatch.setattr(checksums, "_digest", read)
    found = verify(tmp_path / "results")
    assert (found.intact, found.unknown) == (1, 0)
    assert len(found.lines) == 5 and len(found.remedies) == 3
    must_name("\n".join(found.lines), *(text / name for name in names[:-1]))
    again = "snakemake --force results/corpora/c/text"
    must_name("\n".join(found.remedies), again, text / "refused", text / "replaced")


def test_a_folder_that_cannot_be_listed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "results/demo/scores"
    write_json(folder / "test.json", {"value": 1})
    list_folder = os.scandir

    def refuse(path: str) -> Any:
        if Path(path) == folder:
            raise PermissionError(13, "Permission denied", path)
        return list_folder(path)

    monkeypatch.setattr(os, "scandir", refuse)
    (line,) = verify(tmp_path / "results").lines
    must_name(line, folder)
    with told("typo"):
        verify(tmp_path / "typo")


def test_what_a_run_removes_meanwhile_is_not_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shard = tmp_path / "results/demo/translations/shards/test.1of2.jsonl"
    write_json(shard, {})
    with atomic_directory(tmp_path / "results/corpora/c/text") as text:
        write_lines(text / "train.en", ["a"])

    def remove(*_: object) -> Any:
        shutil.rmtree(shard.parent)
        shutil.rmtree(tmp_path / "results/corpora")
        return SimpleNamespace(update=lambda done: None)

    monkeypatch.setattr(verification, "Progress", remove)
    assert verify(tmp_path / "results") == Found(0, 0, ())


def test_the_program_that_verifies_names_what_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "results/demo/scores/test.json"
    write_json(path, {"value": 1})
    for damaged in (False, True):
        if damaged:
            path.write_text('{"value": 2}')
        command = [sys.executable, ROOT / "workflow_scripts/verify_results.py"]
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=ENVIRONMENT)
        assert run.returncode == damaged
        assert ("results/demo/scores/test.json" in run.stdout) == damaged
        assert ("snakemake --force" in run.stderr) == damaged
