"""Systems learn what they learnt when their reference points were written.

Each day other ones are trained, since all of them take half an hour; `make test-learning` shows
what the points are worth.
"""

import datetime

import pytest

from tests.learning import points
from tests.learning.measure import TESTED, everything, train

SYSTEMS_A_DAY = 3


def systems_of_today() -> list[str]:
    names = sorted(points.read_all())
    first = datetime.date.today().toordinal() * SYSTEMS_A_DAY
    return [names[(first + number) % len(names)] for number in range(SYSTEMS_A_DAY)]


@pytest.mark.parametrize("system", systems_of_today())
def test_it_learns_as_it_did(system: str) -> None:
    found = points.refused(system, train(system, TESTED))
    assert not found, "; ".join(found)


def test_every_kind_of_system_has_reference_points() -> None:
    assert sorted(points.read_all()) == sorted(everything())


def test_a_mean_within_its_intervals_is_accepted_and_one_outside_is_not() -> None:
    system = "mple-nat-kd"
    known = points.intervals(system, 1)
    # one value of a healthy training is less certain than the mean of three
    for name, (low, high) in points.intervals(system, 3).items():
        assert known[name][0] < low < high < known[name][1]
