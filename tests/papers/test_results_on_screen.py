"""Tables of a run on the screen."""

from pathlib import Path

import made_up_run
import pytest
from made_up_run import PAPER
from messages import told
from rich.console import Console

from nat.papers import reports, table_formats
from nat.papers.results_on_screen import show


def test_what_is_missing_is_named_with_the_command_that_makes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_up_run.publish(tmp_path)
    plain = made_up_run.configuration(tmp_path, {"paper": PAPER, "other": PAPER})
    monkeypatch.chdir(tmp_path)
    with told("results/demo/papers", "snakemake all --config scale=demo"):
        show(plain, [], Console())
    csv = Path(reports.report(plain, ("other", "table", "1")).path)
    table_formats.write(made_up_run.make_table(plain, "other", "1"), csv)
    console = Console(width=100, record=True)
    show(plain, [], console)
    found = console.export_text()
    assert f"{csv.with_suffix('')}.{{csv,md,tex}}" in found and "rows against tasks" in found
    with told("results/demo/papers/paper", "snakemake paper --config scale=demo"):
        show(plain, ["paper"], Console())
    with told("papr", "paper"):
        show(plain, ["papr"], Console())
