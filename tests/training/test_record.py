"""The record of a training: its curve and its choice of weights."""

import copy
import math
from dataclasses import asdict

import pytest

from nat.training.record import Record


def choose(values: list[float], metric: str, keep: int, by: str) -> Record:
    """A record of validations at the updates 1, 2, ..., of which the even ones are saved."""
    record = Record()
    for update, value in enumerate(values, start=1):
        record.updates = update
        saved = update % 2 == 0
        kept = record.add_validation({metric: value}, metric, keep, by, saved)
        assert kept == (update in [candidate for candidate, _ in record.candidates])
        assert saved or not kept
    return record


@pytest.mark.parametrize(
    ("metric", "by", "expected"),
    [
        ("bleu", "best", [4, 8]),  # values 20 and 20: not 10, not 15
        ("loss", "best", [2, 6]),
        ("bleu", "last", [6, 8]),
    ],
)
def test_choice_of_weights(metric: str, by: str, expected: list[int]) -> None:
    values = [99.0, 10.0, 0.0, 20.0, 0.0, 15.0, 0.0, 20.0]
    record = choose(values, metric, 2, by)
    assert sorted(update for update, _ in record.candidates) == expected


def test_among_equals_the_later_weights() -> None:
    record = choose([0.0] * 8, "bleu", 2, "best")
    assert [update for update, _ in record.candidates] == [6, 8]


@pytest.mark.parametrize(("metric", "best"), [("bleu", (3.0, 3)), ("loss", (1.0, 1))])
def test_the_best_validation(metric: str, best: tuple[float, int]) -> None:
    record = choose([1.0, 2.0, 3.0, 3.0, 2.0], metric, 2, "best")
    assert (record.best, record.best_update) == best
    assert record.since_best == 5 - best[1]
    assert record.validations == 5


def test_a_record_survives_its_state() -> None:
    record = choose([1.0, 2.0, 3.0], "bleu", 2, "best")
    sums = {"loss": 6.0, "nll": 3.0, "positions": 3.0, "tokens": 2.0, "training_seconds": 0.5}
    record.add_update(sums, learning_rate=0.1, norm=2.0, row_every=5)
    again = Record(**copy.deepcopy(asdict(record)))
    assert again == record
    for one in (record, again):
        row = one.add_update(sums, learning_rate=0.2, norm=4.0, row_every=5)
    assert again == record
    assert (
        row
        == record.rows[-1]
        == {
            "update": 5,
            "split": "train",
            "seconds": 0.0,
            "loss": 2.0,
            "nll": 1.0,
            "learning_rate": 0.2,
            "gradient_norm": 3.0,
            "tokens_per_second": 4.0,
        }
    )
    row = record.add_update({**sums, "loss": 9.0}, learning_rate=0.1, norm=5.0, row_every=5)
    assert (row["loss"], row["gradient_norm"]) == (3.0, 5.0)  # since the last row
    lines = record.csv().splitlines()
    assert lines[0] == (
        "update,split,seconds,loss,nll,bleu,learning_rate,gradient_norm,tokens_per_second"
    )
    assert lines[1] == "1,valid,0,,,1,,,"


@pytest.mark.parametrize("metric", ["bleu", "loss"])
@pytest.mark.parametrize("by", ["best", "last"])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_neither_best_nor_kept(metric: str, by: str, bad: float) -> None:
    record = choose([bad, bad, 1.0, 2.0, bad, bad], metric, 2, by)
    assert (record.best, record.best_update) == ((2.0, 4) if metric == "bleu" else (1.0, 3))
    assert [update for update, _ in record.candidates] == [4]
    assert choose([bad, bad], metric, 2, by).best is None


@pytest.mark.parametrize(
    ("last", "left_out", "words"),
    [
        ({"bleu": 0.0}, 0, "BLEU 0"),
        ({"bleu": 1.0}, 228, "228"),
        ({"infeasible": 1.69}, 72, "1.69 such tokens"),
        ({"bleu": 1.0, "infeasible": 0.1}, 72, None),
    ],
)
def test_what_is_suspicious_is_flagged(
    last: dict[str, float], left_out: int, words: str | None
) -> None:
    record = Record(rows=[{"split": "valid", "bleu": 3.0}, {"split": "valid", **last}])
    flags = record.flags({"used": 73, "left_out": {"empty": 0, "longer_than_batch": left_out}})
    assert [words in flag for flag in flags] == ([] if words is None else [True])
