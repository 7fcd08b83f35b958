"""The report as a target: it makes pages and nothing else, or comes last."""

from pathlib import Path

import pytest
from test_graph import copy_repository, counts, snakemake

pytestmark = pytest.mark.timeout(1000)


@pytest.mark.graph
def test_the_report_runs_nothing_else(tmp_path: Path) -> None:
    repository = copy_repository(tmp_path)
    status, screen = snakemake(repository, "report")
    assert status == 0, screen
    assert counts(screen) == {"make_report": 1, "report": 1}
    assert (repository / "results/micro/report/index.html").exists()
    assert not (repository / "results/micro/models").exists()
    status, screen = snakemake(repository, "-n", "report")
    assert "Nothing to be done" in screen
    recipe = repository / "config/recipes/student.yaml"
    recipe.write_text(recipe.read_text().replace("dropout: 0.3", "dropout: 0.25"))
    status, screen = snakemake(repository, "-n", "report")
    assert status == 0, screen
    assert counts(screen) == {"make_report": 1, "report": 1}


def test_everything_ends_with_the_report(tmp_path: Path) -> None:
    repository = copy_repository(tmp_path)
    for path in (repository / "config/papers").glob("*.yaml"):
        if path.stem != "overview":
            path.unlink()
    status, screen = snakemake(repository, "-n")
    assert status == 0, screen
    found = counts(screen)
    assert found["make_report"] == 1 and found["table"] == 1 and found["train"] > 1
