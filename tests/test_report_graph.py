"""The report as a target: it makes pages and nothing else, or comes last."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from test_graph import copy_repository, counts, snakemake

from nat.configuration import load
from nat.report.results import made_again
from nat.reporting.cells import Cell

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


@pytest.mark.graph
def test_a_number_is_made_again_alone(tmp_path: Path) -> None:
    repository = copy_repository(tmp_path)
    number = Cell("micro", "toy-micro", "nat-raw", 1, "one-pass", "test", "sacrebleu")
    status, screen = snakemake(repository, number.score_path)
    assert status == 0, screen
    assert (repository / number.translations_path).exists()
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    function = f'snakemake() {{ {shlex.quote(sys.executable)} -m snakemake "$@"; }}'
    pasted = f"{made_again(load('micro', repository), [number])} -n"
    ended = subprocess.run(
        ["bash", "-c", f"{function}; {pasted}"],
        cwd=repository,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert ended.returncode == 0, ended.stdout
    assert counts(ended.stdout) == {"translate_and_score": 1}
    assert not (repository / number.translations_path).exists()
