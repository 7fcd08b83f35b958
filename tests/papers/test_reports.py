"""The reports of a run: their names, files and inputs."""

import copy
from pathlib import Path
from typing import Any

import pytest

import tests.made_up_run as made_up_run
from nat.options import validated
from nat.papers import reports
from tests.made_up_run import PAPER

TABLE: reports.Target = ("paper", "table", "1")
FIGURE: reports.Target = ("paper", "figure", "2")


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
        return [reports.resolve(configuration(root), target) for target in (TABLE, FIGURE)]

    (table, figure), (other, same) = (
        found(made_up_run.PUBLISHED.replace("20.5", number)) for number in ("20.5", "20.6")
    )
    assert table != other and figure == same


def test_what_a_job_is_handed_is_read_as_it_was_resolved(root: Path) -> None:
    claim = {"claim": "c", "from": "f", "in": "table 1", "compare": "DiMS > NAT"}
    plain = configuration(root, claims={"better": claim})
    for target in reports.targets(plain):
        resolved = reports.resolve(plain, target)
        assert validated(type(resolved), resolved.as_written()) == resolved
