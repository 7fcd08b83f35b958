import copy
import itertools
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import made_up_run
import numpy as np
import pandas as pd
import pytest
from made_up_run import CORPUS, OTHER_TASK, PAPER, TASK, write_latencies
from rich.console import Console

from nat.cells.cell import Cell
from nat.cells.paper import entries
from nat.checksums import record_of
from nat.errors import UserError
from nat.files import read_json, write_json
from nat.measures.results import TRAINING
from nat.papers import reports
from nat.tables import tables


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made_up_run.publish(tmp_path)
    made_up_run.write_corpus(tmp_path, several=False)
    return tmp_path


def configuration(root: Path, seeds: list[int] | None = None, **changes: Any) -> Any:
    paper = copy.deepcopy(PAPER)
    paper["tables"]["1"] |= changes
    return made_up_run.configuration(root, {"paper": paper}, seeds)


def one_column(root: Path, label: str, **changes: Any) -> Any:
    """The same with one column, which shows an interval."""
    made_up_run.publish(root, made_up_run.ONE_COLUMN.replace("En-De", label))
    return configuration(
        root, columns=[{"label": label, "task": TASK, "interval": True}], **changes
    )


def by_label(table: tables.Table) -> dict[str, dict[str, str]]:
    """Row label, then column heading, to text."""
    headings = [tables.heading(column) for column in table.columns]
    at = headings.index("system")
    return {row[at]: dict(zip(headings, row, strict=True)) for row in table.cells}


def test_ours_published_and_difference(root: Path) -> None:
    made_up_run.run(root, "nat-kd", "one-pass", errors=0.3)
    table = tables.make(configuration(root), "paper", "1")
    rows = by_label(table)
    record = next(r for r in table.records if (r["row"], r["column"]) == ("NAT", "En-De"))
    assert rows["NAT"]["En-De: ours"] == f"{record['ours']:.2f}†"
    assert rows["NAT"]["En-De: published"] == "20.5"
    assert "En-De: difference" not in rows["NAT"]  # another corpus
    assert rows["quoted"]["De-En: published"] == "29.8"
    assert rows["quoted"]["En-De: ours"] == "–"
    assert rows["DiMS"]["En-De: ours"] == "not run"
    assert rows["NAT"]["De-En: ours"] == "not run"
    assert any(note.startswith(f"† corpus {CORPUS} at scale demo") for note in table.notes)
    assert "scale demo" in table.headline.origin and CORPUS in table.headline.origin


def test_on_the_papers_corpus_the_difference_is_shown(root: Path) -> None:
    made_up_run.run(root, "nat-kd", "one-pass", errors=0.3)
    own = made_up_run.as_the_paper(root, {"paper": PAPER})
    table = tables.make(own, "paper", "1")
    record = next(r for r in table.records if (r["row"], r["column"]) == ("NAT", "En-De"))
    shown = by_label(table)["NAT"]
    assert shown["En-De: ours"] == f"{record['ours']:.2f}"
    assert shown["En-De: difference"] == f"{record['ours'] - 20.5:+.2f}"


def test_nothing_run_at_all(root: Path) -> None:
    table = tables.make(configuration(root), "paper", "1")
    assert by_label(table)["DiMS"]["En-De: ours"] == "not run"
    tables.write(table, root / "table_1.csv")


def test_significant_differences_are_starred(root: Path) -> None:
    made_up_run.run(root, "nat-kd", "one-pass", errors=0.4)
    made_up_run.run(root, "dims-cmlm-kd", "mask-predict-1-lb5", errors=0.1)
    table = tables.make(configuration(root), "paper", "1")
    assert by_label(table)["DiMS"]["En-De: ours"].endswith("*†")
    assert "*" not in by_label(table)["NAT"]["En-De: ours"]
    record = next(r for r in table.records if (r["row"], r["column"]) == ("DiMS", "En-De"))
    other = next(r for r in table.records if (r["row"], r["column"]) == ("NAT", "En-De"))
    assert record["baseline_difference"] == pytest.approx(record["ours"] - other["ours"], abs=1e-4)
    assert record["p_value"] < 0.05 and "paired bootstrap" in record["test"]
    assert any("DiMS against NAT: En-De +" in note for note in table.notes)


def test_with_several_seeds_they_are_tested_over_seeds(root: Path) -> None:
    for seed, errors in ((1, 0.5), (2, 0.1), (3, 0.3)):
        made_up_run.run(root, "nat-kd", "one-pass", errors=0.3, seed=seed)
        made_up_run.run(root, "dims-cmlm-kd", "mask-predict-1-lb5", errors=errors, seed=seed)
    table = tables.make(configuration(root, [1, 2, 3]), "paper", "1")
    record = next(r for r in table.records if (r["row"], r["column"]) == ("DiMS", "En-De"))
    other = next(r for r in table.records if (r["row"], r["column"]) == ("NAT", "En-De"))
    assert record["baseline_difference"] == pytest.approx(record["ours"] - other["ours"], abs=1e-4)
    assert record["test"].startswith("Student's t over 3 seeds") and record["p_value"] > 0.05
    assert "*" not in by_label(table)["DiMS"]["En-De: ours"]


def test_scores_against_different_references(root: Path) -> None:
    path = made_up_run.run(root, "nat-kd", "one-pass", errors=0.4)
    made_up_run.run(root, "dims-cmlm-kd", "mask-predict-1-lb5", errors=0.1)
    score = read_json(path)
    score["files"]["tokens"]["sha256"] = "of another file"
    write_json(path, score)
    with pytest.raises(UserError, match="test.json and .*test.json .* different references"):
        tables.make(configuration(root), "paper", "1")


def test_nothing_but_scores_and_their_counts_is_read(root: Path) -> None:
    path = made_up_run.run(root, "nat-kd", "one-pass", errors=0.4)
    made_up_run.run(root, "dims-cmlm-kd", "mask-predict-1-lb5", errors=0.1)
    table = tables.make(configuration(root), "paper", "1")
    for folder in ("demo/translations", "corpora"):
        shutil.rmtree(root / "results" / folder)
    assert tables.make(configuration(root), "paper", "1") == table
    path.with_suffix(".npz").unlink()
    with pytest.raises(UserError, match="test.npz does not exist"):
        tables.make(configuration(root), "paper", "1")


def test_every_cell_leads_back_to_its_files(root: Path) -> None:
    for seed in (1, 2):
        made_up_run.run(root, "nat-kd", "one-pass", errors=0.3, seed=seed)
    tables.write(tables.make(configuration(root, [1, 2]), "paper", "1"), root / "table_1.csv")
    frame = pd.read_csv(root / "table_1.csv", keep_default_na=False)
    assert len(frame) == 6  # one line per cell
    line = frame[(frame["row"] == "NAT") & (frame["column"] == "En-De")].iloc[0]
    assert [(root / path).exists() for path in line["sources"].split()] == [True, True]
    assert line["published_source"].startswith("config/published/paper.csv row 4")
    assert float(line["spread"]) > 0 and line["seeds"] == "1 2"
    assert "±" in (root / "table_1.md").read_text()


def test_records_survive_the_csv(root: Path) -> None:
    made_up_run.run(root, "nat-kd", "one-pass", errors=0.4)
    made_up_run.run(root, "dims-cmlm-kd", "mask-predict-1-lb5", errors=0.1, not_decoded=2)
    plain = one_column(root, "E_D")
    table = tables.make(plain, "paper", "1")
    tables.write(table, root / "table_1.csv")
    again = tables.lay_out(plain, "paper", "1", tables.read_records(root / "table_1.csv"))
    assert (again.cells, again.columns, again.notes) == (table.cells, table.columns, table.notes)
    assert any("2 sentences were not decoded" in note for note in table.notes)


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_narrow_terminal_loses_no_column(root: Path, width: int) -> None:
    made_up_run.run(root, "nat-kd", "one-pass", errors=0.4)
    plain = one_column(root, "En-De")
    table = tables.make(plain, "paper", "1")
    console = Console(width=width, record=True, file=(root / "screen").open("w"))
    tables.show(table, console)
    shown = console.export_text()
    for text in [cell for row in table.cells for cell in row] + ["ours", "published"]:
        assert text in shown


def test_tables_of_another_version_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="does not exist"):
        tables.read_records(tmp_path / "table_1.csv")
    (tmp_path / "table_1.csv").write_text("a,b\n1,2\n")
    with pytest.raises(UserError, match="not a table of this version"):
        tables.read_records(tmp_path / "table_1.csv")


def test_a_table_of_which_places_are_missing_is_refused(root: Path) -> None:
    plain = made_up_run.configuration(root, {"paper": PAPER})
    csv = root / "table_1.csv"
    tables.write(tables.make(plain, "paper", "1"), csv)
    record_of(csv).unlink()
    csv.write_text("".join(csv.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(UserError, match="table_1.csv is not a table of this version"):
        reports.read_table(plain, "paper", "1", csv)


def test_a_measure_that_the_corpus_does_not_allow_is_left_out(root: Path) -> None:
    made_up_run.run(root, "nat-kd", "one-pass", errors=0.3)
    row = {"label": "NAT", "group": "g", "system": "nat-kd", "decoding": "one-pass"}
    measures = ("sacrebleu", "multi_reference_bleu", "length_ratio")
    made_up_run.publish(root, made_up_run.HEADER)
    plain = configuration(
        root,
        rows=[row, {**row, "label": "later", "decoding": "one-pass-lb5"}],
        cells={"task": TASK, "split": "test"},
        columns=[{"measure": measure} for measure in measures],
    )
    table = tables.make(plain, "paper", "1")
    assert table.columns == [("", ""), ("system", ""), ("sacreBLEU", ""), ("length ratio", "")]
    assert "multi-ref. sacreBLEU: not available on this corpus." in table.notes
    assert [row[0] for row in table.cells] == ["g", ""]


def test_differences_have_a_sign_whoever_measured_them() -> None:
    record = {"measure": "tokenised_bleu", "published": -0.28, "printed": "-0.28", "over": "hrt"}
    assert tables._text(record, tables.PUBLISHED, False, True) == "\N{MINUS SIGN}0.28"
    assert tables._text({**record, "over": ""}, tables.PUBLISHED, False, True) == "-0.28"


def test_a_hidden_column_has_no_footnote(root: Path) -> None:
    columns = ["sacrebleu", {"label": "chrF", "measure": "chrf", "hidden": True}]
    with pytest.raises(UserError, match="footnotes: column 'chrF' is hidden"):
        derived_table(root, columns, [], footnotes=[{"column": "chrF", "text": "a"}])


def test_a_wide_table_is_broken_in_latex(root: Path) -> None:
    made_up_run.run(root, "nat-kd", "one-pass", errors=0.3)
    made_up_run.publish(root, made_up_run.HEADER)
    row = {"label": "α", "system": "nat-kd", "decoding": "one-pass", "ours_only": True}
    columns = [{"label": f"column {number}", "task": TASK} for number in range(tables.WIDEST + 1)]
    short = {**row, "label": "short", "columns": ["column 0"]}
    table = tables.make(configuration(root, rows=[short, row], columns=columns), "paper", "1")
    latex = tables.latex(table)
    assert latex.count("short") == 1
    assert latex.count(r"\begin{tabular}") == 2 and latex.count(r"\resizebox{\ifdim") == 2
    assert latex.count(r"$\alpha$") == 2 and latex.isascii()
    assert [latex.count(f" {label} ") for label, _ in table.columns[1:]] == [1] * len(columns)
    assert latex.count("{") == latex.count("}")


def test_markdown_and_latex_escape(root: Path) -> None:
    row = {"label": "A&B_c|d", "system": "nat-kd", "decoding": "one-pass", "ours_only": True}
    made_up_run.run(root, "nat-kd", "one-pass", errors=0.3)
    made_up_run.publish(root, made_up_run.HEADER)
    columns = [{"label": "100%", "task": TASK, "interval": True}]
    table = tables.make(configuration(root, rows=[row], columns=columns), "paper", "1")
    markdown, latex = tables.markdown(table), tables.latex(table)
    assert r"A&B\_c\|d" in markdown
    body = [line for line in markdown.splitlines() if line.startswith("|")]
    assert len(body) == 3
    assert r"A\&B\_c|d" in latex and r"100\%" in latex and r"$^\dagger$" in latex
    assert latex.count(r"\begin") == latex.count(r"\end") == 2
    assert latex.isascii()


@pytest.mark.parametrize(
    ("value", "text"), [(1.234, "+1.23"), (-1.234, "−1.23"), (0.001, "0.00"), (-0.001, "0.00")]
)
def test_signs(value: float, text: str) -> None:
    assert tables.signed(value, 2) == text


ROWS = [
    {"label": label, "system": system, "decoding": decoding}
    for label, system, decoding in (
        ("NAT", "nat-kd", "one-pass"),
        ("CMLM", "cmlm-kd", "mask-predict-1-lb5"),
        ("DiMS", "dims-cmlm-kd", "mask-predict-1-lb5"),
    )
]


def derived_table(
    root: Path,
    columns: list[Any],
    rows: list[Any],
    seeds: list[int] | None = None,
    above: Sequence[Any] = (),
    **changes: Any,
) -> tables.Table:
    (root / "config/published/paper.csv").unlink(missing_ok=True)
    rows = [*above, *ROWS, *rows]
    table = {"title": "t", "columns": columns, "rows": rows, **changes}
    paper = {"title": "Paper", "cells": {"task": TASK, "split": "test"}, "tables": {"1": table}}
    return tables.make(made_up_run.configuration(root, {"paper": paper}, seeds), "paper", "1")


def test_derived_rows_and_columns(root: Path) -> None:
    for errors, row in zip((0.3, 0.4, 0.1), ROWS, strict=True):
        made_up_run.run(root, row["system"], row["decoding"], errors=errors)
    columns = [
        "sacrebleu",
        "chrf",
        {"label": "chrF - BLEU", "derived": {"difference": ["chrF2", "sacreBLEU"]}},
        {"label": "chrF / BLEU", "derived": {"ratio": ["chrF2", "sacreBLEU"]}},
        {"label": "gain", "measure": "sacrebleu", "over": "CMLM"},
    ]
    rows = [
        {"label": "mean", "derived": {"mean": ["NAT", "CMLM"]}},
        {"label": "r with BLEU", "derived": {"correlation": "sacreBLEU"}},
    ]
    table = derived_table(root, columns, rows)
    ours = {(record["row"], record["column"]): record["ours"] for record in table.records}
    bleu = [ours[row["label"], "sacreBLEU"] for row in ROWS]
    chrf = [ours[row["label"], "chrF2"] for row in ROWS]
    assert ours["NAT", "chrF - BLEU"] == pytest.approx(chrf[0] - bleu[0], abs=1e-5)
    assert ours["NAT", "chrF / BLEU"] == pytest.approx(chrf[0] / bleu[0], abs=1e-5)
    assert ours["mean", "sacreBLEU"] == pytest.approx((bleu[0] + bleu[1]) / 2, abs=1e-5)
    assert ours["mean", "chrF - BLEU"] == pytest.approx(
        (chrf[0] + chrf[1] - bleu[0] - bleu[1]) / 2, abs=1e-5
    )
    assert ours["r with BLEU", "sacreBLEU"] == 1.0
    assert ours["r with BLEU", "chrF2"] == pytest.approx(np.corrcoef(bleu, chrf)[0, 1], abs=1e-5)
    shown = by_label(table)
    assert shown["NAT"]["chrF - BLEU"].startswith("+")
    assert all(shown["mean"][each].startswith("+") for each in ("chrF - BLEU", "gain"))
    assert not shown["mean"]["sacreBLEU"].startswith("+")
    assert shown["r with BLEU"]["sacreBLEU"] == "1.000"
    tables.write(table, root / "table_1.csv")
    again = tables.read_records(root / "table_1.csv")
    assert [record["ours"] for record in again] == [record["ours"] for record in table.records]


def test_derived_places_of_derived_ones_in_any_order_of_the_rows(root: Path) -> None:
    for errors, row in zip((0.3, 0.4, 0.1), ROWS, strict=True):
        made_up_run.run(root, row["system"], row["decoding"], errors=errors)
    columns = [
        "sacrebleu",
        "chrf",
        {"label": "difference", "derived": {"difference": ["chrF2", "sacreBLEU"]}},
        {"label": "share", "derived": {"ratio": ["difference", "chrF2"]}},
        {"label": "share again", "derived": {"mean": ["share", "share"]}},
    ]
    above = [
        {"label": "mean", "derived": {"mean": ["NAT", "CMLM"]}},
        {"label": "to NAT", "derived": {"difference": ["mean", "NAT"]}},
    ]
    table = derived_table(root, columns, [], above=above)
    ours = {(record["row"], record["column"]): record["ours"] for record in table.records}
    for column in ("difference", "share", "share again"):
        nat, cmlm = (ours[row, column] for row in ("NAT", "CMLM"))
        assert ours["mean", column] == pytest.approx((nat + cmlm) / 2, abs=1e-5)
        assert ours["to NAT", column] == pytest.approx((cmlm - nat) / 2, abs=1e-5)


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "p < 0.001"), (0.001, "p = 0.001"), (0.25, "p = 0.250")]
)
def test_a_p_value_is_not_zero(value: float, text: str) -> None:
    assert tables.p_value(value) == text


def test_the_first_row_that_reaches_another(root: Path) -> None:
    for errors, row in zip((0.3, 0.4, 0.1), ROWS, strict=True):
        made_up_run.run(root, row["system"], row["decoding"], errors=errors)
    for count, row in zip((1000, 400, 100), ROWS, strict=True):
        path = root / Cell("demo", CORPUS, row["system"], 1, "", "", "parameters").record.path
        made_up_run.write_numbers(path, TRAINING, {"parameters": count})
    measure = {"measure": "parameter_share", "over": "CMLM"}
    sizes: list[Any] = [
        {**measure, "label": f"{row['label']} (%)", "system": row["system"]} for row in ROWS
    ]
    among = {"CMLM": "CMLM (%)", "NAT": "NAT (%)", "DiMS": "DiMS (%)"}
    rows = [
        *({**row, "measure": "sacrebleu"} for row in ROWS),
        *sizes,
        {"label": "as good", "derived": {"reaching": "NAT", "among": among}},
        {"label": "smaller", "derived": {"short_of": "NAT", "among": among}},
        {"label": "none before", "derived": {"short_of": "CMLM", "among": among}},
        {"label": "|r|", "derived": {"correlation": "BLEU", "over": [*among], "absolute": True}},
    ]
    table = {
        "title": "sizes",
        "cells": {"task": TASK, "split": "test"},
        "columns": [{"label": "BLEU"}],
        "rows": rows,
    }
    paper = {"paper": {"title": "Paper", "tables": {"1": table}}}
    (root / "config/published/paper.csv").unlink()
    shown = by_label(tables.make(made_up_run.configuration(root, paper), "paper", "1"))
    assert {label: cells["BLEU"] for label, cells in shown.items() if "(%)" in label} == {
        "NAT (%)": "250.0",
        "CMLM (%)": "100.0",
        "DiMS (%)": "25.0",
    }
    assert shown["as good"]["BLEU"] == "250.0" and shown["smaller"]["BLEU"] == "100.0"
    assert shown["none before"]["BLEU"] == tables.NOTHING
    assert shown["|r|"]["BLEU"] == "1.000"
    for derived, word in (
        ({"reaching": "NAT"}, "among"),
        ({"mean": ["a", "b"], "absolute": True}, "absolute"),
    ):
        table["rows"] = [{"label": "x", "derived": derived}]
        with pytest.raises(UserError, match=word):
            made_up_run.configuration(root, paper).paper("paper")


def test_what_derived_places_lack(root: Path) -> None:
    made_up_run.run(root, "nat-kd", "one-pass", errors=0.3)
    rows: list[Any] = [{"label": "gain", "derived": {"difference": ["DiMS", "NAT"]}}]
    table = derived_table(root, ["sacrebleu"], rows)
    assert by_label(table)["gain"]["sacreBLEU"] == "not run"
    for derived, message in (
        ({"difference": ["DiMS", "NATT"]}, "'NATT' is not in the table; did you mean 'NAT'"),
        ({"difference": ["a", "b"], "mean": ["a", "b"]}, "expected one of difference, ratio"),
        ({"correlation": "sacreBLUE"}, "'sacreBLUE' is not in the table; did you mean 'sacreBLEU'"),
        ({"difference": ["x", "NAT"]}, "'x' must stand before 'x', which is computed from it"),
    ):
        with pytest.raises(UserError, match=message):
            derived_table(root, ["sacrebleu"], [{"label": "x", "derived": derived}])


def test_a_column_may_show_the_difference_to_a_row(root: Path) -> None:
    for errors, row in zip((0.3, 0.4, 0.1), ROWS, strict=True):
        made_up_run.run(root, row["system"], row["decoding"], errors=errors)
    gain = {"label": "gain", "measure": "sacrebleu", "over": "CMLM"}
    table = derived_table(root, ["sacrebleu", gain], [])
    records = {(record["row"], record["column"]): record for record in table.records}
    gained = records["DiMS", "gain"]
    assert gained["ours"] == pytest.approx(
        records["DiMS", "sacreBLEU"]["ours"] - records["CMLM", "sacreBLEU"]["ours"], abs=1e-5
    )
    assert gained["low"] < gained["ours"] < gained["high"] and gained["over"] == "cmlm-kd"
    assert by_label(table)["DiMS"]["gain"].startswith("+")
    assert by_label(table)["CMLM"]["gain"] == "0.00"
    with pytest.raises(UserError, match="'CMLN' is not a row that is run; did you mean 'CMLM'"):
        derived_table(root, [{**gain, "over": "CMLN"}], [])


def test_differences_and_derived_places_rest_on_the_seeds_that_all_have(root: Path) -> None:
    for number, seeds in enumerate(([1], [1, 2], [1, 2])):
        row = ROWS[number]
        for seed in seeds:
            errors = 0.1 * (seed + number)
            made_up_run.run(root, row["system"], row["decoding"], errors=errors, seed=seed)
    gain = {"label": "gain", "measure": "sacrebleu", "over": "NAT"}
    both = {"label": "both", "derived": {"mean": ["CMLM", "DiMS"]}}
    rows = [
        {"label": "more", "derived": {"difference": ["CMLM", "NAT"]}},
        both,
        {"label": "more than both", "derived": {"difference": ["both", "NAT"]}},
    ]
    table = derived_table(root, ["sacrebleu", gain], rows, [1, 2])
    found = {(record["row"], record["column"]): record for record in table.records}
    one = derived_table(root, ["sacrebleu", gain], rows, [1])
    first = {(record["row"], record["column"]): record for record in one.records}
    for place in (("CMLM", "gain"), ("more", "sacreBLEU"), ("more than both", "sacreBLEU")):
        for key in ("ours", "seeds", "sources"):
            assert found[place][key] == first[place][key]
        assert found[place]["remark"].startswith("without seed 2, which was not run for ")
    assert found["both", "sacreBLEU"]["seeds"] == "1 2"
    assert found["both", "sacreBLEU"]["ours"] != first["both", "sacreBLEU"]["ours"]
    assert any(note.startswith("sacreBLEU, for more; more than both: ") for note in table.notes)
    made_up_run.run(root, "nat-kd", "one-pass", errors=0.1, seed=3)
    other = derived_table(root, ["sacrebleu"], rows[:1], [2, 3])
    assert by_label(other)["more"]["sacreBLEU"] == "not run"


def test_a_row_is_over_another_in_relative_measures_only(root: Path) -> None:
    for errors, row in zip((0.3, 0.4, 0.1), ROWS, strict=True):
        made_up_run.run(root, row["system"], row["decoding"], errors=errors)
    relative = {**ROWS[2], "label": "relative", "over": "CMLM"}
    speed_up = {"measure": "speed_up", "setting": "cpu-1", "over": "NAT"}
    shown = by_label(derived_table(root, ["sacrebleu", speed_up], [relative]))
    assert shown["relative"]["sacreBLEU"] == shown["DiMS"]["sacreBLEU"]
    with pytest.raises(UserError, match="rows: key 'over' of 'relative': no measure of the row is"):
        derived_table(root, ["sacrebleu"], [relative])


def test_the_baseline_of_a_table_is_for_systems_that_it_shows(root: Path) -> None:
    with pytest.raises(UserError, match="no row shows the system 'nat-kt'; did you mean 'nat-kd'"):
        derived_table(root, ["sacrebleu"], [], baseline={"nat-kt": "CMLM"})


def test_speed_up_over_a_row_and_what_could_not_be_measured(root: Path) -> None:
    times: dict[Cell, list[float] | str] = {}
    for row, found in zip(ROWS, ([2.0] * 5, [8.0] * 5, "out of memory"), strict=True):
        names = (CORPUS, row["system"], 1, row["decoding"], "", "latency", "cpu-1")
        times[Cell("demo", *names, group="paper_table_1")] = found
    write_latencies(root, times)
    columns = [
        {"measure": "latency", "setting": "cpu-1"},
        {"measure": "speed_up", "setting": "cpu-1", "over": "CMLM"},
    ]
    shown = by_label(derived_table(root, columns, []))
    assert shown["NAT"]["latency"] == "2.00" and shown["NAT"]["speed-up"] == "4.0"
    assert shown["CMLM"]["speed-up"] == "1.0"
    assert shown["DiMS"]["latency"] == "N/A (out of memory)"
    with pytest.raises(UserError, match="'speed-up' leaves the key 'over' open"):
        derived_table(root, [{"measure": "speed_up", "setting": "cpu-1"}], [])


def test_the_spread_of_times_is_shown_and_what_was_measured_is_said(root: Path) -> None:
    own, other, third = (
        Cell(
            *("demo", CORPUS, row["system"], 1, row["decoding"], "", "latency", "cpu-1"),
            group="paper_table_1",
        )
        for row in ROWS
    )
    machine = {"device": "Processor X", "sentences": 200, "sentences_of_split": 2000}
    machine["setting"] = {"device": "cpu", "threads": 2}

    def measured(*times: float) -> tables.Table:
        write_latencies(root, {own: list(times), other: [8.0] * 5, third: "no GPU"})
        path = root / own.score_path
        write_json(path, {**read_json(path), **machine})
        columns = [
            {"measure": "latency", "setting": "cpu-1", "interval": True},
            {"measure": "speed_up", "setting": "cpu-1", "over": "CMLM", "interval": True},
            {"measure": "decoding_seconds", "setting": "cpu-1"},
        ]
        return derived_table(root, columns, [])

    steady = measured(1.9, 2.0, 2.0, 2.1, 9.0)
    shown = by_label(steady)["NAT"]
    assert shown["latency"] == "2.00 [2.00, 2.10]" and shown["speed-up"].startswith("4.0 [")
    record = next(each for each in steady.records if each["measure"] == "latency")
    assert (record["low"], record["high"], record["unsteady"]) == (2.0, 2.1, "")
    notes = "\n".join(steady.notes)
    assert "[low, high] of latency: quartiles of the repeats" in notes
    assert "[low, high] of speed-up: 95% bootstrap interval over the repeats" in notes
    assert "Processor X, 2 threads (200 of 2,000 sentences of the test set)" in notes
    assert "\nspeed-up: median latency of CMLM over its own.\n" in notes
    assert "extrapolated from 200 of 2,000." in notes and "‡" not in notes
    machine["sentences"] = 2000
    unsteady = measured(1.0, 2.0, 2.0, 3.0, 3.0)
    assert "extrapolated" not in "".join(unsteady.notes)
    shown = by_label(unsteady)
    assert shown["NAT"]["latency"] == "2.00‡ [2.00, 3.00]"
    assert shown["NAT"]["speed-up"].startswith("4.0‡ [") and "‡" not in shown["CMLM"]["speed-up"]
    assert any(note.startswith("‡ do not rely on it") for note in unsteady.notes)
    tables.write(unsteady, root / "table_1.csv")
    assert r"2.00$^\ddagger$" in (root / "table_1.tex").read_text()


def test_notes_define_measures_by_the_headings_of_their_columns(root: Path) -> None:
    made_up_run.run(root, "nat-kd", "one-pass", errors=0.4)
    columns = [
        {"label": "steps", "measure": "passes"},
        {"label": "words", "measure": "length_ratio"},
    ]
    notes = derived_table(root, columns, []).notes
    assert "steps: of the decoder, mean over sentences." in notes
    assert "words: words of the translations / words of the reference." in notes
    notes = derived_table(root, [columns[0], {**columns[0], "label": "again"}], []).notes
    assert "passes: of the decoder, mean over sentences." in notes


def test_differences_of_times_have_no_quartiles_and_are_not_compared(root: Path) -> None:
    repeats = {"nat-kd": [2.0, 2.1, 2.2, 2.1, 2.0], "dims-cmlm-kd": [4.0, 4.1, 4.2, 4.1, 4.0]}
    names = {row["system"]: row for row in PAPER["tables"]["1"]["rows"]}
    measure = {"task": TASK, "measure": "latency", "setting": "cpu-1", "interval": True}
    columns = [{**measure, "label": "ms"}, {**measure, "label": "more", "over": "NAT"}]
    rows = [*names.values(), {"label": "mean", "derived": {"mean": ["NAT", "DiMS"]}}]
    value = f",,NAT,,{TASK},ms,2.0,ms,source=authors,ours\n"
    places = [(row, column) for row in ("NAT", "mean") for column in ("ms", "more")]
    lines = "".join(f"table1,{row},{column}{value}" for row, column in places)
    made_up_run.publish(root, made_up_run.HEADER + lines)
    paper = copy.deepcopy(PAPER) | {"figures": {}}
    paper["tables"]["1"] |= {"cells": {}, "columns": columns, "rows": rows}
    own = made_up_run.configuration(root, {"paper": paper}, scale="paper", corpus=TASK)
    found = {
        cell: repeats[cell.system]
        for place in entries(own, "paper", "table", "1")
        for cell in place.cells
    }
    write_latencies(root, found)
    table = tables.make(own, "paper", "1")
    assert not any(record["stand_in"] for record in table.records)
    assert [record["difference"] for record in table.records] == [None] * 6
    assert "[low, high] of latency: quartiles of the repeats." in table.notes
    assert any(
        note.startswith("[low, high] of differences of latency: 95% bootstrap")
        for note in table.notes
    )


@pytest.mark.parametrize("printed", ["345", "1e-1", "20.50", "NaN"])
def test_published_values_are_shown_as_printed(root: Path, printed: str) -> None:
    made_up_run.publish(root, made_up_run.ONE_COLUMN.replace("20.5", printed))
    table = tables.make(
        configuration(root, columns=[{"label": "En-De", "task": TASK}]), "paper", "1"
    )
    assert by_label(table)["NAT"]["En-De: published"] == printed
    tables.write(table, root / "table_1.csv")
    assert printed in {record["printed"] for record in tables.read_records(root / "table_1.csv")}


@pytest.mark.parametrize(
    ("seeds", "over"),
    [
        ([1], "draws of a random decoding"),
        ([1, 2], "seeds 1, 2, of a random decoding also over its draws"),
    ],
)
def test_a_spread_says_whether_it_is_over_draws(root: Path, seeds: list[int], over: str) -> None:
    paper = copy.deepcopy(PAPER)
    share = {"system": "cmlm-kd", "decoding": "masked-at-random-0.5-seed{draw}", "draws": [1, 2]}
    paper |= {"systems": {"RANDOM": share}}
    paper["tables"]["1"] |= {"rows": [{"system": "RANDOM"}], "columns": [{"task": TASK}]}
    (root / "config/published/paper.csv").unlink()
    plain = made_up_run.configuration(root, {"paper": paper}, seeds)
    for draw, seed in itertools.product(share["draws"], seeds):
        decoding = f"masked-at-random-0.5-seed{draw}"
        made_up_run.run(root, "cmlm-kd", decoding, errors=0.2 * draw, seed=seed)
    made = tables.make(plain, "paper", "1")
    assert f"±: standard deviation over {over}." in made.notes
    assert made.records[0]["remark"] == ""
    (root / made.records[0]["sources"].split()[-1]).unlink()
    made = tables.make(plain, "paper", "1")
    missing = f"{decoding} of seed {seed}"
    assert made.records[0]["remark"] == f"without {missing}, which was not run"
    share["decoding"] = "mask-predict-1-lb5"
    with pytest.raises(UserError, match=r"'mask-predict-1-lb5' is the same for all; write"):
        tables.make(made_up_run.configuration(root, {"paper": paper}), "paper", "1")


def test_why_a_row_was_not_run_is_said_once() -> None:
    columns = ("En-De", "De-En")
    whole = [(f"not run: {why}", row) for row, why in (("A", "no file"), ("B", "no file"))]
    records = [
        {"row": row, "column": column, "status": status}
        for status, row in whole
        for column in columns
    ]
    records.append({"row": "C", "column": "En-De", "status": "run"})
    records.append({"row": "C", "column": "De-En", "status": "not run: no library"})
    assert tables._why_not_run(records) == [
        "Not run: A; B: no file.",
        "Not run: C (De-En): no library.",
    ]


def test_every_remark_on_a_row_is_shown_with_its_columns(root: Path) -> None:
    collapsed = made_up_run.collapse(made_up_run.run(root, "nat-kd", "one-pass", errors=0.3))
    for decoding, seed in (("one-pass", 2), ("npd9", 1)):
        made_up_run.run(root, "nat-kd", decoding, errors=0.3, seed=seed, not_decoded=2)
    made_up_run.run(root, "cmlm-kd", "one-pass", errors=0.3)
    columns = [
        {"label": label, "decoding": decoding}
        for label, decoding in (("one pass", "one-pass"), ("rescored", "npd9"))
    ]
    rows = [{"label": "NAT", "system": "nat-kd"}, {"label": "CMLM", "system": "cmlm-kd"}]
    (root / "config/published/paper.csv").unlink()
    cells = {"task": TASK, "split": "test", "measure": "sacrebleu"}
    table = {"title": "t", "cells": cells, "columns": columns, "rows": rows}
    paper = {"title": "Paper", "tables": {"1": table}}
    made = tables.make(made_up_run.configuration(root, {"paper": paper}, [1, 2]), "paper", "1")
    missing = "without seed 2, which was not run"
    assert made.notes[-3:] == [
        "NAT: 2 sentences were not decoded, scored as empty.",
        f"NAT (one pass): {collapsed} (seed 1).",
        f"NAT (rescored); CMLM (one pass): {missing}.",
    ]
    made_up_run.run(root, "cmlm-kd", "npd9", errors=0.3)
    made = tables.make(made_up_run.configuration(root, {"paper": paper}, [1, 2]), "paper", "1")
    assert made.notes[-1] == f"NAT (rescored); CMLM: {missing}."


def test_a_remark_on_a_whole_column_names_the_column(root: Path) -> None:
    made_up_run.run(root, "nat-kd", "one-pass", errors=0.3)
    made = tables.make(configuration(root), "paper", "1")
    assert made.notes[-1] == f"De-En: scale demo has no corpus for {OTHER_TASK}."


def test_means_of_hidden_columns_say_why_one_of_them_is_missing(root: Path) -> None:
    times: dict[Cell, list[float] | str] = {}
    for row, milliseconds in zip(ROWS, ((2.0, 1.0), (8.0, 2.0), (4.0, None)), strict=True):
        for setting, each in zip(("cpu-1", "cpu-8"), milliseconds, strict=True):
            names = (CORPUS, row["system"], 1, row["decoding"], "", "latency", setting)
            cell = Cell("demo", *names, group="paper_table_1")
            times[cell] = [each] * 5 if each else "out of memory"
    write_latencies(root, times)
    columns = [
        {
            "label": "{batch}",
            "measure": "speed_up",
            "setting": "cpu-{batch}",
            "over": "{other}",
            "with": {"batch": [1, 8]},
            "hidden": True,
        },
        {"label": "mean", "derived": {"mean": ["1", "8"]}},
    ]
    rows = [{**row, "with": {"other": "CMLM"}} for row in ROWS]
    table = {"title": "t", "cells": {"task": TASK}, "columns": columns}
    (root / "config/published/paper.csv").unlink()
    paper = {"title": "Paper", "tables": {"1": {**table, "rows": rows}}}
    made = tables.make(made_up_run.configuration(root, {"paper": paper}), "paper", "1")
    shown = by_label(made)
    assert shown["NAT"] == {"system": "NAT", "mean": "3.0"}
    assert shown["DiMS"]["mean"] == "N/A (out of memory)"
    # the hidden columns are in the CSV
    assert {record["column"] for record in made.records} == {"1", "8", "mean"}


def test_a_row_may_be_run_in_some_columns_only(root: Path) -> None:
    made_up_run.run(root, "nat-kd", "one-pass", errors=0.3)
    short = {"label": "short", "system": "nat-kd", "decoding": "one-pass", "columns": ["chrF2"]}
    shown = by_label(derived_table(root, ["sacrebleu", "chrf"], [short]))
    assert shown["short"]["sacreBLEU"] == "–"
    assert shown["short"]["chrF2"] == shown["NAT"]["chrF2"]
    with pytest.raises(UserError, match="'columns' of 'short': 'chrF' .* did you mean 'chrF2'"):
        derived_table(root, ["chrf"], [{**short, "columns": ["chrF"]}])
