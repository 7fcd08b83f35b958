"""Tables and claims of a run on the screen."""

from pathlib import Path

from rich.console import Console

import tests.made_up_run as made_up_run
from nat.papers import claim_formats, reports, table_formats
from nat.papers.judgements import judge
from nat.papers.reports import show
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
    claim_formats.write(resolved, judge(resolved, tmp_path), tmp_path / claims.path)
    console = Console(width=100, record=True)
    show(plain, [], console)
    must_name(
        console.export_text(),
        "results/demo/papers/other/table_1.{csv,md,tex}",
        "rows against tasks",
        "DiMS: not run",
    )
    with told("results/demo/papers/paper", "snakemake paper --config scale=demo"):
        show(plain, ["paper"], Console())
    with told("papr", "paper"):
        show(plain, ["papr"], Console())
