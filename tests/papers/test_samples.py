"""Tables of samples: sentences that are chosen by rule."""

from pathlib import Path
from typing import Any

import pytest

import tests.made_up_run as made_up_run
from nat.papers import reports, samples
from nat.papers.samples import STUDENT, TEACHER
from tests.made_up_run import CORPUS, TASK

SYSTEMS: dict[str, Any] = {
    "CMLM": {"system": "cmlm-kd", "decoding": "mask-predict-1-lb5"},
    "DiMS": {"like": "CMLM", "system": "dims-cmlm-kd", "baseline": "CMLM"},
}
TABLE: dict[str, Any] = {
    "kind": "samples",
    "title": "samples",
    "cells": {"measure": "tokenised_bleu", "split": "test"},
    "rows": [{"label": "{baseline}", "system": "DiMS", "task": TASK}],
}


def test_samples_are_chosen_by_rule() -> None:
    assert samples.chosen([3, -8, 9, 1, -8, 9, 0]) == [2, 3, 1]
    assert samples.chosen([1]) == [0, 0, 0]


def test_repeated_and_missing_words_are_marked() -> None:
    assert samples.marked("a a b", "a b c b") == "a [a] b (missing: c b)"
    assert samples.marked("a a a A", "A a") == "a [a] [a] A"
    assert samples.marked("b a", "a b a c") == "b a (missing: a c)"
    assert samples.marked("a b", "b a") == "a b"
    assert samples.marked("", "a") == " (missing: a)"


def test_a_table_of_samples(tmp_path: Path) -> None:
    plain = made_up_run.paper(tmp_path, systems=SYSTEMS, tables={"1": TABLE})
    assert made_up_run.make_table(plain, "paper", "1").rows == [["CMLM", "not run", "–"]]
    made_up_run.write_corpus(tmp_path, several=False)
    tokens = f"results/corpora/{CORPUS}/test/tokens"
    sources = (f"source {number}\n" for number in range(made_up_run.SENTENCES))
    (tmp_path / tokens / "test.xx").write_text("".join(sources))
    made_up_run.run(tmp_path, "cmlm-kd", "mask-predict-1-lb5", 0.4)
    made_up_run.run(tmp_path, "dims-cmlm-kd", "mask-predict-1-lb5", 0.1)
    files = {each.path for each in made_up_run.TABLE.inputs(plain).results}
    assert len(files) == 5 and tokens in files
    made = made_up_run.make_table(plain, "paper", "1")
    gains = [each["gain"] for each in made.records]
    assert gains[0] > gains[1] > gains[2] and len(gains) == 3
    best = made.records[0]
    assert best["source"] == f"source {best['sentence']}"
    assert best["reference"] == " ".join(made_up_run.reference()[best["sentence"]])
    bleu = best[f"{STUDENT}_bleu"] - best[f"{TEACHER}_bleu"]
    assert best["gain"] == pytest.approx(bleu, abs=1e-4)
    assert [row[1].split(",")[0] for row in made.rows[:4]] == [
        *("source", "reference", TEACHER, STUDENT),
    ]
    # in the units of a text without spaces, these words are letters
    part = reports.resolve_part(plain, "paper", "table 1")
    assert {each["unit"] for each in part.keys.values()} == {"none"}
    keys = {row: {**each, "unit": "char"} for row, each in part.keys.items()}
    in_letters = reports.make_table(part.model_copy(update={"keys": keys}), tmp_path).records[0]
    assert in_letters["reference"].split() == [*"".join(in_letters["reference"].split())]
