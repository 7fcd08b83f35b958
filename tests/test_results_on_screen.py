from pathlib import Path

import made_up_run
import pytest
from made_up_run import PAPER
from rich.console import Console

from nat.errors import UserError
from nat.papers import reports
from nat.papers.results_on_screen import show
from nat.tables import tables


def test_what_is_missing_is_named_with_the_command_that_makes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_up_run.publish(tmp_path)
    plain = made_up_run.configuration(tmp_path, {"paper": PAPER, "other": PAPER})
    monkeypatch.chdir(tmp_path)
    csv = Path(reports.report(plain, ("other", "table", "1")).path)
    missing = (
        (
            ["paper"],
            "below results/demo/papers/paper; run 'snakemake paper --config scale=demo'",
        ),
        ([], "below results/demo/papers; run 'snakemake all --config scale=demo'"),
    )
    for papers, told in missing:
        with pytest.raises(UserError, match=f"there are no tables or figures {told}"):
            show(plain, papers, Console())
    tables.write(tables.make(plain, "other", "1"), csv)
    console = Console(width=100, record=True)
    show(plain, [], console)
    assert f"{csv.with_suffix('')}.{{csv,md,tex}}" in console.export_text()
    with pytest.raises(UserError, match="below results/demo/papers/paper; "):
        show(plain, ["paper"], Console())
