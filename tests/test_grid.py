import copy
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import made_up_run
import pytest
from made_up_run import CORPUS, OTHER_TASK, REPOSITORY, TASK

from nat.configuration.configuration import read
from nat.errors import UserError
from nat.files import read_json, write_json
from nat.reporting import cells, grid, reports

PAPER: dict[str, Any] = {
    "title": "Paper",
    "published": "made_up",
    "tables": {
        "1": {
            "title": "rows against tasks",
            "cells": {"measure": "sacrebleu", "split": "test", "published": {"table": "t1"}},
            "columns": [
                {"label": "En-De", "task": TASK},
                {"label": "De-En", "task": OTHER_TASK},
            ],
            "rows": [
                {"label": "quoted", "published": {"system": "GLAT"}},
                {
                    "label": "NAT",
                    "system": "nat-kd",
                    "decoding": "one-pass",
                    "published": {"system": "NAT"},
                },
                {
                    "label": "DiMS",
                    "system": "dims-cmlm-kd",
                    "decoding": "mask-predict-1-lb5",
                    "baseline": "NAT",
                },
            ],
        }
    },
    "figures": {
        "2": {
            "title": "steps",
            "kind": "lines",
            "cells": {"measure": "sacrebleu", "split": "test"},
            "x": {"label": "steps"},
            "panels": [{"label": "En-De", "task": TASK}],
            "series": [
                {
                    "label": "CMLM",
                    "system": "cmlm-kd",
                    "points": [
                        {"x": 1, "decoding": "mask-predict-1-lb5"},
                        {"x": 4, "decoding": "mask-predict-4-lb5"},
                    ],
                }
            ],
        }
    },
}
PUBLISHED = f"""paper,table,row_group,system,variant,task,metric,value,unit,note
made_up,t1,a,GLAT,,{TASK},bleu,25.2,BLEU,source=cited
made_up,t1,a,GLAT,,{OTHER_TASK},bleu,29.8,BLEU,source=cited
made_up,t1,a,NAT,,{TASK},bleu,20.5,BLEU,source=authors
made_up,t2,a,NAT,,{TASK},bleu,uniform,,source=authors
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "config/published").mkdir(parents=True)
    (tmp_path / "config/published/made_up.csv").write_text(PUBLISHED)
    return tmp_path


def configuration(root: Path, seeds: list[int] | None = None, **changes: Any) -> Any:
    paper = copy.deepcopy(PAPER)
    paper["tables"]["1"] |= changes
    return made_up_run.configuration(root, {"paper": paper}, seeds)


def test_targets_are_all_tables_and_figures(root: Path) -> None:
    found = reports.targets(configuration(root))
    assert found == [("paper", "table", "1"), ("paper", "figure", "2")]


def test_score_files_that_a_table_needs(root: Path) -> None:
    found = reports.cells(configuration(root, [1, 2]), ("paper", "table", "1"))
    assert [cell.score_path for cell in found] == [
        f"results/scores/{CORPUS}/nat-kd/seed1/one-pass/test.json",
        f"results/scores/{CORPUS}/nat-kd/seed2/one-pass/test.json",
        f"results/scores/{CORPUS}/dims-cmlm-kd/seed1/mask-predict-1-lb5/test.json",
        f"results/scores/{CORPUS}/dims-cmlm-kd/seed2/mask-predict-1-lb5/test.json",
    ]


def test_paired_tests_need_the_counts_of_sentences_too(root: Path) -> None:
    found = reports.files(configuration(root), ("paper", "table", "1"))
    assert f"results/scores/{CORPUS}/nat-kd/seed1/one-pass/test.npz" in found
    assert not any("outputs" in path for path in found)
    assert len(found) == 4
    assert len(reports.files(configuration(root), ("paper", "figure", "2"))) == 2


def test_a_task_without_a_corpus_at_this_scale_is_not_run(root: Path) -> None:
    entries = grid.entries(configuration(root), "paper", "table", "1")
    assert [(entry.row, entry.column) for entry in entries[:2]] == [
        ("quoted", "En-De"),
        ("quoted", "De-En"),
    ]
    nat = {entry.column: entry for entry in entries if entry.row == "NAT"}
    assert nat["De-En"].cells == () and OTHER_TASK in nat["De-En"].reason
    assert nat["En-De"].stand_in == f"corpus {CORPUS} at scale demo, not the paper's {TASK}"


def test_published_values_come_with_their_source(root: Path) -> None:
    entries = grid.entries(configuration(root), "paper", "table", "1")
    quoted, missing, ours = entries[0].published, entries[3].published, entries[2].published
    assert quoted is not None and quoted.value == 25.2
    assert quoted.source == "config/published/made_up.csv row 2: t1; source=cited"
    assert ours is not None and ours.value == 20.5
    assert missing is None  # the paper has this system, but not in this task
    assert entries[4].published is None  # the row asks for none


def test_the_papers_own_corpus_and_scale_are_not_marked(root: Path) -> None:
    plain = configuration(root)
    files = copy.deepcopy(plain.files)
    files["scales"]["paper"]["tasks"] = {TASK: TASK}
    files["corpora"] = {TASK: {"source": "en", "target": "de"}}
    paper = type(plain)(root, "paper", plain.settings, files)
    assert grid.entries(paper, "paper", "table", "1")[2].stand_in == ""
    files["scales"]["demo"]["tasks"] = {TASK: TASK}
    demo = type(plain)(root, "demo", plain.settings, files)
    assert "scale demo" in grid.entries(demo, "paper", "table", "1")[2].stand_in


ROW = {"label": "r", "system": "nat-kd", "decoding": "one-pass"}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"system": "nat-kt"}, "unknown system 'nat-kt'.* did you mean 'nat-kd'"),
        ({"decoding": "one-pas"}, "unknown decoding 'one-pas'"),
        ({"decoding": "beam5"}, "is for autoregressive systems"),
        ({"decoding": None}, "leave the key 'decoding' open"),
        ({"measure": "sacreblue"}, "unknown measure 'sacreblue'; did you mean 'sacrebleu'"),
        ({"task": OTHER_TASK}, "row 'r', column 'En-De' give the key 'task' differently"),
        ({"baseline": "NATT"}, "baseline 'NATT' of row 'r' is not a row"),
        ({"published": {"system": "NATT"}}, "has no system 'NATT' .*did you mean 'NAT'"),
        ({"published": {"system": "NAT", "table": "t2"}}, "'uniform', which is not a number"),
        ({"published": {"system": "NAT", "table": "t9"}}, "has no table 't9'"),
    ],
)
def test_errors_name_file_key_and_remedy(root: Path, row: dict[str, Any], message: str) -> None:
    changed = {key: value for key, value in {**ROW, **row}.items() if value is not None}
    plain = configuration(
        root, rows=[changed, {**ROW, "label": "s"}], columns=[{"label": "En-De", "task": TASK}]
    )
    with pytest.raises(UserError, match=message) as caught:
        reports.cells(plain, ("paper", "table", "1"))
    assert str(caught.value).startswith("config/papers/paper.yaml: tables.1")


def test_ambiguous_published_value(root: Path) -> None:
    (root / "config/published/made_up.csv").write_text(PUBLISHED + PUBLISHED.splitlines()[1] + "\n")
    with pytest.raises(UserError, match="has 2 values for .* give one more of row_group"):
        grid.entries(configuration(root), "paper", "table", "1")


def test_labels_must_differ(root: Path) -> None:
    with pytest.raises(UserError, match=r"tables.1.rows: the label 'r' stands here twice"):
        reports.cells(configuration(root, rows=[ROW, ROW]), ("paper", "table", "1"))


def test_unknown_task_and_table(root: Path) -> None:
    plain = configuration(root, columns=[{"label": "x", "task": "wmt14-en-fr"}])
    with pytest.raises(UserError, match="unknown task 'wmt14-en-fr'"):
        reports.cells(plain, ("paper", "table", "1"))
    with pytest.raises(UserError, match="there is no table 7"):
        reports.cells(plain, ("paper", "table", "7"))


def test_a_paper_may_name_its_seeds(root: Path) -> None:
    paper = {**copy.deepcopy(PAPER), "seeds": [4, 5]}
    own = made_up_run.configuration(root, {"paper": paper}, [1, 2, 3])
    assert {cell.seed for cell in reports.cells(own, ("paper", "table", "1"))} == {4, 5}
    target = ("paper", "table", "1")
    assert reports.configured(own, target) != reports.configured(configuration(root), target)


def test_mean_and_spread_over_seeds(root: Path) -> None:
    plain = configuration(root, [1, 2, 3])
    entry = grid.entries(plain, "paper", "table", "1")[2]
    for cell, value in zip(entry.cells[:2], (20.0, 24.0), strict=True):
        measure = {"value": value, "low": value - 1, "high": value + 1}
        score = {"not_decoded": 1, "measures": {"sacrebleu": measure}}
        write_json(root / cell.score_path, score)
    found = grid.read(entry, root)
    assert found.value == 22.0 and found.spread == pytest.approx(8**0.5)
    assert found.low is None and found.seeds == (1, 2) and found.not_decoded == 2
    assert found.reason == "without seed 3, which was not run"
    record = grid.record("demo", entry, found)
    assert record["published"] == 20.5 and record["difference"] is None  # of a stand-in
    papers = replace(entry, stand_in="")
    assert grid.record("paper", papers, found)["difference"] == pytest.approx(1.5)
    assert record["sources"].split() == [cell.score_path for cell in entry.cells[:2]]


def test_not_run_and_not_available(root: Path) -> None:
    plain = configuration(root)
    entry = grid.entries(plain, "paper", "table", "1")[2]
    assert grid.record("demo", entry, grid.read(entry, root))["status"] == grid.NOT_RUN
    write_json(root / entry.cells[0].score_path, {"not_decoded": 0, "measures": {}})
    assert grid.record("demo", entry, grid.read(entry, root))["status"] == grid.NOT_AVAILABLE


@pytest.mark.parametrize("content", [[], {}, {"not_decoded": 0, "measures": {"chrf": 3}}])
def test_a_file_that_is_no_score_file(root: Path, content: Any) -> None:
    write_json(root / "score.json", content)
    assert read_json(root / "score.json") == content
    with pytest.raises(UserError, match="is not a score file"):
        cells.read_score(root / "score.json")


@pytest.mark.parametrize("scale", ["demo", "small", "paper"])
def test_every_paper_of_the_repository_resolves_quickly(scale: str) -> None:
    real = read(scale, REPOSITORY)
    known = set(real.files["corpora"])
    real.files["corpora"].update({name: {} for name in real.tasks.values() if name not in known})
    targets = reports.targets(real)
    assert ("overview", "table", "1") in targets and ("dims", "figure", "3") in targets
    assert reports.cells(real, ("dims", "figure", "3"))
    started = time.process_time()
    for target in targets:
        assert len(reports.files(real, target)) >= len(
            {cell.score_path for cell in reports.cells(real, target)}
        )
    assert time.process_time() - started < 0.2 * len(targets)
