"""Sweeps: copies of what a value changes, rows of tables for them, and their figure."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from nat.configuration import Configuration, RunChoice, choice
from nat.configuration.checks import notes
from nat.configuration.command_line import choice_of, hold_to_overrides
from nat.options import EntryName, at, validated
from nat.papers.relation import relation
from nat.papers.reports import every, make_table, resolve_part
from nat.report.papers import page
from nat.report.results import Results
from nat.workflow.graph import Graph
from tests.configuration.test_configuration import Folder
from tests.messages import must_name, told

RATES = "recipes.student.learning_rate=1e-3,2e-3,5e-4"  # the last one is that of the recipe


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    folder = Folder(tmp_path)
    folder.files["systems/cmlm"]["recipe"] = "teacher"
    rows: list[dict[str, Any]] = [
        {"label": "AT", "system": "at", "decoding": "beam"},
        {"label": "NAT", "system": "nat", "decoding": "one-pass", "baseline": "AT"},
        {"label": "gain", "derived": {"difference": ["NAT", "AT"]}},
        {"label": "CMLM", "system": "cmlm", "decoding": "refine-4", "baseline": "NAT"},
    ]
    table = {"title": "systems", "columns": ["sacrebleu", "chrf"], "rows": rows}
    points = {"panels": ["sacrebleu"], "series": [{"label": "NAT", "chain": ["nat"]}]}
    figure = {"title": "one curve", "kind": "curves", **points}
    folder.files["papers/own"] = {
        "title": "Own",
        "cells": {"split": "test", "task": "wmt14-en-de"},
        "tables": {1: table},
        "figures": {1: figure},  # a sweep has its own
        "claims": {"one": {"claim": "a", "from": "table 1", "compare": "NAT > AT"}},
    }
    return folder


def swept(folder: Folder, *sweep: str, override: tuple[str, ...] = ()) -> Configuration:
    return folder.load(RunChoice(name="rates", override=override, sweep=sweep))


def test_a_value_copies_what_it_changes_and_nothing_else(folder: Folder) -> None:
    plain, found = folder.load(), swept(folder, RATES)
    ends = [f"@learning_rate={rate}" for rate in ("1e-3", "2e-3", "5e-4")]
    assert {*found.systems} - {*plain.systems} == {f"{n}{e}" for n in ("nat", "dims") for e in ends}
    for end, rate in zip(ends, (1e-3, 2e-3, 5e-4), strict=True):
        its = found.training("own", f"nat{end}")
        assert its.recipe.learning_rate == rate and its.recipe.updates == 300
    # a value that changes nothing is the system that there is, and so is all else
    assert found.canonical("own", f"nat{ends[2]}") == "nat"
    for name in plain.systems:
        assert found.training("own", name) == plain.training("own", name)
    assert not [note for note in notes(found, [("own", "at")]) if "override" in note]


def test_copies_refer_to_copies(folder: Folder) -> None:
    folder.files["systems/dims"]["recipe"] = {"like": "student", "dropout": 0.1}
    folder.files["scales/tiny"]["targets"] = {"nat": {"label_smoothing": 0.2}}
    folder.files["scales/tiny"]["recipes"]["teacher"] = {"as": "student"}
    found = swept(folder, "recipes.student.updates=30,40", override=("scale.seeds=[1]",))
    dims = found.training("own", "dims@updates=30")
    assert (dims.recipe.updates, dims.recipe.warmup_updates, dims.recipe.dropout) == (30, 3, 0.1)
    assert dims.init_from is not None and dims.init_from.system == "cmlm@updates=30"
    (text,) = dims.text.candidates
    assert text.system == "at@updates=30" and text.seed == 1
    assert found.training("own", "nat@updates=40").target.options["label_smoothing"] == 0.2


@pytest.mark.parametrize(
    ("sweep", "system", "key", "value"),
    [
        ("sizes.base.ffn_dim=24,32", "nat@ffn_dim=24", "architecture.ffn_dim", 24),
        ("systems.nat.recipe.dropout=0,0.1", "nat@dropout=0.1", "recipe.dropout", 0.1),
        ("systems.nat.text=raw,raw", "nat@text=raw", "text", "raw"),
        (
            "recipes.student.betas=[0.9, 0.98],[0.8, 0.9]",
            *("nat@betas=-0.8-0.9-", "recipe.betas", [0.8, 0.9]),
        ),
        (
            "recipes.student.dropout=0.2 recipes.teacher.dropout=0.4",
            "nat@recipes.student.dropout=0.2@recipes.teacher.dropout=0.4",
            *("recipe.dropout", 0.2),
        ),
    ],
)
def test_every_kind_of_key_is_swept(
    folder: Folder, sweep: str, system: str, key: str, value: Any
) -> None:
    found = folder.load(choice({"name": "rates", "sweep": sweep}))
    assert at(found.training("own", system).as_json(), key) == value
    assert validated(EntryName, system) == system  # as packages demand


def test_rows_of_a_table_are_those_of_the_values(folder: Folder) -> None:
    found = swept(folder, RATES)
    table = relation(found, "own")["table 1"]
    nat = [f"NAT, learning_rate={rate}" for rate in ("1e-3", "2e-3", "5e-4")]
    gain = [label.replace("NAT", "gain") for label in nat]
    cmlm = "CMLM"  # has another recipe, so it is not swept
    assert [row.label for row in table.rows] == ["AT", *nat, *gain, cmlm]
    cells = {(cell.row, cell.column): cell for cell in table.cells}
    first = cells[nat[0], "sacreBLEU"]
    assert first.path == (
        "results/tiny@rates/scores/own/nat@learning_rate=1e-3/seed8/one-pass/test.json"
    )
    assert cells[nat[2], "sacreBLEU"].model == "nat" and first.baseline == "AT"
    assert cells[gain[1], "chrF2"].derived == ("difference", ((nat[1], "chrF2"), ("AT", "chrF2")))
    made = make_table(resolve_part(found, "own", "table 1"), folder.root)
    assert [row[0] for row in made.rows] == ["AT", *nat, *gain, cmlm]


def test_the_figure_of_a_sweep(folder: Folder) -> None:
    found = swept(folder, RATES)
    figure = resolve_part(found, "own", "figure sweep_1")
    assert figure.described.kind == "lines" and figure.described.x.label == "learning_rate"
    assert {label: line.style for label, line in figure.rows.items()} == {
        "AT": "level",
        "NAT": None,
    }
    points = {(each.label, each.first.x) for each in figure.numbers}
    assert points == {("AT", 1e-3), *(("NAT", rate) for rate in (1e-3, 2e-3, 5e-4))}
    assert {each.first.column for each in figure.numbers} == {"sacreBLEU"}
    # words are bars, and the values of a second key are series
    both = swept(
        folder, "recipes.student.schedule=fixed,inverse_sqrt", "recipes.student.dropout=0,.1"
    )
    figure = resolve_part(both, "own", "figure sweep_1")
    assert figure.described.kind == "bars"
    assert [*figure.rows] == ["AT", "NAT, dropout=0", "NAT, dropout=.1"]
    assert {each.first.category for each in figure.numbers} == {"fixed", "inverse_sqrt"}
    # or, of several rows, panels
    several = swept(folder, "recipes.teacher.updates=30,40", "recipes.student.dropout=0,.1")
    figure = resolve_part(several, "own", "figure sweep_1")
    assert {(each.label, each.first.column, each.first.x) for each in figure.numbers} == {
        *itertools.product(
            ("AT", "NAT", "CMLM"), ("sacreBLEU, dropout=0", "sacreBLEU, dropout=.1"), (30, 40)
        )
    }
    assert [*figure.columns] == ["sacreBLEU, dropout=0", "sacreBLEU, dropout=.1"]


def test_a_corpus_is_swept_by_tasks_of_its_own(folder: Folder) -> None:
    folder.files["systems/nat"]["tasks"] = {"wmt14-en-de": {"target": {"label_smoothing": 0.3}}}
    found = swept(folder, "corpora.own.preprocessing.bpe_merges=100,200")
    cells = relation(found, "own")["table 1"].cells
    assert {cell.corpus for cell in cells if cell.row == "NAT, bpe_merges=200"} == {
        "own@bpe_merges=200"
    }
    training = found.training("own@bpe_merges=200", "nat")
    assert training.target.options["label_smoothing"] == 0.3


def test_names_have_the_values_of_those_keys_that_change_something(folder: Folder) -> None:
    keys = "corpora.own.preprocessing.bpe_merges=100,200", "recipes.student.updates=30,40"
    found = swept(folder, *keys, "recipes.student.dropout=0,0.1")
    cells = relation(found, "own")["table 1"].cells
    shown = {cell.row: (cell.corpus, cell.system) for cell in cells}
    end = "bpe_merges=200, updates=30, dropout=0.1"
    assert shown[f"NAT, {end}"] == ("own@bpe_merges=200", "nat@updates=30@dropout=0.1")
    assert shown[f"AT, {end}"] == ("own@bpe_merges=200", "at")
    recipe = found.training("own@bpe_merges=200", "nat@updates=30@dropout=0.1").recipe
    assert (recipe.updates, recipe.dropout) == (30, 0.1)
    # each is prepared once
    assert {corpus for corpus, _ in shown.values() if corpus} == {
        "own@bpe_merges=100",
        "own@bpe_merges=200",
    }


def test_what_a_target_of_a_sweep_makes_and_a_page_shows(folder: Folder) -> None:
    table = folder.files["papers/own"]["tables"][1]
    folder.files["papers/own"]["tables"][2] = {**table, "rows": table["rows"][:1]}
    folder.files["scales/paper"] = folder.files["scales/tiny"]
    found = swept(folder, RATES)
    shown = ["table 1", "table 2", "figure sweep_1"]
    assert [report.part for report in every(found)] == shown
    sections = [each.name for each in page(Results(found), "own", folder.root).sections]
    assert sections == [each.replace(" ", "-") for each in shown]
    made = {Path(path).stem for path in Graph(found).reports_of("own")}
    assert made == {"table_1", "figure_sweep_1"}
    unswept = swept(folder, "systems.dims.recipe.dropout=0,0.1")  # in no table
    assert {Path(path).stem for path in Graph(unswept).reports_of("own")} == {"table_1", "table_2"}


def test_a_name_keeps_the_keys_of_its_sweep(folder: Folder) -> None:
    record = folder.root / "results/tiny@rates/override.json"

    def run(*sweep: str) -> None:
        hold_to_overrides(swept(folder, *sweep, override=("config.threads=2",)), keep=True)

    run("recipes.student.dropout=0.1,0.2")
    run("recipes.student.dropout=0.3, 0.2")
    assert json.loads(record.read_text())["sweep"] == {
        "recipes.student.dropout": ["0.1", "0.2", "0.3"]
    }
    again = folder.load(choice_of(folder.root, "tiny@rates"))
    assert "nat@dropout=0.1" in again.systems and "nat@dropout=0.3" in again.systems
    assert again.settings.threads == 2
    with told("name", "results/tiny@rates", "sweep"):
        run("recipes.student.learning_rate=1e-3,1e-4")
    with told("name", "results/tiny@rates", "sweep"):
        run()


@pytest.mark.parametrize(
    ("sweep", "words"),
    [
        ("recipes.studnt.dropout=0,1", ["sweep", "recipes", "studnt", "student"]),
        ("recipes.student.droput=0,1", ["recipes/student.yaml", "droput", "dropout"]),
        ("recipes.student.dropout=0,1.5", ["recipes/student.yaml", "dropout", "1.5"]),
        ("scale.seeds=1,2", ["sweep", "scale", "recipes"]),
        ("config.threads=1,2", ["sweep", "config", "recipes"]),
        ("recipes.student.dropout", ["sweep", "KEY=VALUE"]),
    ],
)
def test_mistakes_in_a_sweep(folder: Folder, sweep: str, words: list[str]) -> None:
    must_name(folder.error(RunChoice(name="rates", sweep=(sweep,))), *words)


def test_a_sweep_needs_a_name(folder: Folder) -> None:
    must_name(folder.error(choice({"sweep": RATES})), "'name'", "sweep")
    given = choice({"name": "rates", "sweep": RATES})
    assert given == choice(given.keys) and given.arguments[-2:] == ["--sweep", RATES]
