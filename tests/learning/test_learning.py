"""Systems learn what they learned when their reference points were written.

Each day another one is trained, since all of them take half an hour; `make test-learning` shows
what the points are worth.
"""

import datetime
from collections.abc import Sequence

import pytest

from tests.learning import points
from tests.learning.bugs import BUGS, planted
from tests.learning.measure import everything, train


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


def stored(system: str) -> list[dict[str, float]]:
    """Those of the stored trainings of a system that are repeated."""
    values = points.read_all()[system].values.items()
    return [{name: each[seed] for name, each in values} for seed in range(len(points.SEEDS))]


def changed(
    trainings: list[dict[str, float]], kind: str, by: Sequence[float]
) -> list[dict[str, float]]:
    """The same with other quantities of a kind, each training by its own difference."""
    return [
        {name: value + more * name.startswith(kind) for name, value in each.items()}
        for each, more in zip(trainings, by, strict=True)
    ]


@pytest.mark.parametrize("system", ["mple-nat-kd", "at-base", "ctc-kd"])
def test_a_small_difference_shows_where_seeds_are_the_same(system: str) -> None:
    trainings = stored(system)
    assert not points.refused(system, trainings)
    worse = changed(changed(trainings, "training loss", [0.03] * 5), "loss", [0.03] * 5)
    in_training, in_validation = points.refused(system, worse)
    assert "training loss differs by +0.030 from that of the same seeds" in in_training
    assert "loss differs by +0.030 from that of the same seeds" in in_validation
    # of other seeds it is nothing
    assert not points.refused(system, worse[1:] + worse[:1])


def test_another_validation_of_the_same_training_is_refused() -> None:
    system = "mple-nat-kd"
    by_seed = (0.0, 0.01, 0.02, 0.02, 0.03)  # too different for a paired test
    other = changed(stored(system), "loss", by_seed)
    (refusal,) = points.refused(system, other)
    assert "where training losses differ by at most 0.0000" in refusal
    # On another processor training losses differ, too, and validations by at most a little.
    assert not points.refused(system, changed(other, "training loss", [0.002] * 5))


def test_a_mean_outside_of_its_interval_is_refused() -> None:
    system, name = "mple-nat-kd", "BLEU after 240"
    low, high = points.intervals(system, len(points.SEEDS))[name]
    for bleu in (low - 0.1, high + 0.1):
        refusals = points.refused(system, [{**each, name: bleu} for each in stored(system)])
        assert f"{name} updates is" in refusals[0]
