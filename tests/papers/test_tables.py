"""What a table shows of its cells."""

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tests.made_up_run as made_up_run
from nat.artifacts import Analysis, Latency
from nat.papers.cells import Cell
from nat.papers.relation import relation
from nat.papers.table_formats import NOTHING, TableText, heading
from nat.papers.values import Record
from tests.made_up_run import CORPUS, OTHER_TASK, PAPER, TASK, write_latencies, write_numbers
from tests.messages import must_name, told

NAT, CMLM, DIMS = ROWS = [
    {"label": "NAT", "system": "nat-kd", "decoding": "one-pass"},
    {"label": "CMLM", "system": "cmlm-kd", "decoding": "mask-predict-1-lb5"},
    {"label": "DiMS", "system": "dims-cmlm-kd", "decoding": "mask-predict-1-lb5"},
]
ERRORS = {"NAT": 0.3, "CMLM": 0.4, "DiMS": 0.1}
SPEED_UP = {"measure": "speed_up", "setting": "cpu-1", "over": "CMLM"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made_up_run.write_corpus(tmp_path, several=False)
    return tmp_path


@pytest.fixture
def scored(root: Path) -> Path:
    """With the scores of all of `ROWS`."""
    for row in ROWS:
        made_up_run.run(root, row["system"], row["decoding"], errors=ERRORS[row["label"]])
    return root


def configured(root: Path, columns: Any, rows: Any, seeds: Any = None, **changes: Any) -> Any:
    described = {"title": "t", "columns": columns, "rows": rows, **changes}
    content = {"cells": {"task": TASK, "split": "test"}, "tables": {"1": described}}
    return made_up_run.paper(root, seeds, **content)


def table(root: Path, columns: Any, rows: Any, seeds: Any = None, **changes: Any) -> TableText:
    return made_up_run.make_table(configured(root, columns, rows, seeds, **changes), "paper", "1")


def printed(root: Path, seeds: Any = None, text: str = made_up_run.PUBLISHED) -> TableText:
    """The table of `PAPER`, which has published values."""
    made_up_run.publish(root, text)
    paper = {"paper": copy.deepcopy(PAPER)}
    return made_up_run.make_table(made_up_run.configuration(root, paper, seeds), "paper", "1")


def texts(made: TableText) -> dict[str, dict[str, str]]:
    """Row label, then column heading, to text."""
    headings = [heading(column) for column in made.columns]
    at = headings.index("system")
    return {row[at]: dict(zip(headings, row, strict=True)) for row in made.rows}


def by_cell(made: TableText) -> dict[tuple[str, str], Record]:
    return {(each["row"], each["column"]): each for each in made.records}


def times(root: Path, configuration: Any, found: Mapping[str, Any], **facts: Any) -> None:
    """Write the repeats of rows by their label, or of rows and settings."""
    known: dict[Cell, Any] = {
        cell: found[key]
        for number in relation(configuration, "paper")["table 1"].numbers
        for cell in number.own
        for key in (cell.row, f"{cell.row}, {cell.setting}")
        if key in found and isinstance(cell.source, Latency)
    }
    write_latencies(root, known, **facts)


# Ours beside the published


def test_ours_and_published(root: Path) -> None:
    made_up_run.run(root, "nat-kd", "one-pass", errors=0.3)
    made = printed(root, text=made_up_run.PUBLISHED.replace("20.5", "20.50"))
    rows = texts(made)
    assert rows["NAT"]["En-De: ours"] == f"{by_cell(made)['NAT', 'En-De']['ours']:.2f}†"
    assert rows["NAT"]["En-De: published"] == "20.50"
    source = by_cell(made)["NAT", "En-De"]["published_source"]
    assert source.startswith("config/published/paper.csv row 4: table1; ")
    assert "En-De: difference" not in rows["NAT"]  # another corpus
    assert (rows["quoted"]["De-En: published"], rows["quoted"]["En-De: ours"]) == ("29.8", NOTHING)
    assert rows["DiMS"]["En-De: ours"] == rows["NAT"]["De-En: ours"] == "not run"
    assert f"† corpus {CORPUS} at scale demo stands in for {TASK}." in made.notes
    assert f"De-En: scale demo has no corpus for {OTHER_TASK}." in made.notes
    assert made.title == "Paper, table 1: rows against tasks"
    assert made.origin == f"scale demo: {CORPUS} test set"


def test_on_the_papers_corpus_the_difference_is_shown(root: Path) -> None:
    made_up_run.publish(root)
    made_up_run.run(root, "nat-kd", "one-pass", errors=0.3)
    made = made_up_run.make_table(made_up_run.as_the_paper(root, {"paper": PAPER}), "paper", "1")
    ours, shown = by_cell(made)["NAT", "En-De"]["ours"], texts(made)["NAT"]
    assert shown["En-De: ours"] == f"{ours:.2f}"
    assert shown["En-De: difference"] == f"{ours - 20.5:+.2f}"


# Tests


def test_significant_differences_are_starred(scored: Path) -> None:
    made = printed(scored)
    assert texts(made)["DiMS"]["En-De: ours"].endswith("*†")
    assert "*" not in texts(made)["NAT"]["En-De: ours"]
    own, other = (by_cell(made)[row, "En-De"] for row in ("DiMS", "NAT"))
    assert own["baseline_difference"] == pytest.approx(own["ours"] - other["ours"], abs=1e-4)
    assert own["p_value"] < 0.05 and "paired bootstrap" in own["test"]
    (note,) = (each for each in made.notes if each.startswith("*"))
    must_name(note, "DiMS against NAT", "paired bootstrap")
    assert "few distinct" not in note
    # a model that has learned nothing of its source gets no star
    for path in sorted(scored.glob("results/demo/scores/*/dims*/*/*/test.json")):
        made_up_run.collapse(path)
    made = printed(scored)
    assert by_cell(made)["DiMS", "En-De"]["p_value"] == own["p_value"]
    assert "*" not in texts(made)["DiMS"]["En-De: ours"]
    (note,) = (each for each in made.notes if each.startswith("*"))
    assert note.endswith("Systems with few distinct translations have no *.")


# Computed and relative numbers


def test_derived_rows_and_columns_in_any_order(scored: Path) -> None:
    columns = [
        *("sacrebleu", "chrf"),
        {"label": "more", "derived": {"difference": ["chrF2", "sacreBLEU"]}},
        {"label": "share", "derived": {"ratio": ["more", "chrF2"]}},
        {"label": "gain", "measure": "sacrebleu", "over": "CMLM"},
    ]
    rows = [
        {"label": "mean", "derived": {"mean": ["NAT", "CMLM"]}},
        {"label": "to NAT", "derived": {"difference": ["mean", "NAT"]}},
        *ROWS,
        {"label": "r", "derived": {"correlation": "sacreBLEU"}},
    ]
    made = table(scored, columns, rows)
    ours = {key: each["ours"] for key, each in by_cell(made).items()}
    bleu, chrf = ([ours[row["label"], name] for row in ROWS] for name in ("sacreBLEU", "chrF2"))
    expected = {
        ("NAT", "more"): chrf[0] - bleu[0],
        ("NAT", "share"): (chrf[0] - bleu[0]) / chrf[0],
        ("mean", "sacreBLEU"): (bleu[0] + bleu[1]) / 2,
        ("to NAT", "more"): (chrf[1] - bleu[1] - chrf[0] + bleu[0]) / 2,
        ("DiMS", "gain"): bleu[2] - bleu[1],
        ("r", "sacreBLEU"): 1.0,
        ("r", "chrF2"): np.corrcoef(bleu, chrf)[0, 1],
    }
    assert {key: ours[key] for key in expected} == pytest.approx(expected, abs=1e-5)
    shown = texts(made)
    assert shown["NAT"]["more"].startswith("+") and shown["DiMS"]["gain"].startswith("+")
    assert all(shown["mean"][each].startswith("+") for each in ("more", "gain"))
    assert not shown["mean"]["sacreBLEU"].startswith("+")
    assert (shown["CMLM"]["gain"], shown["r"]["sacreBLEU"]) == ("0.00", "1.000")
    gained = by_cell(made)["DiMS", "gain"]
    assert gained["low"] < gained["ours"] < gained["high"] and gained["over"] == "cmlm-kd"


def test_what_is_computed_rests_on_the_seeds_that_all_have(root: Path) -> None:
    for row, seeds in zip(ROWS, ([1], [1, 2], [1, 2]), strict=True):
        for seed in seeds:
            errors = ERRORS[row["label"]] * seed
            made_up_run.run(root, row["system"], row["decoding"], errors=errors, seed=seed)
    columns = ["sacrebleu", {"label": "gain", "measure": "sacrebleu", "over": "NAT"}]
    rows = [
        *ROWS,
        {"label": "more", "derived": {"difference": ["CMLM", "NAT"]}},
        {"label": "both", "derived": {"mean": ["CMLM", "DiMS"]}},
        {"label": "more than both", "derived": {"difference": ["both", "NAT"]}},
    ]
    found, first = (by_cell(table(root, columns, rows, seeds)) for seeds in ([1, 2], [1]))
    for place in (("CMLM", "gain"), ("more", "sacreBLEU"), ("more than both", "sacreBLEU")):
        for key in ("ours", "seeds", "sources"):
            assert found[place][key] == first[place][key]
        assert found[place]["remark"].startswith("without seed 2, which was not run for ")
    assert found["both", "sacreBLEU"]["seeds"] == "1 2"
    assert "±: standard deviation over seeds 1, 2." in table(root, columns, rows, [1, 2]).notes
    assert found["both", "sacreBLEU"]["ours"] != first["both", "sacreBLEU"]["ours"]


def test_a_row_is_over_another_in_relative_measures_only(scored: Path) -> None:
    relative = {**DIMS, "label": "relative", "over": "NAT"}
    columns = ["sacrebleu", SPEED_UP]
    configuration = configured(scored, columns, [*ROWS, relative])
    times(scored, configuration, {"NAT": [2.0] * 5, "CMLM": [8.0] * 5, "DiMS": [4.0] * 5})
    shown = texts(made_up_run.make_table(configuration, "paper", "1"))
    assert shown["relative"]["sacreBLEU"] == shown["DiMS"]["sacreBLEU"]
    assert (shown["DiMS"]["speed-up"], shown["relative"]["speed-up"]) == ("2.0", "0.5")


# Times


def test_the_spread_of_times_is_shown_and_what_was_measured_is_said(root: Path) -> None:
    columns: list[Any] = [
        {"measure": "latency", "setting": "cpu-1", "interval": True},
        {**SPEED_UP, "interval": True},
        {"measure": "decoding_seconds", "setting": "cpu-1"},
    ]
    configuration = configured(root, columns, ROWS)

    def measured(*repeats: float, sentences: int) -> TableText:
        facts = {"device": "Processor X", "sentences": sentences, "sentences_of_split": 2000}
        found = {"NAT": [*repeats], "CMLM": [8.0] * 5, "DiMS": "no GPU"}
        setting = {"device": "cpu", "threads": 2}
        times(root, configuration, found, setting=setting, **facts)
        return made_up_run.make_table(configuration, "paper", "1")

    steady = measured(1.9, 2.0, 2.0, 2.1, 9.0, sentences=200)
    shown = texts(steady)
    assert shown["NAT"]["latency"] == "2.00 [2.00, 2.10]"
    assert shown["NAT"]["speed-up"].startswith("4.0 [") and shown["DiMS"]["latency"] == "no GPU"
    notes = "\n".join(steady.notes)
    must_name(
        notes,
        "[low, high] of latency: quartiles of the repeats",
        "[low, high] of speed-up: 95% bootstrap interval over the repeats",
        "Processor X, 2 threads (200 of 2,000 sentences of the test set)",
        "speed-up: median latency of CMLM over its own.",
        "extrapolated from 200 of 2,000.",
    )
    assert "‡" not in notes
    unsteady = measured(1.0, 2.0, 2.0, 3.0, 3.0, sentences=2000)
    shown = texts(unsteady)
    assert shown["NAT"]["latency"] == "2.00‡ [2.00, 3.00]"
    assert shown["NAT"]["speed-up"].startswith("4.0‡ [") and "‡" not in shown["CMLM"]["speed-up"]
    assert any(note.startswith("‡ do not rely on it") for note in unsteady.notes)
    assert "extrapolated" not in "".join(unsteady.notes)


# Columns, notes and footnotes


def test_a_measure_that_the_corpus_does_not_allow_is_left_out(scored: Path) -> None:
    row = {**NAT, "group": "g"}
    rows = [row, {**row, "label": "later", "decoding": "one-pass-lb5"}]
    made = table(scored, ["sacrebleu", "multi_reference_bleu", "length_ratio"], rows)
    assert made.columns == [("", ""), ("system", ""), ("sacreBLEU", ""), ("length ratio", "")]
    assert "multi-ref. sacreBLEU: not available on this corpus." in made.notes
    assert [row[0] for row in made.rows] == ["g", ""]


def test_footnotes_stand_at_what_they_are_about(root: Path) -> None:
    made_up_run.publish(root)
    paper = copy.deepcopy(PAPER)
    paper["tables"]["1"]["footnotes"] = [
        {"row": "quoted", "text": "first"},
        {"row": "NAT", "column": "En-De", "text": "second"},
        {"column": "De-En", "text": "third"},
        {"row": "quoted", "text": "fourth"},
    ]
    made = made_up_run.make_table(made_up_run.configuration(root, {"paper": paper}), "paper", "1")
    shown = texts(made)
    assert "quoted¹⁴" in shown and shown["NAT"]["En-De: published"] == "20.5²"
    assert "De-En³: ours" in shown["NAT"] and "En-De: ours" in shown["NAT"]
    assert made.notes[-4:] == ["¹ first", "² second", "³ third", "⁴ fourth"]


# Texts that analyses found

TEXTS: list[dict[str, Any]] = [
    {"system": "sat-mixed", "label": "SAT", "key": "order.{what}", "with": {"what": "text"}},
    {"quoted": ["RecoverSAT"]},
    {"system": "hrt", "label": "HRT", "key": "order.text"},
    {"system": "hrt", "label": "tokens", "key": "order.tokens", "ours_only": True},
    {"system": "hrt", "label": "share", "key": "measures.shown_tokens.value", "ours_only": True},
]
OF_TEXTS = f"""{made_up_run.HEADER}table1,SAT,text,,SAT,,all,order,"a, b",,source=authors,ours
table1,RecoverSAT,text,,,,all,order,"a, c",,source=authors,quoted
table1,HRT,text,,HRT,,all,order,a,,source=authors,ours
"""


def path_of(system: str) -> str:
    return Analysis("demo", CORPUS, system, 1, "shown_tokens").path


@pytest.fixture
def analysed(tmp_path: Path) -> Path:
    made_up_run.publish(tmp_path, OF_TEXTS)
    order = {"text": "b → d ⇒ a, c", "tokens": ["x", "y@@", "z"]}
    splits = {"valid": {"order": order}}
    write_numbers(tmp_path / path_of("hrt"), "valid", {"shown_tokens": 12.34}, splits=splits)
    return tmp_path


def with_texts(root: Path, *rows: Any) -> Any:
    cells = {"measure": "shown_tokens", "task": TASK, "split": "valid"}
    described = {"title": "t", "kind": "texts", "cells": cells, "rows": [*rows]}
    return made_up_run.paper(root, tables={"1": described})


def test_texts_stand_beside_those_of_the_paper(analysed: Path) -> None:
    plain = with_texts(analysed, *TEXTS)
    made = made_up_run.make_table(plain, "paper", "1")
    columns = [("system", ""), ("text", "ours"), ("text", "published")]
    assert made.columns == columns  # no groups
    assert made.rows == [
        ["SAT", "not run", "a, b"],
        ["RecoverSAT", "–", "a, c"],
        ["HRT", "b → d ⇒ a, c†", "a"],
        ["tokens", "x y@@ z†", "–"],
        ["share", "12.3†", "–"],
    ]
    files = [each.path for each in made_up_run.TABLE.inputs(plain).results]
    assert files == [path_of("sat-mixed"), path_of("hrt")]


def test_a_text_that_an_analysis_has_not(analysed: Path) -> None:
    for key, names in {
        "order.txt": [path_of("hrt"), "order.txt", "valid", "text"],
        "order": ["'order'"],
        "order.{what}": ["'what'"],
    }.items():
        plain = with_texts(analysed, *TEXTS[:2], {**TEXTS[2], "key": key})
        with told("config/papers/paper.yaml", "tables.1", *names):
            made_up_run.make_table(plain, "paper", "1")
