"""Reference points: what healthy trainings of a system found, and what follows for others.

`tests/learning/points.csv` has, for each system, the validation losses (nats per position) and the
BLEU of five seeds at three updates, and the mean training losses between them; of a system with
glancing, of ten seeds, since these learn early or late, depending on the seed. New trainings with
the first five seeds are refused where

- the mean of one of these quantities is outside of its prediction interval, or
- the first training loss, or validation losses or BLEU, averaged over the updates, differ from
  those of the same seeds by more than the spread of the differences explains. If a change of the
  code leaves the random numbers as they are, the differences are alike, and small mistakes show;
  if not, they spread as seeds do, which says more about their variance than five differences
  alone. Both are tried. Where the trainings went as the stored ones, or differ by rounding, so
  do validations, and a larger spread of theirs is no explanation (`ROUNDING`).

All intervals of a system together hold 99% of healthy trainings, by Bonferroni's inequality.

Five values say little about their variance. It is a weighted mean of their own and of what is usual
for the same quantity, which counts as `PRIOR` further degrees of freedom (as in the moderated
t-test, Smyth 2004). What is usual comes from the median over all systems with glancing, or over all
without: some systems vary much more than the others, and would widen the intervals of all.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

FILE = Path(__file__).with_suffix(".csv")
SEEDS = (1, 2, 3, 4, 5)
"""Of the stored trainings, and of those that are compared with them."""
MORE_SEEDS = (6, 7, 8, 9, 10)
"""Of further stored trainings of systems with glancing."""
LEVEL = 0.99
PRIOR = 4
"""Degrees of freedom of the usual variance."""
LEAST_SPREAD = {"training loss": 0.005, "loss": 0.005, "BLEU": 0.25}
"""Of differences that are taken seriously."""
ROUNDING = {1e-4: LEAST_SPREAD, 0.005: {"training loss": 0.005, "loss": 0.01, "BLEU": 1.0}}
"""Largest spread of healthy differences, by the largest difference of training losses.

The first are equal to the precision of the file. The second were trained on another processor,
which rounds differently: measured with thirteen systems.
"""


@dataclass(frozen=True)
class Known:
    """Stored quantities of a system.

    Attributes:
        glancing: whether it learns with glancing.
        values: of each quantity, over seeds.
    """

    glancing: bool
    values: dict[str, list[float]]


def write(system: str, glancing: bool, trainings: Mapping[int, Mapping[str, float]]) -> None:
    """Write the rows of a system from its trainings, by seed."""
    rows = [
        {"system": system, "glancing": int(glancing), "seed": seed, **quantities}
        for seed, quantities in sorted(trainings.items())
    ]
    known = pd.read_csv(FILE)
    every = pd.concat([known[known.system != system], pd.DataFrame(rows).round(4)])
    every.sort_values(["system", "seed"]).to_csv(FILE, index=False)


def read_all() -> dict[str, Known]:
    """All that is stored, by system."""
    known = {}
    for system, rows in pd.read_csv(FILE).groupby("system"):
        values = rows.drop(columns=["system", "glancing", "seed"]).dropna(axis=1)
        known[str(system)] = Known(bool(rows.glancing.all()), values.to_dict("list"))
    return known


def intervals(system: str, trainings: int) -> dict[str, tuple[float, float]]:
    """Intervals of the mean of so many healthy trainings of a system, by quantity."""
    known = read_all()
    mine = known[system]
    family = [each.values for each in known.values() if each.glancing == mine.glancing]
    limits = {}
    for name, values in mine.values.items():
        own = len(values) - 1
        # BLEU that no seed of a system has yet says nothing about the variance of those that have
        spread = [_median_unbiased(each[name]) for each in family if any(each.get(name, ()))]
        usual = np.median(spread) if spread else 0.0
        variance = (own * np.var(values, ddof=1) + PRIOR * usual) / (own + PRIOR)
        error = math.sqrt(variance * (1 / len(values) + 1 / trainings))
        reach = _times(own + PRIOR, len(mine.values)) * error
        mean = float(np.mean(values))
        limits[name] = mean - reach, mean + reach
    return limits


def refused(system: str, trainings: Sequence[Mapping[str, float]]) -> list[str]:
    """A sentence for each quantity that is outside of its interval.

    Args:
        system: one that is stored.
        trainings: with the first of the stored seeds, in their order.
    """
    mine = read_all()[system].values
    refusals = []
    for name, (low, high) in intervals(system, len(trainings)).items():
        mean = float(np.mean([each[name] for each in trainings]))
        if not low <= mean <= high:
            refusals.append(f"{system}: {name} updates is {mean:.3f}, not {low:.3f} to {high:.3f}")
    differences = {kind: _differences(kind, trainings, mine) for kind in LEAST_SPREAD}
    apart = float(abs(differences["training loss"]).max())
    for kind in LEAST_SPREAD:
        if not differences[kind].size:
            continue
        each, usual = _compared(kind, differences[kind]), _compared(kind, _known(kind, mine))
        reach = _reach(kind, each, 2 * float(usual.var(ddof=1)), apart)
        if abs(each.mean()) > reach:
            refusals.append(
                f"{system}: {kind} differs by {each.mean():+.3f} from that of the same seeds, not "
                f"by at most {reach:.3f}, where training losses differ by at most {apart:.4f}"
            )
    return refusals


def _compared(kind: str, values: np.ndarray) -> np.ndarray:
    """Of values seeds x updates one for each seed; trainings are most alike in the beginning."""
    return np.asarray(values[:, 0] if kind == "training loss" else values.mean(1))


def _reach(kind: str, differences: np.ndarray, usual: float, apart: float) -> float:
    """The largest mean of healthy differences, one for each seed.

    Args:
        kind: of the quantities.
        differences: see `_compared`.
        usual: their variance where seeds do not make trainings alike.
        apart: largest difference of training losses.
    """
    own, freedom = float(differences.var(ddof=1)), len(differences) - 1
    most = next((spread[kind] for limit, spread in ROUNDING.items() if apart <= limit), math.inf)
    variances = {freedom: own, 2 * freedom: (own + usual) / 2}
    return min(
        _times(degrees, len(variances) * len(LEAST_SPREAD))
        * min(max(math.sqrt(variance), LEAST_SPREAD[kind]), most)
        / math.sqrt(len(differences))
        for degrees, variance in variances.items()
    )


def _differences(
    kind: str, trainings: Sequence[Mapping[str, float]], known: Mapping[str, Sequence[float]]
) -> np.ndarray:
    """New values of one kind less the stored ones, seeds x updates; no updates if it has none."""
    names = [name for name in known if name.startswith(kind + " ")]
    new = np.array([[each[name] for name in names] for each in trainings])
    return new - _known(kind, known)[: len(new)]


def _known(kind: str, known: Mapping[str, Sequence[float]]) -> np.ndarray:
    """Stored values of one kind, seeds x updates."""
    return np.array([known[name] for name in known if name.startswith(kind + " ")]).T


def _median_unbiased(values: Sequence[float]) -> float:
    """An estimate of the variance that is as often too large as too small."""
    freedom = len(values) - 1
    return float(np.var(values, ddof=1) * freedom / stats.chi2.median(freedom))


def _times(freedom: int, quantities: int) -> float:
    """Standard errors that an interval reaches, if one of two tests has so many of them."""
    return float(stats.t.ppf(1 - (1 - LEVEL) / 2 / quantities / 2, freedom))
