"""Tables and claims of a run on the screen."""

from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

import tests.made_up_run as made_up_run
from nat.papers import claim_formats, reports, table_formats
from nat.papers.results_on_screen import show, show_table
from tests.made_up_run import PAPER
from tests.messages import must_name, told


def test_what_was_made_is_shown_and_what_is_missing_is_named_with_its_command(
    tmp_path: Path,
) -> None:
    made_up_run.publish(tmp_path)
    claim = {"claim": "A claim.", "from": "table 1", "compare": "DiMS > NAT"}
    paper = {**PAPER, "claims": {"it": claim}}
    plain = made_up_run.configuration(tmp_path, {"paper": PAPER, "other": paper})
    with told("results/demo/papers", "snakemake all --config scale=demo"):
        show(plain, [], Console())
    table, claims = (
        reports.Report(plain.run, *target)
        for target in reports.targets(plain)
        if target[0] == "other" and target[1] != "figure"
    )
    table_formats.write(made_up_run.make_table(plain, "other", "1"), tmp_path / table.path)
    resolved = reports.resolve_claims(plain, "other")
    claim_formats.write(resolved, [], tmp_path / claims.path)
    console = Console(width=100, record=True)
    show(plain, [], console)
    must_name(
        console.export_text(),
        "results/demo/papers/other/table_1.{csv,md,tex}",
        "rows against tasks",
        "not run WMT14 En-De: DiMS: not run",
    )
    with told("results/demo/papers/paper", "snakemake paper --config scale=demo"):
        show(plain, ["paper"], Console())
    with told("papr", "paper"):
        show(plain, ["papr"], Console())


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("prose", [False, True])
def test_a_narrow_terminal_loses_nothing(width: int, prose: bool) -> None:
    table = table_formats.TableText(
        title="Paper, table 1",
        origin="scale demo",
        records=[],
        columns=[("", ""), ("system", ""), ("100%", "ours"), ("100%", "published")],
        rows=[["group", "A B", "−27.50 ± 1.20*† [26.1, 28.3]", "27.5²"], ["", "C", "2.00‡", "–"]],
        notes=["† a note"],
        signatures=[],
    )
    console = Console(width=width, record=True)
    show_table(replace(table, prose=prose), console)
    words = [word for row in table.rows for cell in row for word in cell.split()]
    shown = console.export_text()
    assert [word for word in [*words, "ours", "published", "note"] if word not in shown] == []
