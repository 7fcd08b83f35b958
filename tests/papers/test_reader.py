"""Where the number of a cell is read, and what stands where there is none."""

from pathlib import Path
from typing import Any

import pytest

import tests.made_up_run as made_up_run
from nat.configuration import Configuration
from nat.measures.results import NOT_AVAILABLE
from nat.papers.cells import Cell
from nat.papers.reader import NOT_RUN, NOTHING, Reader
from tests.made_up_run import cells, write_latencies, write_numbers
from tests.messages import told

TIMED = {"decoding": "one-pass", "setting": "cpu-1"}
SCORED = {"decoding": "one-pass", "split": "test"}


@pytest.fixture
def paper(tmp_path: Path) -> Configuration:
    return made_up_run.paper(tmp_path)


def cell(paper: Configuration, measure: str, system: str = "nat-kd", **coordinates: Any) -> Cell:
    (found,) = cells(paper, measure, system, **coordinates)
    return found


@pytest.mark.parametrize(
    ("measure", "names", "key"),
    [
        ("sacrebleu", {"system": "nat-raw", "seed": 1}, "system"),
        ("sacrebleu", {"decoding": "npd9"}, "decoding"),
        ("million_parameters", {"training": {"corpus": "wmt14-de-en"}, "corpus": {}}, "corpus"),
        ("million_parameters", {"seed": 2}, "seed"),
    ],
)
def test_a_file_that_says_that_it_is_another_is_not_used(
    paper: Configuration, tmp_path: Path, measure: str, names: dict[str, Any], key: str
) -> None:
    found = cell(paper, measure, **(SCORED if measure == "sacrebleu" else {}))
    path = tmp_path / found.path
    write_numbers(path, found.part, {measure: 20.0}, **names)
    with told(path, key):
        Reader(tmp_path).number(found)


def test_a_latency_and_its_states(paper: Configuration, tmp_path: Path) -> None:
    own, other = cell(paper, "latency", **TIMED), cell(paper, "latency", "cmlm-kd", **TIMED)
    assert not Reader(tmp_path).ran(own)
    write_latencies(tmp_path, {own: [4.0, 1.0, 2.0, 3.0, 20.0], other: "out of memory"})
    reader = Reader(tmp_path)
    assert reader.ran(own)
    found = reader.number(own)
    assert (found.value, found.low, found.high) == (3, 2, 4)
    # a ratio is made of what it compares
    assert reader.number(cell(paper, "speed_up", **TIMED)).repeats == (4, 1, 2, 3, 20)
    assert reader.number(cell(paper, "latency_mean", **TIMED)).value == 6
    assert reader.number(cell(paper, "decoding_seconds", **TIMED)).value == pytest.approx(18.018)
    lost = reader.number(other)
    assert (lost.value, lost.reason) == (None, "out of memory")
    assert reader.number(cell(paper, "latency", "nat-raw", **TIMED)) == NOTHING


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        ({"value": None, "reason": NOT_AVAILABLE}, NOT_AVAILABLE),
        (None, f"{NOT_RUN}: these scores are older than the measure; --forcerun results/demo/"),
    ],
)
def test_a_measure_that_a_score_is_older_than_is_told_from_one_that_it_cannot_have(
    paper: Configuration, tmp_path: Path, number: Any, reason: str
) -> None:
    found = cell(paper, "chrf", **SCORED)
    write_numbers(tmp_path / found.path, "test", {"chrf": number} if number else {})
    assert Reader(tmp_path).number(found).reason.startswith(reason)


def test_counts_of_a_training_do_not_warn_of_its_model(
    paper: Configuration, tmp_path: Path
) -> None:
    counted, scored = cell(paper, "parameters"), cell(paper, "chrf", **SCORED)
    made_up_run.write_training(tmp_path, "nat-kd", [(20, 9.0)], parameters=1234, flags=["lost"])
    write_numbers(tmp_path / scored.path, "test", {"chrf": 20.0}, flags=["few words"])
    reader = Reader(tmp_path)
    assert (reader.number(counted).value, reader.number(counted).flags) == (1234, ())
    assert reader.number(scored).flags == ("few words",)
    assert reader.of_training(scored, "best_validation_bleu") == 9.0
    assert reader.of_training(cell(paper, "chrf", "nat-raw", **SCORED), "updates") is None


def test_the_losses_of_mple_are_put_together(paper: Configuration, tmp_path: Path) -> None:
    """The row KD of table 2: 2.42 - 0.2 * 35.4 = -4.66; L_NAT of another split plays no part."""
    path = tmp_path / cell(paper, "l_nat", split="test").path
    for split, numbers in (("valid", (2.0, 0.42, 99.0)), ("test", (77.0, 88.0, 35.4))):
        names = ("l_nat", "l_input", "target_bleu")
        write_numbers(path, split, dict(zip(names, numbers, strict=True)))

    def value(measure: str, **coordinates: Any) -> float | None:
        return Reader(tmp_path).number(cell(paper, measure, split="test", **coordinates)).value

    assert value("l_target") == pytest.approx(-7.08)
    assert value("l_mple") == pytest.approx(-4.66)
    assert value("l_mple", setting="0.25") == pytest.approx(2.42 - 0.25 * 35.4)
    assert value("l_nat") == 77
