"""Differences between two places, with intervals and tests.

Over several seeds interval and test are Student's, of the mean of the differences seed by seed.
With one seed they are those of the paired bootstrap, if both places are measured on one test set.
Tables and claims both use this module, so they agree about a pair. Only scores and the counts
beside them are read.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nat.errors import UserError
from nat.measures import statistics
from nat.measures.latency_setting import STATE
from nat.measures.significance import (
    METHOD,
    Interval,
    Resampled,
    interval_of_ratio,
    interval_over_seeds,
    p_value,
    p_value_over_seeds,
    percentile_interval,
    resample,
)
from nat.reporting.cells import ANALYSES, SCORE, Cell, measured, read_latency, read_score


@dataclass(frozen=True)
class Difference:
    """A place minus another, or minus a number.

    Attributes:
        left: value of the place, the mean over the seeds of both.
        right: value of the other.
        by_seed: the differences, one per seed.
        resampled: the difference on resampled test sets, with one seed and if it can be
            resampled.
        interval: of the difference; `None` without several seeds or resamples.
        p_value: of the hypothesis of no difference; `None` likewise, and against a number.
        sources: files with the values.
        sentences: what was resampled: corpus, split, and the measure if it concerns a part.
    """

    left: float
    right: float
    by_seed: tuple[float, ...]
    resampled: Resampled | None
    interval: Interval | None
    p_value: float | None
    sources: tuple[str, ...]
    sentences: tuple[str, ...] = ()

    @property
    def value(self) -> float:
        """The difference."""
        return self.left - self.right


def difference(
    left: Sequence[Cell], right: Sequence[Cell] | float, root: Path
) -> Difference | None:
    """Compare two places on the seeds that both have; `None` if there is no such seed.

    Args:
        left: cells of a place, one per seed.
        right: those of the other, or a number.
        root: folder of the results.

    Raises:
        UserError: for damaged files, and scores that are not of one test set.
    """
    if isinstance(right, int | float):
        return _to_number(left, float(right), root)
    others = {cell.seed: cell for cell in right}
    pairs = [(cell, others[cell.seed]) for cell in left if cell.seed in others]
    found = []
    for pair in pairs:
        if all((root / cell.score_path).exists() for cell in pair):
            values = [measured(cell, root) for cell in pair]
            if values[0] is not None and values[1] is not None:
                found.append((pair, values[0].value, values[1].value))
    if not found:
        return None
    number = len(found)
    by_seed = tuple(first - second for _, first, second in found)
    resampled, interval, p = None, None, None
    if number > 1:
        interval, p = interval_over_seeds(by_seed), p_value_over_seeds(by_seed)
    else:
        resampled = _resampled(*found[0][0], root)
        if resampled is not None:
            interval, p = percentile_interval(resampled), p_value(resampled)
    return Difference(
        left=sum(first for _, first, _ in found) / number,
        right=sum(second for _, _, second in found) / number,
        by_seed=by_seed,
        resampled=resampled,
        interval=interval,
        p_value=p,
        sources=tuple(cell.score_path for pair, _, _ in found for cell in pair),
        sentences=_sentences(found[0][0][0]),
    )


@dataclass(frozen=True)
class SpeedUp:
    """The speed-up of a place over another.

    Attributes:
        value: median latency of the other over that of the place, mean over the seeds that both
            have.
        by_seed: one per seed.
        interval: of the repeats, or over seeds.
        sources: files with the values.
    """

    value: float
    by_seed: tuple[float, ...]
    interval: Interval
    sources: tuple[str, ...]


def speed_up(left: Sequence[Cell], right: Sequence[Cell], root: Path) -> SpeedUp | None:
    """Compare two latencies of one setting; `None` if no seed has both.

    Args:
        left: cells of a place, one per seed.
        right: those of the place that it is compared with.
        root: folder of the results.

    Raises:
        UserError: for damaged files, and latencies of different devices.
    """
    others = {cell.seed: cell for cell in right}
    pairs = [(cell, others[cell.seed]) for cell in left if cell.seed in others]
    found = []
    for pair in pairs:
        paths = [root / cell.score_path for cell in pair]
        if not all(path.exists() for path in paths):
            continue
        own, other = (read_latency(path) for path in paths)
        if STATE in own or STATE in other:
            continue
        names = [
            (each.get("device"), each.get("dtype"), cell.setting)
            for each, cell in zip((own, other), pair, strict=True)
        ]
        if names[0] != names[1]:
            raise UserError(
                f"{paths[0]} and {paths[1]} were measured on different devices or in different "
                "settings; remove both and run again"
            )
        repeats = [each["milliseconds_per_sentence"]["repeats"] for each in (other, own)]
        found.append((pair, interval_of_ratio(*repeats)))
    if not found:
        return None
    by_seed = tuple(interval.difference for _, interval in found)
    return SpeedUp(
        value=sum(by_seed) / len(by_seed),
        by_seed=by_seed,
        interval=found[0][1] if len(found) == 1 else interval_over_seeds(by_seed),
        sources=tuple(cell.score_path for pair, _ in found for cell in pair),
    )


def _to_number(left: Sequence[Cell], number: float, root: Path) -> Difference | None:
    ran = [cell for cell in left if (root / cell.score_path).exists()]
    found = [(cell, value) for cell in ran if (value := measured(cell, root)) is not None]
    if not found:
        return None
    by_seed = tuple(value.value - number for _, value in found)
    interval = None
    only = found[0][1]
    if len(found) > 1:
        interval = interval_over_seeds(by_seed)
    elif only.low is not None and only.high is not None:
        method = METHOD.removeprefix("paired ")
        interval = Interval(by_seed[0], only.low - number, only.high - number, method)
    return Difference(
        left=sum(value.value for _, value in found) / len(found),
        right=number,
        by_seed=by_seed,
        resampled=None,
        interval=interval,
        p_value=None,
        sources=tuple(cell.score_path for cell, _ in found),
    )


def combined(
    found: Sequence[Difference], of: Callable[[Sequence[float]], float]
) -> Interval | None:
    """The interval of a number computed from several differences.

    Args:
        found: the differences, on the same seeds or on resampled test sets. Those of the same
            sentences are resampled together, those of others independently.
        of: makes one number of them.
    """
    value = of([each.value for each in found])
    seeds = min(len(each.by_seed) for each in found)
    if seeds > 1 and all(len(each.by_seed) == seeds for each in found):
        made = [of(row) for row in zip(*(each.by_seed for each in found), strict=True)]
        return interval_over_seeds(made)
    # The first resample of one test set goes with the second of the next, and so on.
    test_sets = list(dict.fromkeys(each.sentences for each in found))
    samples = [
        np.roll(each.resampled.samples, test_sets.index(each.sentences))
        for each in found
        if each.resampled is not None
    ]
    if len(samples) < len(found):
        return None
    made = [of(row) for row in np.stack(samples, axis=1)]
    return percentile_interval(Resampled(value, np.array(made)))


def can_be_resampled(measure: str) -> bool:
    """Whether differences of a measure get an interval from the counts beside its scores."""
    return measure in statistics.MEASURED


def _sentences(cell: Cell) -> tuple[str, ...]:
    return cell.corpus, cell.split, cell.measure if statistics.is_part(cell.measure) else ""


def _resampled(left: Cell, right: Cell, root: Path) -> Resampled | None:
    both = left, right
    if len({(cell.corpus, cell.split, cell.measure) for cell in both}) > 1:
        return None
    if left.source == SCORE and can_be_resampled(left.measure):
        _check_test_sets(left, right, root)
        arrays = [statistics.read(root / cell.statistics_path) for cell in both]
        of_left, of_right = (statistics.resampled(left.measure, each) for each in arrays)
        return of_left - of_right
    if left.source in ANALYSES:
        return _resampled_shares(left, right, root)
    return None


def _resampled_shares(left: Cell, right: Cell, root: Path) -> Resampled | None:
    found = [measured(cell, root) for cell in (left, right)]
    hits = [each.hits for each in found if each is not None and each.hits]
    if len(hits) < 2 or len(hits[0]) != len(hits[1]):
        return None
    of_left, of_right = (
        resample(np.array([[int(digit), 1] for digit in each]), statistics.percent) for each in hits
    )
    return of_left - of_right


def _check_test_sets(left: Cell, right: Cell, root: Path) -> None:
    """Refuse scores against other references than each other's."""
    found = []
    for cell in (left, right):
        path = root / cell.score_path
        try:
            files = read_score(path)["files"]
            found.append({name: file["sha256"] for name, file in files.items()})
        except (AttributeError, KeyError, TypeError) as error:
            raise UserError(f"{path} is not a score file; remove it and run again") from error
    ours, its = ({key: each[key] for key in each if key != "hypotheses"} for each in found)
    if ours != its:
        raise UserError(
            f"{root / left.score_path} and {root / right.score_path} are scores against different "
            "references; remove both and run again"
        )
