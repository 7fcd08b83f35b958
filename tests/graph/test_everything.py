"""Everything that there is, run once with the models of scale `micro`: half an hour on two cores.

Other tests run the targets of a demo. What only a paper asks for, an analysis, say, or a decoding
in another engine, is run as a job of the graph only here.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from nat.configuration import load
from nat.papers import reports
from tests.graph.test_graph import copy_repository, counts, snakemake

pytestmark = [pytest.mark.long, pytest.mark.timeout(7200)]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A copy of the repository in which everything has run, and what was on the screen."""
    repository = copy_repository(tmp_path_factory.mktemp("everything"))
    status, screen = snakemake(repository, "all", "--keep-going")
    failed = [line for line in screen.splitlines() if "FAILED" in line or "error:" in line]
    assert status == 0, "\n".join(failed) or screen[-2000:]
    yield repository, screen
    shutil.rmtree(repository)


def test_every_table_figure_and_claim_is_there(run: tuple[Path, str]) -> None:
    repository, _ = run
    configuration = load("micro", repository)
    papers = set()
    for report in reports.every(configuration):
        papers.add(report.paper)
        assert (repository / report.path).stat().st_size, report
    pages = (repository / "results/micro/report/papers").glob("*.html")
    assert papers == set(configuration.files["papers"]) <= {path.stem for path in pages}


def test_nothing_of_it_is_run_again_and_all_files_are_what_was_written(
    run: tuple[Path, str],
) -> None:
    repository, _ = run
    status, screen = snakemake(repository, "-n", "all")
    assert status == 0 and "Nothing to be done" in screen, counts(screen)
    status, screen = snakemake(repository, "verify")
    assert status == 0, screen
