"""Tables of samples and settings, footnotes, and the names and files of reports."""

import copy
import csv
from pathlib import Path
from typing import Any

import made_up_run
import pytest
from made_up_corpus import corpus_file
from made_up_run import CORPUS, PAPER, REPOSITORY, TASK
from repository import configured
from rich.console import Console

from nat.cells.paper import entries
from nat.configuration.papers import Setting
from nat.errors import UserError
from nat.papers import reports
from nat.tables import samples, settings, tables
from nat.workflow.graph import Graph

SYSTEMS: dict[str, Any] = {
    "CMLM": {"system": "cmlm-kd", "decoding": "mask-predict-1-lb5"},
    "DiMS": {"like": "CMLM", "system": "dims-cmlm-kd", "baseline": "CMLM"},
}
SAMPLES: dict[str, Any] = {
    "kind": "samples",
    "title": "samples",
    "cells": {"measure": "tokenised_bleu", "split": "test"},
    "rows": [{"label": "{baseline}", "system": "DiMS", "task": TASK}],
}
SETTINGS: dict[str, Any] = {
    "kind": "settings",
    "title": "settings",
    "columns": ["DiMS"],
    "rows": [
        {"label": "rate", "key": "recipe.learning_rate"},
        {"label": "momentum", "key": "target.ema_decay"},
        {"label": "beta 2", "key": "recipe.betas.1", "ours_only": True},
        {"label": "smoothing", "key": "target.label_smoothing"},
        {"label": "masks", "key": "input.method", "names": {"random_mask": "Uniform"}},
        {"label": "tokens", "key": "recipe.batch_tokens", "times": 4},
    ],
}
VALUES = made_up_run.HEADER + "".join(
    f"table1,{row},DiMS,,DiMS,,all,,{value},,,ours\n"
    for row, value in {
        "rate": "1e-3",
        "momentum": "0.5",
        "smoothing": "0.0",
        "masks": "Uniform",
        "tokens": "8192",
    }.items()
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path


def configuration(root: Path, table: Any) -> Any:
    paper = {"title": "Paper", "systems": SYSTEMS, "tables": {"1": table}}
    return made_up_run.configuration(root, {"paper": copy.deepcopy(paper)})


def sentence(number: int, gain: float) -> samples.Sentence:
    return samples.Sentence(number, "s", "r", "t", "u", 50.0, 50.0 + gain)


def test_samples_are_chosen_by_rule() -> None:
    found = samples.choose([sentence(at, gain) for at, gain in enumerate([3, -8, 9, 1, -8, 9, 0])])
    assert [each.number for each in found] == [2, 3, 1]
    assert samples.choose([]) == []
    only = sentence(0, 1)
    assert samples.choose([only]) == [only] * 3


def test_repeated_and_missing_words_are_marked() -> None:
    assert samples.marked("a a b", "a b c b") == "a [a] b (missing: c b)"
    assert samples.marked("a b", "b a") == "a b"
    assert samples.marked("", "a") == " (missing: a)"


def test_a_table_of_samples(root: Path) -> None:
    made_up_run.write_corpus(root, several=False)
    (root / f"results/corpora/{CORPUS}/tests/test/tokens/test.xx").write_text(
        "".join(f"source {number}\n" for number in range(made_up_run.SENTENCES))
    )
    made_up_run.run(root, "cmlm-kd", "mask-predict-1-lb5", 0.4)
    made_up_run.run(root, "dims-cmlm-kd", "mask-predict-1-lb5", 0.1)
    plain = configuration(root, SAMPLES)
    files = {each.path for each in reports.files(plain, ("paper", "table", "1"))}
    assert len(files) == 5 and f"results/corpora/{CORPUS}/tests/test/tokens" in files
    table = reports.make_table(plain, "paper", "1")
    gains = [record["gain"] for record in table.records]
    assert gains[0] > gains[1] > gains[2] and len(gains) == 3
    best = table.records[0]
    assert best["source"] == f"source {best['sentence']}"
    assert best["gain"] == pytest.approx(best["student_bleu"] - best["teacher_bleu"], abs=1e-4)
    assert best["reference"] == " ".join(made_up_run.reference()[best["sentence"]])
    tables.write(table, root / "table_1.csv")
    again = reports.read_table(plain, "paper", "1", root / "table_1.csv")
    assert (again.cells, again.notes) == (table.cells, table.notes)
    console = Console(width=60, record=True)
    tables.show(again, console)
    assert console.export_text().count("student, BLEU") == 3
    assert r"\linewidth}" in (root / "table_1.tex").read_text()


@pytest.mark.parametrize("measure", ["length_ratio", "updates"])
def test_samples_are_of_bleu(root: Path, measure: str) -> None:
    table = {**SAMPLES, "cells": {"measure": measure, "split": "test"}}
    with pytest.raises(UserError, match=f"tables.1: measure: found '{measure}'"):
        entries(configuration(root, table), "paper", "table", "1")


def test_samples_that_were_not_run(root: Path) -> None:
    table = reports.make_table(configuration(root, SAMPLES), "paper", "1")
    assert table.cells == [["CMLM", "not run", "–"]]


def test_settings_come_from_the_configuration(root: Path) -> None:
    made_up_run.publish(root, VALUES)
    plain = configuration(root, SETTINGS)
    table = reports.make_table(plain, "paper", "1")
    rows = {row[0]: row[1:] for row in table.cells}
    training = plain.training(CORPUS, "dims-cmlm-kd")
    assert rows["rate"][0] == f"{training.recipe.learning_rate:g}"
    assert rows["momentum"] == ["0.99501", "0.9992*", "0.5"]  # 1,200 updates for 7,500
    assert rows["beta 2"] == ["0.98", "0.98", "–"]
    assert rows["smoothing"] == ["not used", "not used", "0.0"]
    assert rows["masks"] == ["Uniform"] * 3
    assert rows["tokens"][1:] == ["32768", "8192 x 4"]
    assert reports.cells(plain, ("paper", "table", "1")) == []
    tables.write(table, root / "table_1.csv")
    again = reports.read_table(plain, "paper", "1", root / "table_1.csv")
    assert (again.cells, again.notes) == (table.cells, table.notes)


def test_a_length_may_be_in_epochs(root: Path) -> None:
    rows = [{"label": "updates", "key": "recipe.updates"}]
    plain = configuration(root, {**SETTINGS, "rows": rows})
    recipe = plain.training(CORPUS, "dims-cmlm-kd").as_json()["recipe"]
    assert settings._value({"recipe": recipe}, Setting(**rows[0]), "") == str(recipe["updates"])
    del recipe["updates"]
    recipe["epochs"] = 2.5
    assert settings._value({"recipe": recipe}, Setting(**rows[0]), "") == "2.5 epochs"


def test_settings_are_part_of_the_fingerprint(root: Path) -> None:
    made_up_run.publish(root, VALUES)
    target = ("paper", "table", "1")
    before = reports.configured(configuration(root, SETTINGS), target)
    changed = configuration(root, SETTINGS)
    changed.files["systems"]["dims-cmlm-kd"]["target"]["hidden_weight"] = 0.1
    assert before != reports.configured(changed, target)
    assert before == reports.configured(configuration(root, SETTINGS), target)


def test_an_unknown_setting(root: Path) -> None:
    wrong = {**SETTINGS, "rows": [{"label": "r", "key": "recipe.learningrate"}]}
    with pytest.raises(UserError, match="no setting 'recipe.learningrate'.*'learning_rate'"):
        settings.make(configuration(root, wrong), "paper", "1")


def test_settings_need_the_scale_of_the_papers(root: Path) -> None:
    made_up_run.publish(root, VALUES)
    plain = configuration(root, SETTINGS)
    del plain.files["scales"]["paper"]
    with pytest.raises(UserError, match="^there is no config/scales/paper.yaml"):
        settings.make(plain, "paper", "1")
    with pytest.raises(UserError, match="^there is no config/scales/paper.yaml"):
        settings.check(plain, "paper")


def test_footnotes_stand_at_what_they_are_about(root: Path) -> None:
    made_up_run.publish(root)
    table = copy.deepcopy(PAPER["tables"]["1"])
    table["footnotes"] = [
        {"row": "quoted", "text": "first"},
        {"row": "NAT", "column": "En-De", "text": "second"},
        {"column": "De-En", "text": "third"},
        {"row": "quoted", "text": "fourth"},
    ]
    made = reports.make_table(configuration(root, table), "paper", "1")
    headings = [tables.heading(column) for column in made.columns]
    rows = {row[0]: row for row in made.cells}
    assert "quoted¹⁴" in rows and rows["NAT"][headings.index("En-De: published")] == "20.5²"
    assert "De-En³: ours" in headings and "En-De: ours" in headings
    assert made.notes[-4:] == ["¹ first", "² second", "³ third", "⁴ fourth"]
    assert tables.latex(made).isascii() and "$^1$" in tables.latex(made)
    table["footnotes"] = [{"row": "quotd", "text": "x"}]
    with pytest.raises(UserError, match="'quotd' is not in the table; did you mean 'quoted'"):
        reports.make_table(configuration(root, table), "paper", "1")


def test_labels_may_end_like_footnotes_and_be_called_system(root: Path) -> None:
    (root / "config/published/paper.csv").unlink(missing_ok=True)
    table = copy.deepcopy(PAPER["tables"]["1"])
    table["rows"] = [{**table["rows"][0], "label": "NAT²"}]
    table["columns"][0]["label"] = "system"
    table["footnotes"] = [{"row": "NAT²", "text": "first"}, {"column": "system", "text": "second"}]
    made = reports.make_table(configuration(root, table), "paper", "1")
    assert made.columns[:2] == [("system", ""), ("system²", "")] and made.cells[0][0] == "NAT²¹"
    assert made.labels == 1 and made.names[:2] == ("system", "system")


def test_names_and_paths(root: Path) -> None:
    def report_path(target: reports.Target) -> str:
        return reports.report(configuration(root, SETTINGS), target).path

    assert reports.name(("dims", "table", "3")) == "dims_table_3"
    assert report_path(("dims", "table", "3")) == "results/demo/papers/dims/table_3.csv"
    assert report_path(("dims", "figure", "3")) == "results/demo/papers/dims/figure_3.pdf"
    assert report_path(("dims", "claims", "")) == "results/demo/papers/dims/claims.csv"


def test_the_dims_paper_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY)
    found = configured("paper")
    known = set(found.files["corpora"])
    found.files["corpora"].update(
        {name: corpus_file("en", "de") for name in found.tasks.values() if name not in known}
    )
    names = {reports.name(target) for target in reports.targets(found) if target[0] == "dims"}
    assert names >= {f"dims_table_{number}" for number in range(1, 9)}
    assert names >= {f"dims_figure_{number}" for number in range(3, 10)} | {"dims_claims"}
    first = entries(found, "dims", "table", "1")
    assert len(first) == (15 + 3) * 4 and sum(entry.published is not None for entry in first) == 48
    assert published_left_out(found) == []


def published_left_out(found: Any) -> list[tuple[str, str, str]]:
    """BLEU values of the paper's tables that no place of ours stands beside."""
    lines = list(csv.DictReader((REPOSITORY / "config/published/dims.csv").open()))
    shown = set()
    for number in ("1", "2", "3", "4", "5", "7"):
        for entry in entries(found, "dims", "table", number):
            if entry.published is not None:
                shown.add(int(entry.published.source.split("row ")[1].split(":")[0]))
    return [
        (line["table"], line["system"], line["variant"])
        for row, line in enumerate(lines, 2)
        if line["metric"] == "bleu" and row not in shown
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rows": [{"label": "rate", "key": "recipe.learning_rat"}]}, "no setting 'recipe.learni"),
        ({"columns": ["DiMZ"]}, "unknown system 'DiMZ'; did you mean 'DiMS'"),
        ({"cells": {"split": "test"}}, "tables.1.cells: no system's name uses 'split'"),
        (
            {"rows": [{"label": "rate", "key": "recipe.learning_rate", "times": 4}]},
            "'rate' has 'times', but the paper prints no number",
        ),
    ],
)
def test_a_mistake_in_a_table_of_settings_is_told_at_the_start(
    root: Path, changes: dict[str, Any], message: str
) -> None:
    Graph(configuration(root, {**SETTINGS, "rows": SETTINGS["rows"][:3]}))
    with pytest.raises(UserError, match=message) as caught:
        Graph(configuration(root, {**SETTINGS, **changes}))
    assert str(caught.value).startswith("config/papers/paper.yaml: tables.1")
