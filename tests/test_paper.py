"""What descriptions of tables and figures stand for."""

import copy
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import made_up_run
import pytest
from made_up_corpus import corpus_file
from made_up_run import CORPUS, OTHER_TASK, PAPER, REPOSITORY, TASK

from nat.cells import figure_places, table_places
from nat.cells.entry import Entry
from nat.cells.paper import entries
from nat.cells.resolver import heading
from nat.configuration.reading import read
from nat.errors import UserError
from nat.papers import reports
from nat.workflow.graph import Graph

TABLE = ("paper", "table", "1")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made_up_run.publish(tmp_path)
    return tmp_path


def configuration(root: Path, seeds: list[int] | None = None, **changes: Any) -> Any:
    paper = copy.deepcopy(PAPER)
    paper["tables"]["1"] |= changes
    return made_up_run.configuration(root, {"paper": paper}, seeds)


def unpublished(tmp_path: Path, **content: Any) -> Any:
    return made_up_run.configuration(tmp_path, {"paper": {"title": "Paper", **content}})


def test_targets_are_all_tables_and_figures(root: Path) -> None:
    assert reports.targets(configuration(root)) == [TABLE, ("paper", "figure", "2")]


def test_score_files_that_a_table_needs(root: Path) -> None:
    found = reports.cells(configuration(root, [1, 2]), TABLE)
    assert [(cell.system, cell.seed, cell.decoding) for cell in found] == [
        ("nat-kd", 1, "one-pass"),
        ("nat-kd", 2, "one-pass"),
        ("dims-cmlm-kd", 1, "mask-predict-1-lb5"),
        ("dims-cmlm-kd", 2, "mask-predict-1-lb5"),
    ]


def test_paired_tests_need_the_counts_of_sentences_too(root: Path) -> None:
    found = [each.path for each in reports.files(configuration(root), TABLE)]
    assert any(path.endswith("nat-kd/seed1/one-pass/test.npz") for path in found)
    assert not any("/translations/" in path for path in found)
    assert len(found) == 4


def test_a_task_without_a_corpus_at_this_scale_is_not_run(root: Path) -> None:
    found = entries(configuration(root), *TABLE)
    assert [(entry.row, entry.column) for entry in found[:2]] == [
        ("quoted", "En-De"),
        ("quoted", "De-En"),
    ]
    nat = {entry.column: entry for entry in found if entry.row == "NAT"}
    assert nat["De-En"].cells == () and OTHER_TASK in nat["De-En"].reason
    assert nat["En-De"].stand_in == f"corpus {CORPUS} at scale demo stands in for {TASK}"


def test_the_papers_own_corpus_and_scale_are_not_marked(root: Path) -> None:
    plain = configuration(root)
    files = copy.deepcopy(plain.files)
    files["scales"]["paper"]["tasks"] = {TASK: TASK}
    files["corpora"] = {TASK: corpus_file("en", "de")}
    paper = replace(plain, scale="paper", files=files)
    assert entries(paper, *TABLE)[2].stand_in == ""
    files["scales"]["demo"]["tasks"] = {TASK: TASK}
    assert "scale demo" in entries(replace(plain, files=files), *TABLE)[2].stand_in


def test_cells_have_what_their_measures_need(tmp_path: Path) -> None:
    columns = [
        {"measure": "latency", "setting": ["cuda-1", "cpu-1"]},
        {"measure": "total_correlation", "partner": "at-base"},
        {"measure": "parameters"},
    ]
    table = {"title": "t", "cells": {"task": TASK, "split": "test"}, "columns": columns}
    row = {"label": "NAT", "system": "nat-kd", "decoding": "one-pass"}
    paper = {"tables": {"1": {**table, "rows": [row]}}}
    found = [each.cells[0] for each in entries(unpublished(tmp_path, **paper), *TABLE)]
    assert [(each.decoding, each.split, each.setting, each.partner) for each in found] == [
        ("one-pass", "", "cuda-1", ""),
        ("one-pass", "", "cpu-1", ""),
        ("", "test", "", "at-base"),
        ("", "", "", ""),
    ]
    columns[0]["setting"] = "gpu-1"
    with pytest.raises(UserError, match="tables.1: .*'gpu-1'"):
        entries(unpublished(tmp_path, **paper), *TABLE)


SYSTEMS = {
    "CMLM": {
        "system": "cmlm-{text}",
        "decoding": {"1": "mask-predict-1-lb5", "n": "mask-predict-{steps}-lb5"},
    },
    "CMLM + DiMS": {"like": "CMLM", "system": "dims-cmlm-{text}", "baseline": "CMLM"},
}
CELLS = {"measure": "sacrebleu", "split": "test", "with": {"text": "kd"}}


def product(tmp_path: Path, row: dict[str, Any], **content: Any) -> list[Entry]:
    table = {"title": "t", "columns": [TASK], "rows": [row]}
    base = {"cells": CELLS, "systems": SYSTEMS, "tables": {"1": table}}
    return entries(unpublished(tmp_path, **{**base, **content}), *TABLE)


def test_rows_are_products_of_their_lists(tmp_path: Path) -> None:
    found = product(tmp_path, {"system": ["CMLM", "CMLM + DiMS"], "steps": [1, 4]})
    assert [(each.row, each.group, each.baseline, each.cells[0].decoding) for each in found] == [
        ("CMLM, 1 step", "CMLM", "", "mask-predict-1-lb5"),
        ("CMLM, 4 steps", "CMLM", "", "mask-predict-4-lb5"),
        ("CMLM + DiMS, 1 step", "CMLM + DiMS", "CMLM, 1 step", "mask-predict-1-lb5"),
        ("CMLM + DiMS, 4 steps", "CMLM + DiMS", "CMLM, 4 steps", "mask-predict-4-lb5"),
    ]
    assert [each.cells[0].system for each in found[1:3]] == ["cmlm-kd", "dims-cmlm-kd"]
    assert {each.column for each in found} == {"WMT14 En-De"}


def test_variables_and_labels_are_templates(tmp_path: Path) -> None:
    row = {"label": "on {text}", "system": "CMLM", "steps": 1, "with": {"text": ["raw", "kd"]}}
    found = product(tmp_path, row)
    assert [(each.row, each.cells[0].system) for each in found] == [
        ("on raw", "cmlm-raw"),
        ("on kd", "cmlm-kd"),
    ]


def test_a_system_may_differ_on_a_task(tmp_path: Path) -> None:
    systems = copy.deepcopy(SYSTEMS)
    own = {"system": "cmlmc-{text}", "decoding": "mask-correct-{steps}-lb5"}
    systems["CMLM"]["tasks"] = {TASK: own}
    found = product(tmp_path, {"system": "CMLM", "steps": 4}, systems=systems)
    assert (found[0].cells[0].system, found[0].cells[0].decoding) == (
        "cmlmc-kd",
        "mask-correct-4-lb5",
    )


def test_a_row_may_be_tested_against_another_decoding_of_its_system(tmp_path: Path) -> None:
    row = {"label": "4 steps", "system": "CMLM", "steps": 4, "baseline": "CMLM"}
    table = {"title": "t", "columns": [TASK], "rows": [{"system": "CMLM", "steps": 1}, row]}
    found = product(tmp_path, row, tables={"1": table})
    assert [(each.row, each.baseline) for each in found] == [("CMLM", ""), ("4 steps", "CMLM")]


def test_a_toy_is_of_no_corpus(tmp_path: Path) -> None:
    row = {"label": "NAT", "system": "nat-kd", "measure": "two_orders_AB"}
    (found,) = product(tmp_path, row)
    assert found.stand_in == "" and found.cells[0].of_training == []
    made = unpublished(
        tmp_path, cells=CELLS, tables={"1": {"title": "t", "columns": [TASK], "rows": [row]}}
    )
    assert [type(each).__name__ for each in reports.files(made, TABLE)] == ["Analysis"]


def test_headings_of_tasks() -> None:
    assert heading("wmt14-en-de") == "WMT14 En-De"
    assert heading("multi30k-en-de") == "Multi30k En-De"
    assert heading("mine") == "Mine"


def test_a_scale_may_give_a_task_its_heading(tmp_path: Path) -> None:
    table = {"title": "t", "columns": ["mine"], "rows": [{"system": "CMLM", "steps": 1}]}
    content = {"cells": CELLS, "systems": SYSTEMS, "tables": {"1": table}}
    found = unpublished(tmp_path, **content)
    tasks = found.files["scales"][found.scale]["tasks"]
    tasks.clear()
    tasks["mine"] = CORPUS
    assert entries(found, *TABLE)[0].column == "Mine"
    tasks["mine"] = {"corpus": CORPUS, "heading": "My news"}
    found = replace(found)
    assert [(each.column, each.cells[0].corpus) for each in entries(found, *TABLE)] == [
        ("My news", CORPUS)
    ]


ROW = {"label": "r", "system": "nat-kd", "decoding": "one-pass"}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"system": "nat-kt"}, "unknown system 'nat-kt'.* did you mean 'nat-kd'"),
        ({"decoding": "one-pas"}, "unknown decoding 'one-pas'"),
        ({"decoding": "beam5"}, "is for autoregressive systems"),
        ({"decoding": None}, "no 'decoding' is given"),
        ({"measure": "sacreblue"}, "unknown measure 'sacreblue'; did you mean 'sacrebleu'"),
        ({"split": "tset"}, "unknown split 'tset' of .*; did you mean 'test'"),
        ({"split": "train"}, "split: found train, .* not scored; expected one of valid, test"),
        ({"task": OTHER_TASK}, "row 'r', column 'En-De' give the key 'task' differently"),
        ({"baseline": "NATT"}, "baseline 'NATT' of row 'r'"),
        ({"system": None}, "row 'r', column 'En-De': no 'system' is given"),
        (
            {"system": "nat-{txt}", "with": {"text": "kd"}},
            "variable 'txt'.*did you mean 'text'",
        ),
        (
            {"system": "nat-kd", "with": {"txt": ["kd", "raw"]}, "label": "{txt}"},
            "rows: no system, .* uses the variable 'txt'; known: system, task",
        ),
    ],
)
def test_errors_name_file_key_and_remedy(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    changed = {key: value for key, value in {**ROW, **row}.items() if value is not None}
    rows = [changed, {**ROW, "label": "s"}]
    plain = configuration(tmp_path, rows=rows, columns=[{"label": "En-De", "task": TASK}])
    with pytest.raises(UserError, match=message) as caught:
        reports.cells(plain, TABLE)
    assert str(caught.value).startswith("config/papers/paper.yaml: tables.1")


def test_a_row_and_a_column_may_not_set_a_variable_differently(tmp_path: Path) -> None:
    column = {"label": "raw", "task": TASK, "with": {"text": "raw"}}
    row = {"system": "CMLM", "steps": 1, "with": {"text": "kd"}}
    table = {"title": "t", "columns": [column], "rows": [row]}
    with pytest.raises(UserError, match="row 'CMLM', column 'raw' give the key 'text' differently"):
        product(tmp_path, row, tables={"1": table})
    column["with"] = row["with"]
    assert product(tmp_path, row, tables={"1": table})[0].cells[0].system == "cmlm-kd"


@pytest.mark.parametrize(
    ("kind", "changes", "message"),
    [
        ("lines", {"measure": "speed_up", "setting": "cpu-1"}, "series 's' leaves the key 'over'"),
        ("lines", {"with": {"n": [1, 0]}}, "0 has no place on a logarithmic axis"),
        ("bars", {}, r"x\.of: no system, .* uses the variable 'n'; known: text, system"),
        ("lines", {"with": {}, "points": [{"x": -1}]}, "-1 has no place on a logarithmic axis"),
        ("scatter", {}, "the axis of 'parameter_share' leaves the key 'over'"),
    ],
)
def test_what_figures_cannot_show(tmp_path: Path, kind: str, changes: Any, message: str) -> None:
    axes: dict[str, Any] = {
        "bars": {"x": {"label": "n", "of": "n"}},
        "lines": {"x": {"label": "n", "of": "n", "log": True}},
        "scatter": {"x": {"measure": "parameter_share"}, "y": {"measure": "sacrebleu"}},
    }
    series = {"label": "s", "system": "CMLM", "steps": 1, "with": {"n": 1}, **changes}
    if "points" in changes:
        del axes["lines"]["x"]["of"]
        del series["steps"]
    figure = {"title": "f", "kind": kind, "panels": [TASK], "series": [series], **axes[kind]}
    made = unpublished(tmp_path, cells=CELLS, systems=SYSTEMS, figures={"1": figure})
    with pytest.raises(UserError, match=f"figures.1.*{message}"):
        entries(made, "paper", "figure", "1")


@pytest.mark.parametrize(
    ("panel", "series", "message"),
    [
        ({"setting": "cuda-1"}, {}, "panel 'p' and an axis give the key 'setting'"),
        ({}, {"setting": "cuda-1"}, "series 's' and an axis give the key 'setting'"),
        ({"steps": 4}, {}, "series 's', panel 'p' give the key 'steps'"),
    ],
)
def test_an_axis_a_panel_and_a_series_of_a_scatter_plot_agree(
    tmp_path: Path, panel: Any, series: Any, message: str
) -> None:
    figure = {
        "title": "f",
        "kind": "scatter",
        "x": {"measure": "latency", "setting": "cpu-1"},
        "y": {"measure": "sacrebleu"},
        "panels": [{"label": "p", "task": TASK, **panel}],
        "series": [{"label": "s", "system": "CMLM", "steps": 1, **series}],
    }
    made = unpublished(tmp_path, cells=CELLS, systems=SYSTEMS, figures={"1": figure})
    with pytest.raises(UserError, match=f"figures.1: {message} differently"):
        entries(made, "paper", "figure", "1")


@pytest.mark.parametrize(
    ("panel", "key"),
    [
        ({"task": OTHER_TASK}, "task"),
        ({"with": {"text": "raw"}}, "text"),
        ({"system": "nat-kd"}, "system"),
    ],
)
def test_a_panel_and_a_curve_agree(tmp_path: Path, panel: Any, key: str) -> None:
    figure = {
        "title": "f",
        "kind": "curves",
        "x": {"label": "updates"},
        "panels": [{"label": "p", "task": TASK, **panel}],
        "series": [{"label": "s", "task": TASK, "with": {"text": "kd"}, "chain": ["cmlm-{text}"]}],
    }
    made = unpublished(tmp_path, cells=CELLS, systems=SYSTEMS, figures={"1": figure})
    message = f"figures.1: row 's', column 'p' give the key '{key}' differently"
    with pytest.raises(UserError, match=message):
        entries(made, "paper", "figure", "1")


@pytest.mark.parametrize(
    ("systems", "message"),
    [
        ({"A": {"like": "B"}, "B": {"like": "A"}}, "'B' is like itself"),
        ({"A": {"like": "Bee"}, "Bees": {}}, "unknown 'Bee'; did you mean 'Bees'"),
        ({"A": {"decoding": "one-pass"}}, "missing key 'system' at 'systems.A'"),
        ({"A": {"system": "cmlm-kd", "decoding": {"1": "x"}}}, "nothing for 4 steps"),
        ({"A": {"system": "cmlm-kd", "decoding": "m-{steps}"}}, "no 'steps' is given"),
    ],
)
def test_errors_in_systems_of_a_paper(tmp_path: Path, systems: Any, message: str) -> None:
    row = {"system": "A"} if "is given" in message else {"system": "A", "steps": 4}
    with pytest.raises(UserError, match=message) as caught:
        product(tmp_path, row, systems=systems)
    assert str(caught.value).startswith("config/papers/paper.yaml: ")


@pytest.mark.parametrize(
    ("system", "message"),
    [
        ({"like": "Bee"}, "'A' is like an unknown 'Bee'"),
        ({"decoding": "one-pass"}, "missing key 'system'"),
        (
            {"system": "nat-{txt}"},
            "needs the variable 'txt', which is not given; did you mean 'text'",
        ),
        ({"system": "natt-{text}"}, "unknown system 'natt-kd': .*; did you mean 'nat-kd'"),
        ({"system": "nat-kd", "decoding": "one-pas"}, "unknown decoding 'one-pas'"),
        (
            {"system": "cmlm-kd", "decoding": {"1": "mask-predict-1-lb5", "n": "mask-{steps}"}},
            "unknown decoding 'mask-4'",
        ),
        (
            {"system": "nat-kd", "decoding": "mask-predict-{steps}-lb5"},
            "takes 4 steps, but 'nat-kd' was never",
        ),
        ({"system": "nat-kd", "tasks": {TASK: {"system": "nat-kdd"}}}, "unknown system 'nat-kdd'"),
    ],
)
def test_a_system_that_nothing_shows_is_checked_at_the_start(
    tmp_path: Path, system: dict[str, Any], message: str
) -> None:
    table = {"title": "t", "columns": [TASK], "rows": [{"system": "CMLM", "steps": 4}]}
    content = {"cells": CELLS, "tables": {"1": table}}
    # what others only have their keys from needs no system of its own
    systems = {**SYSTEMS, "base": {"decoding": "one-pass"}, "NAT": {"like": "base"}}
    systems["NAT"]["system"] = "nat-{text}"
    assert Graph(unpublished(tmp_path, **content, systems=systems))
    with pytest.raises(UserError, match=message) as caught:
        Graph(unpublished(tmp_path, **content, systems=SYSTEMS | {"A": system}))
    assert str(caught.value).startswith("config/papers/paper.yaml: systems.A: ")


LOG_AND_EVEN = {"label": "x", "log": True, "even": True}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"tables": {"1": {"title": "t", "columns": [{"mesure": "x"}]}}}, "unknown key 'mesure'"),
        ({"figures": {"1": {"kind": "linse"}}}, "one of lines, bars"),
        ({"claims": {"a": {"claim": "c", "from": "f", "compare": ["a", "abov", "b"]}}}, "'abov'"),
        (
            {"tables": {"1": {"title": "t", "columns": [TASK], "footnotes": [{"text": "x"}]}}},
            "footnotes.0.* expected row, column or both",
        ),
        ({"figures": {"1": {"kind": "lines", "x": LOG_AND_EVEN}}}, "either 'log' or 'even'"),
        ({"seeds": [1, 1]}, "'seeds': .*expected a list without repetitions"),
        (
            {"claims": {"a": {"claim": "c", "from": "f", "margin": "ten"}}},
            "found the text 'ten', expected a number or text such as '10%'$",
        ),
        ({"sistems": {}}, "did you mean 'systems'"),
    ],
)
def test_errors_of_the_format(tmp_path: Path, content: Any, message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        reports.targets(unpublished(tmp_path, **content))
    assert str(caught.value).startswith("config/papers/paper.yaml: ")


def test_labels_must_differ(root: Path) -> None:
    with pytest.raises(UserError, match=r"tables.1.rows: the label 'r' is used twice"):
        reports.cells(configuration(root, rows=[ROW, ROW]), TABLE)


def test_unknown_task_and_table(tmp_path: Path) -> None:
    plain = configuration(tmp_path, columns=["wmt14-en-fr"])
    with pytest.raises(UserError, match="1.columns: unknown measure or task 'wmt14-en-fr'"):
        reports.cells(plain, TABLE)
    with pytest.raises(UserError, match="'sacreblue'; did you mean 'sacrebleu'"):
        reports.cells(configuration(tmp_path, columns=["sacreblue"]), TABLE)
    with pytest.raises(UserError, match="no table 7"):
        reports.cells(plain, ("paper", "table", "7"))


def test_a_paper_may_name_its_seeds(root: Path) -> None:
    paper = {**copy.deepcopy(PAPER), "seeds": [4, 5]}
    own = made_up_run.configuration(root, {"paper": paper}, [1, 2, 3])
    assert {cell.seed for cell in reports.cells(own, TABLE)} == {4, 5}
    assert reports.configured(own, TABLE) != reports.configured(configuration(root), TABLE)


def test_a_report_is_made_anew_when_a_system_of_the_paper_stands_for_another(
    tmp_path: Path,
) -> None:
    def configured(systems: Any) -> Any:
        table = {"title": "t", "columns": [TASK], "rows": [{"system": "A", "steps": 1}]}
        content = {"cells": CELLS, "systems": systems, "tables": {"1": table}}
        return reports.configured(unpublished(tmp_path, **content), TABLE)

    one = {"A": {"system": "cmlm-kd", "decoding": "mask-predict-{steps}-lb5"}}
    other = {"A": {**one["A"], "system": "cmlm-raw"}}
    assert configured(one) == configured({**one, "unused": {"system": "x"}})
    assert configured(one) != configured(other)


@pytest.mark.parametrize("scale", ["demo", "small", "paper"])
def test_every_paper_of_the_repository_resolves_once(
    scale: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def noting(place: Any, name: str) -> list[tuple[Any, ...]]:
        done, calls = getattr(place, name), []

        def noted(*given: Any) -> Any:
            found = done(*given)
            calls.append(given)  # what is refused is asked again
            return found

        monkeypatch.setattr(place, name, noted)
        return calls

    resolved = [noting(place, "entries") for place in (table_places, figure_places)]
    real = read(scale, REPOSITORY)
    known = set(real.files["corpora"])
    own = corpus_file("en", "de")
    real.files["corpora"].update({name: own for name in real.tasks.values() if name not in known})
    targets = reports.targets(real)
    assert ("overview", "table", "1") in targets and ("dims", "figure", "3") in targets
    assert reports.cells(real, ("dims", "figure", "3"))
    for target in targets:
        assert len(reports.files(real, target)) >= len(
            {cell.score_path for cell in reports.cells(real, target)}
        )
    # a figure that quotes a table resolves it, too, by its number
    named = [[each for each in calls if isinstance(each[-1], str)] for calls in resolved]
    assert all(len(calls) == len(set(calls)) > 0 for calls in named)


IDLE = {"system": "cmlm-kd", "decoding": "mask-predict-4-lb5", "steps": [1, 2, 4]}
BLEU_OF_TEST = {"measure": "sacrebleu", "split": "test"}


def test_steps_that_change_nothing_of_a_row_are_refused(tmp_path: Path) -> None:
    needed = "tables.1.rows: 'steps' changes nothing of 'cmlm-kd'.*mask-predict-4-lb5.*{steps}"
    with pytest.raises(UserError, match=needed):
        product(tmp_path, IDLE)
    settings = [{"measure": "sacrebleu", "setting": ["cuda-1", "cpu-1"], "label": "{setting}"}]
    row = {"label": "NAT", "system": "nat-kd", "decoding": "one-pass", "task": TASK}
    table = {"title": "t", "columns": settings, "rows": [row]}
    with pytest.raises(UserError, match="tables.1.columns: 'setting' changes nothing of 'nat-kd'"):
        product(tmp_path, {}, tables={"1": table})
    assert len(product(tmp_path, {**IDLE, "decoding": "mask-predict-{steps}-lb5"})) == 3


def test_a_series_along_steps_that_its_decoding_ignores_is_refused(tmp_path: Path) -> None:
    figure = {
        "title": "t",
        "kind": "lines",
        "cells": BLEU_OF_TEST,
        "x": {"label": "steps", "values": [1, 4]},
        "panels": [TASK],
        "series": [{"label": "CMLM", **IDLE, "steps": None}],
    }
    with pytest.raises(UserError, match="figures.1.series: 'steps' changes nothing of 'cmlm-kd'"):
        entries(unpublished(tmp_path, figures={"1": figure}), "paper", "figure", "1")
    level = {**figure["series"][0], "style": "level", "steps": 4}
    figure = {**figure, "series": [level]}
    assert len(entries(unpublished(tmp_path, figures={"1": figure}), "paper", "figure", "1")) == 1


def test_a_line_break_in_a_label_is_refused(tmp_path: Path) -> None:
    row = {"label": "C\nM", "system": "CMLM", "steps": 1}
    with pytest.raises(UserError, match="tables.1.*label.*line break"):
        product(tmp_path, row)
    # folded texts of YAML end with one
    (found,) = product(tmp_path, {**row, "label": "CMLM\n"})
    assert found.row == "CMLM"


UNUSED = {
    "steps": (4, "'steps' changes nothing of 'nat-kd' (one-pass); write {steps} in its decoding"),
    "setting": ("cpu-1", "'setting' changes nothing of 'nat-kd' (one-pass); no measure here has"),
    "partner": ("at-base", "'partner' changes nothing of 'nat-kd' (one-pass); no measure here has"),
    "with": ({"txet": "raw"}, "uses the variable 'txet'; did you mean 'text'?"),
}
NAT = {"label": "NAT", "system": "nat-{text}", "decoding": "one-pass"}


@pytest.mark.parametrize("name", UNUSED)
@pytest.mark.parametrize("place", ["rows", "columns", "cells"])
def test_what_no_place_of_a_table_uses_is_refused(tmp_path: Path, name: str, place: str) -> None:
    value, message = UNUSED[name]
    given = {where: {name: value} if where == place else {} for where in ("rows", "columns")}
    table = {
        "title": "t",
        "cells": {name: value} if place == "cells" else {},
        "columns": [{"label": "En-De", "task": TASK, **given["columns"]}],
        # another row may use what one gives in vain
        "rows": [{**NAT, **given["rows"]}, {"label": "4 steps", "system": "CMLM", "steps": 4}],
    }
    if place != "rows":
        table["rows"] = table["rows"][:1]
    with pytest.raises(UserError, match=re.escape(message)) as caught:
        product(tmp_path, {}, tables={"1": table})
    assert str(caught.value).startswith(f"config/papers/paper.yaml: tables.1.{place}: ")


def figure_of(tmp_path: Path, kind: str, **changes: Any) -> list[Entry]:
    figure = {
        "title": "t",
        "kind": kind,
        "cells": {},
        "panels": [{"label": "En-De", "task": TASK}],
        **changes,
    }
    made = unpublished(tmp_path, cells=CELLS, systems=SYSTEMS, figures={"1": figure})
    return entries(made, "paper", "figure", "1")


LINES = {"x": {"label": "x"}, "series": [{"system": "CMLM", "steps": [1, 4]}]}
SCATTER = {"x": {"measure": "parameters"}, "y": {}, "series": [{**NAT, "label": "NAT"}]}
CURVES = {"x": {"label": "x"}, "series": [{"label": "s", "chain": ["cmlm-{text}"]}]}
STEPS = {
    "passes": "examples.0.passes.4",
    "panels": [{"label": "p", "task": TASK, "system": "CMLM", "measure": "changed_tokens_4"}],
}


@pytest.mark.parametrize(
    ("kind", "content", "place"),
    [
        ("lines", LINES, "series"),
        ("lines", LINES, "panels"),
        ("lines", LINES, "cells"),
        ("scatter", SCATTER, "series"),
        ("scatter", SCATTER, "x"),
        ("scatter", SCATTER, "cells"),
        ("curves", CURVES, "series"),
        ("curves", CURVES, "panels"),
        ("steps", STEPS, "panels"),
        ("steps", STEPS, "cells"),
    ],
)
def test_what_no_place_of_a_figure_uses_is_refused(
    tmp_path: Path, kind: str, content: dict[str, Any], place: str
) -> None:
    assert figure_of(tmp_path, kind, **content)
    for given in ({"setting": "cpu-1"}, {"with": {"txet": "raw"}}):
        changed = copy.deepcopy(
            {"cells": {}, "panels": [{"label": "En-De", "task": TASK}]} | content
        )
        (changed[place][0] if isinstance(changed[place], list) else changed[place]).update(given)
        with pytest.raises(UserError, match=r"changes nothing of|'txet'; did you mean 'text'"):
            figure_of(tmp_path, kind, **changed)


def test_unused_variables_of_samples_and_texts_are_refused(tmp_path: Path) -> None:
    given = {"with": {"txet": "raw"}}
    samples = {"kind": "samples", "title": "t", "cells": {"steps": 1}}
    row = {"system": "CMLM + DiMS", "task": TASK}
    texts = {"kind": "texts", "title": "t", "cells": {"task": TASK}}
    text = {"label": "a", "system": "nat-{text}", "measure": "confidence", "key": "examples.{n}"}
    for table, good in ((samples, row), (texts, {**text, "with": {"n": 0}})):
        assert product(tmp_path, {}, tables={"1": {**table, "rows": [good]}})
        bad = {**good, "with": {**good.get("with", {}), **given["with"]}}
        with pytest.raises(UserError, match="uses the variable 'txet'; did you mean 'text'"):
            product(tmp_path, {}, tables={"1": {**table, "rows": [bad]}})


BASE = {"title": "t", "panels": [TASK]}
POINTS = [{"x": 1, "decoding": "mask-predict-1-lb5"}]
MATRIX = {"values": "v", "rows": "r", "columns": "c"}
DERIVED = {"label": "d", "derived": {"mean": ["a", "b"]}}


def grid_of(row: Any = None, column: Any = TASK) -> Any:
    rows = [row or {"label": "a", "system": "nat-kd"}]
    return {"tables": {"1": {"title": "t", "columns": [column], "rows": rows}}}


def drawn(kind: str, series: Any = None, **changes: Any) -> Any:
    one = {"label": "s", "system": "nat-kd"}
    of_kind = {**BASE, "kind": kind, "x": {"label": "x"}, "series": [{**one, **(series or {})}]}
    figure = {key: value for key, value in {**of_kind, **changes}.items() if value is not None}
    return {"figures": {"1": figure}}


MAP_OF_A_MATRIX = {
    "figures": {
        "1": {**BASE, "kind": "heat_map", "x": {"label": "x", "of": "n"}, "matrix": MATRIX},
    }
}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (grid_of({"quoted": ["q"], "label": "a"}), "only quoted has no use for 'label'"),
        (grid_of({"quoted": ["q"], "ours_only": True}), "only quoted has no use for 'ours_only'"),
        (grid_of(DERIVED | {"columns": ["c"]}), "a derived row has no use for 'columns'"),
        (grid_of(DERIVED | {"baseline": "a"}), "a derived row has no use for 'baseline'"),
        (grid_of(DERIVED | {"with": {"a": 1}}), "a derived row has no use for 'with'"),
        (grid_of(column=DERIVED | {"interval": True}), "derived column has no use for 'interval'"),
        (grid_of(column=DERIVED | {"over": "a"}), "derived column has no use for 'over'"),
        (
            grid_of(column={"task": TASK, "hidden": True, "interval": True}),
            "a hidden column has no use for 'interval'",
        ),
        (
            {
                "tables": {
                    "1": {"kind": "texts", "title": "t", "rows": [{"quoted": "q", "task": "a"}]}
                }
            },
            "only quoted has no use for 'task'",
        ),
        (drawn("lines", x={"label": "x", "category": "{x}"}), "'x' .* no use for 'category'"),
        (drawn("bars", x={"label": "x", "log": True}), "'x' .* no use for 'log'"),
        (drawn("bars", x={"label": "x", "even": True}), "'x' .* no use for 'even'"),
        (drawn("heat_map", x={"label": "x", "log": True}), "'x' .* no use for 'log'"),
        (MAP_OF_A_MATRIX, "'x' .* no use for 'of'"),
        (
            drawn("contour", y={"label": "y", "of": "n", "values": [1]}),
            "'y' .* no use for 'values'",
        ),
        (
            drawn("contour", y={"label": "y", "of": "n"}, x={"label": "x", "even": True}),
            "'x' .* no use for 'even'",
        ),
        (drawn("heat_map", {"style": "level"}), "a series of this .* no use for 'style'"),
        (
            drawn("curves", {"system": None, "chain": ["a"]}, x={"label": "x", "log": True}),
            "'x' .* no use for 'log'",
        ),
        (drawn("curves", {"chain": ["a"]}), "names its systems, has no use for 'system'"),
        (
            drawn("lines", {"points": [{**POINTS[0], "category": "c"}]}),
            "a point .* no use for 'category'",
        ),
        (
            drawn("bars", {"points": [{**POINTS[0], "category": "c"}]}),
            "a point .* no use for 'x'",
        ),
        (drawn("lines", {"points": POINTS, "steps": 4}), "'points' has no use for 'steps'"),
        (
            drawn("lines", {"points": POINTS}, x={"label": "x", "of": "n"}),
            "since all series have 'points', has no use for 'of'",
        ),
        (
            drawn("scatter", x={"measure": "chrf", "column": "c"}, y={"measure": "chrf"}),
            "no series is 'quoted', has no use for 'column'",
        ),
        (
            drawn("scatter", {"joined": True}, x={"measure": "chrf"}, y={"measure": "chrf"}),
            "a series of one point has no use for 'joined'",
        ),
        (
            drawn(
                "scatter",
                {"system": None, "quoted": ["q"], "point": "p"},
                x={"measure": "chrf"},
                y={"measure": "chrf"},
            ),
            "a series of quoted rows has no use for 'point'",
        ),
        (
            {"systems": {"A": {"decoding": {"two": "x"}}}},
            "systems.A': decoding: 'two' is no number of steps; write one such as 4",
        ),
    ],
)
def test_keys_without_effect_in_their_place_are_refused(
    tmp_path: Path, content: Any, message: str
) -> None:
    with pytest.raises(UserError, match=message) as caught:
        reports.targets(unpublished(tmp_path, **content))
    assert str(caught.value).startswith("config/papers/paper.yaml: ")


def test_a_row_that_only_we_have_is_not_printed(root: Path) -> None:
    path = made_up_run.publish(root)
    path.write_text(path.read_text() + f"table1,DiMS,En-De,,,,{TASK},bleu,20.5,BLEU,,ours\n")
    message = "tables.1.rows: config/published/paper.csv has a value for 'DiMS', which has 'ours_on"
    with pytest.raises(UserError, match=message):
        entries(configuration(root), *TABLE)
