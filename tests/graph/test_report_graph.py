"""The report as a target: it makes pages and nothing else, or comes last."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from nat.artifacts import Score
from nat.configuration import load
from nat.papers.cells import Cell
from nat.report.papers import made_again
from nat.workflow.graph import Graph
from tests.graph.test_graph import OVERVIEW, copy_repository, counts, snakemake
from tests.repository import configured, variables

pytestmark = pytest.mark.timeout(1000)


@pytest.mark.graph
def test_the_report_runs_nothing_else(tmp_path: Path) -> None:
    repository = copy_repository(tmp_path, OVERVIEW)
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


def test_pages_are_made_again_when_what_they_show_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = copy_repository(tmp_path, OVERVIEW)
    monkeypatch.chdir(repository)

    def made_of() -> list[str]:
        graph = Graph(load("micro", repository))
        return [graph.pages_made_of(targets) for targets in ([], ["report"])]

    before = made_of()
    record = repository / "results/micro/models/toy-micro/cmlm-raw/seed1/training.json"
    record.parent.mkdir(parents=True)
    record.write_text("{}")
    trained = made_of()
    assert trained[0] == before[0], "of a run of everything it is an input"
    assert trained[1] != before[1]
    scale = repository / "config/scales/micro.yaml"
    scale.write_text(scale.read_text().replace("description: ", "description: another, ", 1))
    assert all(one != other for one, other in zip(made_of(), trained, strict=True))


def test_a_run_of_everything_leaves_out_what_is_apart_and_shows_what_there_is_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = copy_repository(tmp_path, {*OVERVIEW, "laboratory"})
    scale = repository / "config/scales/micro.yaml"
    scale.write_text(scale.read_text() + "\napart: [overview]\n")
    monkeypatch.chdir(repository)
    graph = Graph(load("micro", repository))
    assert graph.reports_of() == graph.reports_of("laboratory")
    before = graph.pages_made_of([])
    score = repository / graph.results(["overview"])[0].path
    score.parent.mkdir(parents=True)
    score.write_text("{}")
    assert graph.pages_made_of([]) != before


def test_pages_wait_for_what_the_same_run_makes() -> None:
    graph = Graph(configured("micro"))
    score = "results/micro/scores/toy-micro/nat-raw/seed1/one-pass/test.json"
    assert graph.before_pages(["report"]) == []
    assert graph.before_pages(["report", score, graph.site]) == [score]
    for target, expected in (
        ("overview_table_1", graph.reports["overview_table_1"].files),
        ("overview", graph.reports_of("overview")),
        ("demo", graph.reports_of("overview")),
        ("scores", graph.scores()),
        ("teachers", graph.models(of_teachers=True)),
    ):
        assert graph.before_pages([target, "report"]) == list(expected) != []
    assert graph.before_pages(["report", "corpora"]) == []


@pytest.mark.long
@pytest.mark.graph
def test_a_number_is_made_again_alone(tmp_path: Path) -> None:
    repository = copy_repository(tmp_path, OVERVIEW)
    score = Score("micro", "toy-micro", "nat-raw", 1, "one-pass", "test")
    translations = repository / score.translations.path
    status, screen = snakemake(repository, score.path)
    assert status == 0, screen
    assert translations.exists()
    function = f'snakemake() {{ {shlex.quote(sys.executable)} -m snakemake "$@"; }}'
    number = Cell("row", "column", "sacrebleu", "", source=score)
    pasted = f"{made_again(load('micro', repository), [number])} -n"
    command, out = ["bash", "-c", f"{function}; {pasted} 2>&1"], subprocess.PIPE
    ended = subprocess.run(command, cwd=repository, env=variables(None), text=True, stdout=out)
    assert ended.returncode == 0 and counts(ended.stdout) == {"translate_and_score": 1}
    assert not translations.exists()
