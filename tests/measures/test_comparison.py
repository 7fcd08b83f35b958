"""`nat compare`: systems, runs, score files and numbers of others."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from nat.artifacts import Score
from nat.export import command
from nat.files import read_json, write_json
from nat.measures import statistics
from nat.measures.comparison import compare
from nat.papers.cells import Shown
from nat.papers.differences import difference
from nat.papers.reader import Reader
from tests import made_up_run
from tests.made_up_run import CORPUS, SENTENCES
from tests.messages import told


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config").mkdir()
    (tmp_path / "config/config.yaml").write_text("scale: demo\n")
    made_up_run.write_corpus(tmp_path)
    for seed in (1, 2):
        made_up_run.run(tmp_path, "nat-raw", "one-pass", 0.5, seed=seed)
        made_up_run.run(tmp_path, "nat-kd", "one-pass", 0.2, seed=seed)
    for decoding, errors in (("one-pass", 0.2), ("beam5", 0.1)):
        made_up_run.run(tmp_path, "at-base", decoding, errors)
    return tmp_path


def shown(capsys: pytest.CaptureFixture[str], *sides: str, **given: Any) -> str:
    usual = {"run": None, "corpus": None, "split": "test", "decoding": []}
    usual |= {"measure": "sacrebleu", "scores": [], "sentences": 2}
    compare(sides, **{**usual, **given})
    return capsys.readouterr().out


def score(system: str, decoding: str = "one-pass", seed: int = 1, run: str = "demo") -> Path:
    return Path(Score(run, CORPUS, system, seed, decoding, "test").path)


def test_two_systems_are_compared_as_tables_compare_them(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for measure in ("sacrebleu", "chrf", "multi_reference_bleu"):
        text = shown(capsys, "nat-raw", "nat-kd", measure=measure)
        found = made_up_run.paper(folder, seeds=[1, 2], cells={"split": "test"})
        cells = [
            made_up_run.cells(found, measure, name, decoding="one-pass")
            for name in ("nat-kd", "nat-raw")
        ]
        wanted = difference(*(Shown(tuple(each)) for each in cells), Reader(folder))
        assert wanted is not None and wanted.interval() is not None
        ends = f"{wanted.interval().low:#.4g}, {wanted.interval().high:#.4g}"
        assert f"B - A {wanted.value:+#.4g} [{ends}]   p = {wanted.p_value:.2g}" in text
        assert "Student's t over 2 seeds and paired bootstrap" in text


def test_lengths_sentences_and_settings(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, dropout in (("nat-raw", 0.1), ("nat-kd", 0.3)):
        record = made_up_run.write_training(
            folder, name, [], training={"recipe": {"dropout": dropout}}
        )
        path = score(name)
        write_json(path, read_json(path) | {"model": {"path": str(record.parent)}})
    one, other = str(score("nat-raw")), str(score("nat-kd"))
    text = shown(capsys, one, other, sentences=3)
    assert "one-pass" in text and "paired bootstrap, 1,000 samples" in text
    lengths = text.partition("by words of the reference\n")[2].splitlines()[: statistics.BUCKETS]
    assert all("B - A" in line for line in lengths) and lengths[0].strip().startswith("5 to ")
    of_sentences = text.partition("sentences that differ most\n")[2].splitlines()
    number = int(of_sentences[0].split(":")[0]) - 1
    words = made_up_run.reference()[number]
    assert of_sentences[1].strip() == f"reference: {' '.join(words)}"
    assert text.count("reference: ") == 3
    assert "settings, from A to B\n   recipe.dropout: 0.1 is now 0.3\n" in text


def test_two_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for system in ("nat-raw", "nat-kd"):
        for end in (".json", ".npz"):
            path = score(system, run="demo@wide").with_suffix(end)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(score("at-base").with_suffix(end).read_bytes())
    text = shown(capsys, "demo", "results/demo@wide")
    assert text.count("\nsacreBLEU\n") == 2
    for system in ("nat-raw", "nat-kd"):
        assert f"A: {system}, one-pass on made-up, test (demo)\nB: {system}, one-pass" in text
    one = f"results/demo/models/{CORPUS}/nat-raw/seed1"
    folder.joinpath(one).mkdir(parents=True)
    assert "A: nat-raw, one-pass on made-up, test (demo)" in shown(
        capsys, one, "nat-kd", corpus=CORPUS
    )


def test_a_score_that_was_taken_over(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A named run links the score alone where none of its tables has an interval."""
    for system in ("nat-raw", "nat-kd"):
        path = score(system, run="demo@wide")
        path.parent.mkdir(parents=True)
        path.symlink_to(folder / score("at-base"))
    assert shown(capsys, "demo@wide", "demo").count("\nsacreBLEU\n") == 2


def test_decodings_are_chosen(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "nat-raw", "at-base")
    assert "B: at-base, one-pass" in text and "beam5" not in text
    text = shown(capsys, "nat-raw", "at-base", decoding=["one-pass", "beam5"])
    assert "B: at-base, beam5" in text
    text = shown(capsys, "at-base", "at-base", decoding=["one-pass", "beam5"])
    assert "A: at-base, one-pass" in text and "B: at-base, beam5" in text


def test_numbers_of_another_program(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.txt").write_text("".join(f"{n / SENTENCES}\n" for n in range(SENTENCES)))
    better = [n / SENTENCES + (0.1 if n % 2 else 0.2) for n in range(SENTENCES)]
    (folder / "b.json").write_text(json.dumps(better))
    alone = shown(capsys, "a.txt", "b.json")
    assert "B - A +0.1500 [0.1" in alone and "p = 0.002" in alone
    files = [Path("a.txt"), Path("b.json")]
    text = shown(capsys, "nat-raw", "nat-kd", scores=files)
    assert "B - A +0.1500 [0.1" in text and "sentences that differ most\n   " in text
    assert "by words of the reference\n   5 to " in text
    (folder / "a.txt").write_text("0.1\nnan\n")
    with told("a.txt", "number", "NaNs"):
        shown(capsys, "a.txt", "b.json")
    (folder / "a.txt").write_text("0.1\n0.2\n")
    with told("b.json", "2", str(SENTENCES), "numbers"):
        shown(capsys, "a.txt", "b.json")
    with told("a.txt", "2", str(SENTENCES), "numbers"):
        shown(capsys, "nat-raw", "nat-kd", scores=files)


def test_mistakes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with told("nat-rw", "results/demo", "nat-raw"):
        shown(capsys, "nat-rw", "nat-kd")
    with told("nat-raw", "valid"):
        shown(capsys, "nat-raw", "nat-kd", split="valid")
    with told("nat-raw", "at-base", "test"):
        shown(capsys, str(score("nat-raw", seed=2)), "at-base")
    path = score("at-base")
    content = read_json(path)
    content["files"]["tokens"]["sha256"] = "0"
    write_json(path, content)
    with told("nat-raw", "at-base", "references"):
        shown(capsys, "nat-raw", "at-base", decoding=["one-pass"])


def test_the_command(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["nat", "compare", "nat-raw", "nat-kd", "--decoding", "one-pass", "--measure", "chrf"]
    monkeypatch.setattr(sys, "argv", words)
    command.main()
    assert "B - A" in capsys.readouterr().out
