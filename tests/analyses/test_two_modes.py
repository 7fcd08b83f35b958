"""What objectives learn of a law with two modes."""

import numpy as np
import pytest

from nat.analyses import two_modes
from nat.analyses.toy import tiny
from nat.analyses.two_modes import distribution, divergence, law, mixed, trained
from tests.repository import configured


def bound() -> float:
    """The least divergence of a model of independent variables: the total correlation, bits."""
    truth = law()
    return divergence(truth, np.outer(truth.sum(1), truth.sum(0)))


def test_the_law_and_the_bound_of_independent_variables() -> None:
    truth = law()
    assert truth.sum() == pytest.approx(1) and mixed(truth) < 3
    assert divergence(truth, truth) == 0
    entropies = [
        -sum(p * np.log2(p) for p in part.ravel() if p > 0)
        for part in (truth.sum(1), truth.sum(0), truth)
    ]
    assert bound() == pytest.approx(entropies[0] + entropies[1] - entropies[2])
    assert 0.85 < bound() < 1  # nearly the one bit that says which mode it is


@pytest.mark.long
def test_likelihood_mixes_the_modes_and_a_choice_settles_in_one() -> None:
    found = {}
    for system in ("mple-nat-raw", "dynamic-kd-no-regulariser"):
        training = tiny(configured().training("toy-ka-lu", system))
        found[system] = distribution(trained(training, seed=1))
        assert found[system].sum() == pytest.approx(1, abs=0.02)
    likely, chosen = found.values()
    truth = law()
    assert bound() <= divergence(truth, likely) < bound() + 0.05
    assert mixed(likely) == pytest.approx(50, abs=2)
    assert divergence(truth, chosen) > 2 * bound()
    assert mixed(chosen) < 20
    middle = two_modes.VALUES // 2
    sides = chosen[:middle, :middle].sum(), chosen[middle:, middle:].sum()
    assert max(sides) > 0.8 and min(sides) < 0.1
