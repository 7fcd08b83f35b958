"""Reference points: what five healthy trainings of a system found, and what follows for others.

A file of `tests/learning/points` has, for one system, the validation losses (nats per position) and
the BLEU of five seeds at three updates. The mean of some new trainings is refused where one of
these quantities is outside of its prediction interval; all intervals of a system together hold 99%
of healthy means, by Bonferroni's inequality.

Five values say little about their variance. It is a weighted mean of their own and of the mean
variance of the same quantity over all systems, which counts as `PRIOR` further degrees of freedom
(as in the moderated t-test, Smyth 2004).
"""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from tests.learning.small_trainings import Point

FOLDER = Path(__file__).parent / "points"
SEEDS = (1, 2, 3, 4, 5)
LEVEL = 0.99
PRIOR = 10
"""Degrees of freedom of the mean variance over all systems."""


def write(system: str, trainings: Mapping[int, Sequence[Point]]) -> None:
    """Write the file of a system from its trainings, by seed."""
    seeds = sorted(trainings)
    quantities = [as_quantities(trainings[seed]) for seed in seeds]
    found: dict[str, Any] = {
        "system": system,
        "seeds": seeds,
        **{name: [round(each[name], 4) for each in quantities] for name in quantities[0]},
    }
    lines = [f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in found.items()]
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{system}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def read_all() -> dict[str, dict[str, list[float]]]:
    """Values of each quantity, over seeds, by system."""
    found = {}
    for path in sorted(FOLDER.glob("*.json")):
        values = json.loads(path.read_text())
        found[values.pop("system")] = {k: v for k, v in values.items() if k != "seeds"}
    return found


def as_quantities(points: Sequence[Point]) -> dict[str, float]:
    """The values of one training, by name."""
    losses = {f"loss after {point.update}": point.loss for point in points}
    bleu = {f"BLEU after {point.update}": point.bleu for point in points if point.bleu is not None}
    return {**losses, **bleu}


def intervals(system: str, trainings: int) -> dict[str, tuple[float, float]]:
    """Where the mean of some healthy trainings of a system is, for each of its quantities.

    Args:
        system: one with a file.
        trainings: number of those whose mean is judged.
    """
    known = read_all()
    mine = known[system]
    found = {}
    for name, values in mine.items():
        others = [np.var(each[name], ddof=1) for each in known.values() if name in each]
        own = len(values) - 1
        variance = (own * np.var(values, ddof=1) + PRIOR * np.mean(others)) / (own + PRIOR)
        share = (1 - LEVEL) / len(mine)
        times = float(stats.t.ppf(1 - share / 2, own + PRIOR))
        reach = times * math.sqrt(variance * (1 / len(values) + 1 / trainings))
        mean = float(np.mean(values))
        found[name] = mean - reach, mean + reach
    return found


def refused(system: str, trainings: Sequence[Sequence[Point]]) -> list[str]:
    """What is outside of its interval in the mean of trainings, each as a sentence."""
    quantities = [as_quantities(points) for points in trainings]
    found = []
    for name, (low, high) in intervals(system, len(trainings)).items():
        mean = float(np.mean([each[name] for each in quantities]))
        if not low <= mean <= high:
            found.append(f"{system}: {name} updates is {mean:.3f}, not {low:.3f} to {high:.3f}")
    return found
