import json
import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from sacrebleu.significance import estimate_ci

import tests.made_up_run as made_up_run
from nat.data.arrays import read_arrays
from nat.data.lines import read_lines
from nat.files import atomic_write_text, read_json
from nat.measures import score, statistics
from nat.measures.results import NOT_AVAILABLE, missing
from tests.made_up_corpus import as_corpus, translation
from tests.made_up_run import CORPUS, SENTENCES
from tests.messages import told

MADE_UP = as_corpus({"source": "xx", "target": "yy"})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made_up_run.write_corpus(tmp_path)
    return tmp_path


def references(root: Path) -> dict[str, Path]:
    folder = root / "results/corpora" / CORPUS / "test"
    return {"reference": folder / "text/test.yy", "tokens": folder / "tokens/test.yy"}


def scored(root: Path, path: Path) -> dict[str, Any]:
    """The report of translations that are compared with one reference each."""
    return score.score(path, references(root), MADE_UP)[0]


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    made_up_run.write_lines(path, [*rows])


def change(path: Path, edit: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> None:
    write_rows(path, edit([json.loads(line) for line in path.read_text().splitlines()]))


@pytest.fixture
def path(root: Path) -> Path:
    """Perfect translations."""
    made_up_run.write_translations_to(root / "test.jsonl", errors=0.0)
    return root / "test.jsonl"


def test_every_reference_is_tokenised_as_the_corpus_is(root: Path) -> None:
    folder = root / "several"
    folder.mkdir()
    path = folder / "test.jsonl"
    rows = [
        translation(0, "a dog , here", text="a dog, here"),
        translation(1, "it ran .", text="it ran."),
    ]
    write_rows(path, rows)
    atomic_write_text(folder / "raw", "dog\nran\n")
    several = [["a dog, there", "one dog, here"], ["it ran.", "it ran."]]
    write_rows(folder / "several", ({"id": n, "references": r} for n, r in enumerate(several)))

    files = {"reference": "raw", "tokens": "raw", "references": "several"}
    paths = {name: folder / file for name, file in files.items()}
    moses = as_corpus({"source": "de", "target": "en", "preprocessing": {"tokeniser": "moses"}})
    _, arrays = score.score(path, paths, moses)
    # lengths, and of four orders the n-grams that match and all of them
    counts = arrays["multi_reference_tokenised_bleu"].tolist()
    assert counts == [[4, 4, 4, 3, 2, 0, 4, 3, 2, 1], [3, 3, 3, 2, 1, 0, 3, 2, 1, 0]]


def test_what_was_not_decoded_is_counted_and_scored_as_empty(root: Path) -> None:
    path = root / "test.jsonl"
    made_up_run.write_translations_to(path, errors=0.0, not_decoded=20)
    found = scored(root, path)
    assert found["not_decoded"] == 20
    assert found["statuses"] == {"failed": 20, "ok": SENTENCES - 20}
    assert found["measures"]["brevity_penalty"]["value"] < 1
    assert found["measures"]["passes"]["value"] == 1


def test_counts_of_another_score_are_told(root: Path, path: Path) -> None:
    made, counts = root / "scores/test.json", score.score(path, references(root), MADE_UP)
    score.write(made, *counts)
    content = read_json(made)
    assert statistics.read(made, content).keys() == counts[1].keys()
    statistics.write(made.with_suffix(".npz"), {"sacrebleu": counts[1]["sacrebleu"] + 1})
    with told(made, made.with_suffix(".npz")):
        statistics.read(made, content)


@pytest.mark.parametrize("complete", [False, True])
def test_every_measure_follows_from_the_counts_beside_it(tmp_path: Path, complete: bool) -> None:
    root = tmp_path
    made_up_run.write_corpus(root, complete=complete)
    path = made_up_run.run(root, "nat-kd", "one-pass", errors=0.2, not_decoded=3)
    arrays, written = read_arrays(path.with_suffix(".npz")), read_json(path)
    assert set(written["files"]) == {"hypotheses", "reference", "tokens", "references"}
    measures = written["measures"]["test"]
    for several in ("", "multi_reference_"):
        for name, option in (("bleu", "tok:13a"), ("tokenised_bleu", "tok:none")):
            number = measures["sacrebleu" if several + name == "bleu" else several + name]
            assert option in number["signature"]
            part = SENTENCES // 2 if several and not complete else SENTENCES
            assert number.get("sentences", SENTENCES) == part
    buckets = {f"multi_reference_bleu_bucket_{number}" for number in range(1, 6)}
    without = {"tokenised_bleu_long", "multi_reference_bleu_long"}
    without |= set() if complete else buckets
    lacking = missing(without, NOT_AVAILABLE)
    assert {name: measures.pop(name) for name in without} == lacking
    assert set(measures) == set(statistics.MEASURED) - without
    for name, measure in measures.items():
        resampled = statistics.resampled(name, arrays)
        mean, half = estimate_ci(resampled.samples)
        highest = statistics.HIGHEST.get(statistics.MEASURED[name].value, math.inf)
        expected = [resampled.value, max(mean - half, 0.0), min(mean + half, highest)]
        assert [measure[e] for e in ("value", "low", "high")] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("edit", "parts"),
    [
        (lambda rows: rows[:-1], [f"{SENTENCES - 1}", "test.yy", f"{SENTENCES}"]),
        (lambda rows: rows[:4] + rows[5:], ["line 5", "sentence 5", "sentence 4"]),
        (lambda rows: [rows[0], {"id": 1}, *rows[2:]], ["line 2", "tokens"]),
    ],
)
def test_a_line_out_of_place_is_an_error(
    root: Path, path: Path, edit: Any, parts: list[str]
) -> None:
    change(path, edit)
    with told("test.jsonl", *parts):
        scored(root, path)


@pytest.mark.parametrize("lowercase", [False, True])
def test_case_counts_only_where_the_corpus_keeps_it(
    root: Path, path: Path, lowercase: bool
) -> None:
    several = root / "several.jsonl"
    change(path, lambda rows: [{**row, "text": row["text"].upper()} for row in rows])
    files = {**references(root), "references": several}
    lines = read_lines(files["reference"])
    write_rows(several, ({"id": n, "references": [line]} for n, line in enumerate(lines)))
    corpus = as_corpus({**MADE_UP.as_written(), "preprocessing": {"lowercase": lowercase}})
    measures = score.score(path, files, corpus)[0]["measures"]
    for name in ("sacrebleu", "chrf", "multi_reference_bleu"):
        assert (measures[name]["value"] == pytest.approx(100)) is lowercase, name


def test_brevity_penalties_are_of_their_own_bleu(root: Path, path: Path) -> None:
    # sacreBLEU reads the text, tokenised BLEU the tokens
    change(path, lambda rows: [{**row, "text": row["text"].split()[0]} for row in rows])
    measures = scored(root, path)["measures"]
    assert measures["brevity_penalty"]["value"] == 1
    assert measures["sacrebleu_brevity_penalty"]["value"] < 1


def test_translations_that_are_all_the_same_are_flagged(root: Path, path: Path) -> None:
    found = scored(root, path)
    assert found["flags"] == [] and found["distinct"]["translations"] == SENTENCES
    change(path, lambda rows: [{**row, "text": f"ejej {row['id'] % 6}"} for row in rows])
    expected = f"few distinct translations: 6 for {SENTENCES} distinct references"
    assert scored(root, path)["flags"] == [expected]
