"""Systems learn what they learned when their reference points were written.

Each day another one is trained, since all of them take half an hour; `make test-learning` shows
what the points are worth.
"""

import datetime
from dataclasses import replace

import pytest

from tests.learning import points
from tests.learning.bugs import BUGS, planted
from tests.learning.measure import everything, train
from tests.learning.small_trainings import Point


def system_of_today() -> str:
    names = sorted(points.read_all())
    return names[datetime.date.today().toordinal() % len(names)]


@pytest.mark.long
@pytest.mark.parametrize("system", [system_of_today()])
def test_it_learns_as_it_did(system: str) -> None:
    found = points.refused(system, train(system, points.SEEDS))
    assert not found, "; ".join(found)


@pytest.mark.parametrize("name", BUGS)
def test_a_mistake_can_be_planted(name: str) -> None:
    with planted(name) as system:
        assert system in points.read_all()


def test_every_kind_of_system_has_reference_points() -> None:
    missing = sorted(set(everything()) - set(points.read_all()))
    assert not missing, f"run 'python -m tests.learning.measure points {' '.join(missing)}'"
    assert sorted(points.read_all()) == sorted(everything())


def known(system: str) -> list[list[Point]]:
    """Those of the stored trainings of a system that are repeated."""
    values = points.read_all()[system].values
    updates = sorted({int(name.split()[-1]) for name in values})
    return [
        [
            Point(
                update,
                values[f"training loss until {update}"][seed],
                values[f"loss after {update}"][seed],
                values[f"BLEU after {update}"][seed],
            )
            for update in updates
        ]
        for seed in range(len(points.SEEDS))
    ]


@pytest.mark.parametrize("system", ["mple-nat-kd", "at-base", "ctc-kd"])
def test_a_small_difference_shows_where_seeds_are_the_same(system: str) -> None:
    trainings = known(system)
    assert not points.refused(system, trainings)
    worse = [
        [
            replace(each, training_loss=each.training_loss + 0.03, loss=each.loss + 0.03)
            for each in of
        ]
        for of in trainings
    ]
    in_training, in_validation = points.refused(system, worse)
    assert "training loss differs by +0.030 from that of the same seeds" in in_training
    assert "loss differs by +0.030 from that of the same seeds" in in_validation
    # of other seeds it is nothing
    others = worse[1:] + worse[:1]
    assert not points.refused(system, others)


def test_another_validation_of_the_same_training_is_refused() -> None:
    system = "mple-nat-kd"
    by_seed = (0.0, 0.01, 0.02, 0.02, 0.03)  # too different for a paired test
    other = [
        [replace(point, loss=point.loss + more) for point in each]
        for each, more in zip(known(system), by_seed, strict=True)
    ]
    (found,) = points.refused(system, other)
    assert "where training losses differ by at most 0.0000" in found
    # On another processor training losses differ, too, and validations by at most a little.
    rounded = [
        [replace(point, training_loss=point.training_loss + 0.002) for point in each]
        for each in other
    ]
    assert not points.refused(system, rounded)


def test_a_mean_outside_of_its_interval_is_refused() -> None:
    system = "mple-nat-kd"
    low, high = points.intervals(system, len(points.SEEDS))["BLEU after 240"]
    trainings = known(system)
    for bleu in (low - 0.1, high + 0.1):
        last = [[*each[:-1], replace(each[-1], bleu=bleu)] for each in trainings]
        found = points.refused(system, last)
        assert "BLEU after 240 updates is" in found[0]
