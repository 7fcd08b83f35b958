"""The reports of a run: what their jobs are handed, and what was made on the screen."""

import copy
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import tests.made_up_run as made_up_run
from nat.options import validated
from nat.papers import judgements, reports, table_formats
from tests.made_up_run import FIGURE, PAPER, TABLE
from tests.messages import must_name, told

CLAIM = {"claim": "A claim.", "from": "table 1", "compare": "DiMS > NAT"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made_up_run.publish(tmp_path)
    return tmp_path


def configuration(root: Path, seeds: list[int] | None = None, **changes: Any) -> Any:
    paper = {**copy.deepcopy(PAPER), **changes}
    return made_up_run.configuration(root, {"paper": paper}, seeds)


def test_a_report_is_made_anew_when_a_printed_number_of_its_own_is_another(root: Path) -> None:
    def found(text: str) -> list[Any]:
        made_up_run.publish(root, text)
        return [reports.resolve(configuration(root), each) for each in (TABLE, FIGURE)]

    (table, figure), (other, same) = (
        found(made_up_run.PUBLISHED.replace("20.5", number)) for number in ("20.5", "20.6")
    )
    assert table != other and figure == same


def test_what_a_job_is_handed_is_read_as_it_was_resolved(root: Path) -> None:
    plain = configuration(root, claims={"better": CLAIM})
    for report in reports.every(plain):
        resolved = reports.resolve(plain, report)
        assert validated(type(resolved), resolved.as_written()) == resolved


def test_what_was_made_is_shown_and_what_is_missing_is_named_with_its_command(root: Path) -> None:
    paper = {**PAPER, "claims": {"it": CLAIM}}
    plain = made_up_run.configuration(root, {"paper": PAPER, "other": paper})
    with told("results/demo/papers", "snakemake all --config scale=demo"):
        reports.show(plain, [], Console())
    other = (each for each in reports.every(plain) if each.paper == "other")
    table, claims = (each for each in other if each.form != "figure")
    table_formats.write(made_up_run.make_table(plain, "other", "1"), root / table.path)
    resolved = reports.resolve_claims(plain, "other")
    judged = judgements.make(resolved, judgements.judge(resolved, root))
    table_formats.write(judged, root / claims.path, typeset=False)
    console = Console(width=100, record=True)
    reports.show(plain, [], console)
    must_name(
        console.export_text(),
        "results/demo/papers/other/table_1.{csv,md,tex}",
        "rows against tasks",
        "DiMS: not run",
    )
    with told("results/demo/papers/paper", "snakemake paper --config scale=demo"):
        reports.show(plain, ["paper"], Console())
    with told("papr", "paper"):
        reports.show(plain, ["papr"], Console())
