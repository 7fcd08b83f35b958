"""Reference points: what healthy trainings of a system found, and what follows for others.

A file of `tests/learning/points` has, for one system, the validation losses (nats per position) and
the BLEU of five seeds at three updates, and the mean training losses between them; of a system with
glancing, of ten seeds, since these learn early or late, depending on the seed. New trainings with
the first five seeds are refused where

- the mean of one of these quantities is outside of its prediction interval, or
- one of the losses or the BLEU, averaged over the updates, differs from those of the same seeds by
  more than the spread of the differences explains. If a change of the code leaves the random
  numbers as they are, the differences are alike, and small mistakes show; if not, they spread as
  seeds do. Where the trainings went exactly as those of the file, the models are the same, and any
  difference in validation is a mistake.

All intervals of a system together hold 99% of healthy trainings, by Bonferroni's inequality.

Five values say little about their variance. It is a weighted mean of their own and of what is usual
for the same quantity, which counts as `PRIOR` further degrees of freedom (as in the moderated
t-test, Smyth 2004). What is usual comes from the median over all systems with glancing, or over all
without: some systems vary much more than the others, and would widen the intervals of all.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from tests.learning.small_trainings import Point

FOLDER = Path(__file__).parent / "points"
SEEDS = (1, 2, 3, 4, 5)
"""Of the trainings in the files, and of those that are compared with them."""
MORE_SEEDS = (6, 7, 8, 9, 10)
"""Of further trainings in the files of systems with glancing."""
LEVEL = 0.99
PRIOR = 4
"""Degrees of freedom of the usual variance."""
LEAST_SPREAD = {"training loss": 0.005, "loss": 0.005, "BLEU": 0.25}
"""Of differences that are taken seriously: processors round differently."""
SAME_TRAINING = 1e-4
"""Largest difference of training losses that are called equal, the precision of the files."""


@dataclass(frozen=True)
class Known:
    """A file.

    Attributes:
        glancing: whether the system learns with glancing.
        values: of each quantity, over seeds.
    """

    glancing: bool
    values: dict[str, list[float]]


def write(system: str, glancing: bool, trainings: Mapping[int, Sequence[Point]]) -> None:
    """Write the file of a system from its trainings, by seed."""
    seeds = sorted(trainings)
    quantities = [as_quantities(trainings[seed]) for seed in seeds]
    found: dict[str, Any] = {
        "system": system,
        "glancing": glancing,
        "seeds": seeds,
        **{name: [round(each[name], 4) for each in quantities] for name in quantities[0]},
    }
    lines = [f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in found.items()]
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{system}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def read_all() -> dict[str, Known]:
    """All files, by system."""
    found = {}
    for path in sorted(FOLDER.glob("*.json")):
        values = json.loads(path.read_text())
        system, glancing = values.pop("system"), values.pop("glancing")
        del values["seeds"]
        found[system] = Known(glancing, values)
    return found


def as_quantities(points: Sequence[Point]) -> dict[str, float]:
    """The values of one training, by name."""
    training = {
        f"training loss until {point.update}": point.training_loss
        for point in points
        if point.training_loss is not None
    }
    losses = {f"loss after {point.update}": point.loss for point in points}
    bleu = {f"BLEU after {point.update}": point.bleu for point in points if point.bleu is not None}
    return {**training, **losses, **bleu}


def intervals(system: str, trainings: int) -> dict[str, tuple[float, float]]:
    """Where the mean of so many healthy trainings of a system is, for each of its quantities."""
    known = read_all()
    mine = known[system]
    family = [each.values for each in known.values() if each.glancing == mine.glancing]
    found = {}
    for name, values in mine.values.items():
        own = len(values) - 1
        # BLEU that no seed of a system has yet says nothing about the variance of those that have
        spread = [_median_unbiased(each[name]) for each in family if any(each.get(name, ()))]
        usual = np.median(spread) if spread else 0.0
        variance = (own * np.var(values, ddof=1) + PRIOR * usual) / (own + PRIOR)
        error = math.sqrt(variance * (1 / len(values) + 1 / trainings))
        reach = _times(own + PRIOR, len(mine.values)) * error
        mean = float(np.mean(values))
        found[name] = mean - reach, mean + reach
    return found


def refused(system: str, trainings: Sequence[Sequence[Point]]) -> list[str]:
    """What is outside of its interval, each as a sentence.

    Args:
        system: one with a file.
        trainings: with the first seeds of the file, in their order.
    """
    quantities = [as_quantities(points) for points in trainings]
    mine = read_all()[system].values
    found = []
    for name, (low, high) in intervals(system, len(trainings)).items():
        mean = float(np.mean([each[name] for each in quantities]))
        if not low <= mean <= high:
            found.append(f"{system}: {name} updates is {mean:.3f}, not {low:.3f} to {high:.3f}")
    differences = {kind: _differences(kind, quantities, mine) for kind in LEAST_SPREAD}
    same = bool(abs(differences["training loss"]).max() <= SAME_TRAINING)
    for kind, least in LEAST_SPREAD.items():
        if not differences[kind].size:
            continue
        each = differences[kind].mean(1)
        spread = least if same else max(float(each.std(ddof=1)), least)
        reach = _times(len(each) - 1, len(LEAST_SPREAD)) * spread / math.sqrt(len(each))
        if abs(each.mean()) > reach:
            found.append(
                f"{system}: {kind} differs by {each.mean():+.3f} from that of the same seeds, "
                f"not by at most {reach:.3f}" + " after the same training" * same
            )
    return found


def _differences(
    kind: str, quantities: Sequence[Mapping[str, float]], known: Mapping[str, Sequence[float]]
) -> np.ndarray:
    """New values of one kind less those of the file, seeds x updates; no updates if it has none."""
    names = [name for name in known if name.startswith(kind + " ")]
    new = np.array([[each[name] for name in names] for each in quantities])
    old = [[known[name][seed] for name in names] for seed in range(len(quantities))]
    return new - np.array(old)


def _median_unbiased(values: Sequence[float]) -> float:
    """An estimate of the variance that is as often too large as too small."""
    freedom = len(values) - 1
    return float(np.var(values, ddof=1) * freedom / stats.chi2.median(freedom))


def _times(freedom: int, quantities: int) -> float:
    """How many standard errors an interval reaches, if one of two tests has so many of them."""
    return float(stats.t.ppf(1 - (1 - LEVEL) / 2 / quantities / 2, freedom))
