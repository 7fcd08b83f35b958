"""Differences between cells, with intervals and tests.

With one seed interval and test are those of the bootstrap over sentences, if both sides are
measured on one test set. With several they are Student's, of the mean of the differences seed by
seed, whose variance is that between the seeds plus that of the bootstrap. Tables and claims both
use this module, so they agree about a pair.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nat.artifacts import Score
from nat.data.arrays import read_arrays
from nat.errors import UserError
from nat.measures import statistics
from nat.measures.known import ANALYSES, LATENCY, MEASURES, PAIR, SCORE
from nat.measures.significance import (
    PAIRED,
    REPEATS,
    Estimate,
    Interval,
    Resampled,
    ratio_of_medians,
    resample,
    resampled_medians,
)
from nat.papers.cells import Cell
from nat.papers.reader import Reader

RATIOS = {*ANALYSES, PAIR}
"""Sources of numbers that may be ratios of sums over sentences."""


@dataclass(frozen=True)
class Difference:
    """Cells minus others or minus a number; of relative measures a ratio, with nothing subtracted.

    Attributes:
        left: the mean over the seeds of both.
        right: what is subtracted.
        estimate: the difference, with what is known of its spread.
        seeds: those of both.
        sources: files with the values.
        sentences: what was resampled: corpus, split, and the measure if it concerns a part.
    """

    left: float
    right: float
    estimate: Estimate
    seeds: tuple[int, ...]
    sources: tuple[str, ...]
    sentences: tuple[str, ...] = ()

    @property
    def value(self) -> float:
        """The difference."""
        return self.left - self.right

    @property
    def interval(self) -> Interval | None:
        """Its 95% interval; `None` if nothing is known of its spread."""
        return self.estimate.interval()


Side = Sequence[Cell]
"""Cells of one mean, for each seed and draw."""


def can_be_resampled(measure: str) -> bool:
    """Tell whether a measure gets intervals from the counts beside its scores."""
    return measure in statistics.MEASURED


def difference(left: Side, right: Side | float, reader: Reader) -> Difference | None:
    """Compare two sides on the seeds that both have; `None` if there is no such seed.

    Raises:
        UserError: for damaged files, and scores that are not of one test set.
    """
    number = float(right) if isinstance(right, int | float) else 0.0
    sides = (left,) if isinstance(right, int | float) else (left, right)
    seeds, samples, values, used = [], [], [], []
    for seed in dict.fromkeys(cell.seed for cell in left):
        # A random decoding has several cells of one training, which are averaged.
        found = [_measured([cell for cell in side if cell.seed == seed], reader) for side in sides]
        if not all(found):
            continue
        assert seed is not None
        seeds.append(seed)
        used += [cell for side in found for cell in side]
        values.append([*(sum(side.values()) / len(side) for side in found), number][:2])
        samples.append(_samples([list(side) for side in found], reader))
    if not seeds:
        return None
    known = [each - number for each in samples if each is not None]
    first, count = used[0], len(seeds)
    of_one_text = len({(cell.corpus, cell.split) for cell in used}) == 1
    method = PAIRED if len(sides) > 1 and of_one_text else "bootstrap"
    return Difference(
        left=sum(of_left for of_left, _ in values) / count,
        right=sum(of_right for _, of_right in values) / count,
        estimate=Estimate(
            by_seed=tuple(of_left - of_right for of_left, of_right in values),
            samples=np.mean(known, axis=0) if len(known) == count else None,
            resampled=REPEATS if MEASURES[first.measure].source == LATENCY else method,
        ),
        seeds=tuple(seeds),
        sources=tuple(cell.path for cell in used),
        sentences=(
            *(first.corpus, first.split),
            first.measure if statistics.is_part(first.measure) else "",
        ),
    )


def _measured(cells: Side, reader: Reader) -> dict[Cell, float]:
    """The cells that have a number."""
    found = {cell: reader.number(cell).value for cell in cells if reader.ran(cell)}
    return {cell: value for cell, value in found.items() if value is not None}


def _samples(sides: Sequence[list[Cell]], reader: Reader) -> np.ndarray | None:
    """The difference of one seed on resamples; `None` if it cannot be resampled."""
    cells = [cell for side in sides for cell in side]
    found = dict(zip(cells, _resampled(cells, reader), strict=False))
    if not found or any(each.alone for each in found.values()):
        return None
    first, *others = (np.mean([found[cell].samples for cell in side], axis=0) for side in sides)
    return np.asarray(first - others[0] if others else first)


def ratio(left: Side, right: Side, reader: Reader) -> Difference | None:
    """A speed-up or a share of parameters of cells over others; `None` if no seed has both.

    Raises:
        UserError: for damaged files, and latencies of different jobs.
    """
    times = MEASURES[left[0].measure].source == LATENCY
    # a random decoding has several cells of one seed, whose ratios are averaged
    found: dict[int, list[Estimate]] = {}
    sources: list[str] = []
    for own, other in itertools.product(left, right):
        if own.seed != other.seed or own.seed is None:
            continue
        if times and own.path != other.path:
            raise UserError(
                f"{own.path} and {other.path} were measured in different jobs, so there is no "
                "speed-up; compare rows of one task in one setting"
            )
        if not (reader.ran(own) and reader.ran(other)):
            continue
        above, below = reader.number(own), reader.number(other)
        if times and above.repeats and below.repeats:
            each = ratio_of_medians(below.repeats, above.repeats)
        elif not times and above.value is not None and below.value:
            each = Estimate((100 * above.value / below.value,))
        else:
            continue
        found.setdefault(own.seed, []).append(each)
        sources += [own.path, other.path]
    if not found:
        return None
    by_seed = tuple(sum(each.value for each in ratios) / len(ratios) for ratios in found.values())
    samples = None
    if len(found) == 1:
        (ratios,) = found.values()
        known = [each.samples for each in ratios if each.samples is not None]
        samples = np.mean(known, axis=0) if len(known) == len(ratios) else None
    estimate = Estimate(by_seed, samples, REPEATS)
    return Difference(estimate.value, 0.0, estimate, tuple(found), tuple(dict.fromkeys(sources)))


def difference_of_speed_ups(
    left: tuple[Side, Side], right: tuple[Side, Side] | float, reader: Reader
) -> Difference | None:
    """Compare two speed-ups, or one with a number; `None` if no seed has all of them.

    Two speed-ups are taken for independent: they are mostly of different settings.

    Raises:
        UserError: as `ratio`.
    """
    own = ratio(*left, reader)
    if own is None:
        return None
    samples, sources = own.estimate.samples, own.sources
    if isinstance(right, int | float):
        others = (float(right),) * len(own.seeds)
        samples = None if samples is None else samples - float(right)
    else:
        other = ratio(*right, reader)
        if other is not None and other.seeds != own.seeds:
            both = {*own.seeds} & {*other.seeds}
            sides = [[cell for cell in side[0] if cell.seed in both] for side in (left, right)]
            if not both:
                return None
            own, other = ratio(sides[0], left[1], reader), ratio(sides[1], right[1], reader)
        if own is None or other is None:
            return None
        others, of_other = other.estimate.by_seed, other.estimate.samples
        samples, sources = own.estimate.samples, own.sources + other.sources
        samples = None if samples is None or of_other is None else samples - np.roll(of_other, 1)
    by_seed = tuple(a - b for a, b in zip(own.estimate.by_seed, others, strict=True))
    return replace(
        own,
        right=sum(others) / len(others),
        estimate=Estimate(by_seed, samples, REPEATS),
        sources=tuple(dict.fromkeys(sources)),
    )


def combined(found: Sequence[Difference], of: Callable[[Sequence[float]], float]) -> Estimate:
    """Compute a number from several differences.

    Args:
        found: the differences. Those of the same sentences are resampled together, those of others
            independently. Nothing is known of the spread if they have not the same seeds.
        of: makes one number of them.
    """
    if len({each.seeds for each in found}) > 1:
        return Estimate((of([each.value for each in found]),))
    by_seed = tuple(of(row) for row in zip(*(each.estimate.by_seed for each in found), strict=True))
    # Test sets of the same size have the same draws. So that different ones are independent, the
    # first resample of one goes with the second of the next, and so on.
    test_sets = list(dict.fromkeys(each.sentences for each in found))
    samples = [
        np.roll(each.estimate.samples, test_sets.index(each.sentences))
        for each in found
        if each.estimate.samples is not None
    ]
    if len(samples) < len(found):
        return Estimate(by_seed)
    return Estimate(by_seed, np.array([of(row) for row in np.stack(samples, axis=1)]))


def _resampled(cells: Side, reader: Reader) -> list[Resampled]:
    """Each cell on the same resamples; none if they cannot be resampled together."""
    first, source = cells[0], MEASURES[cells[0].measure].source
    if all(MEASURES[cell.measure].source in RATIOS for cell in cells):
        found = _resampled_ratios(cells, reader)
        if found:
            return found
    if len({(cell.corpus, cell.split, cell.measure) for cell in cells}) > 1:
        return []
    if source == SCORE and can_be_resampled(first.measure):
        _check_test_sets(cells, reader)
        return [statistics.resampled(cell.measure, _counts(cell, reader)) for cell in cells]
    if source in ANALYSES:
        return _resampled_shares(cells, reader)
    if first.measure != "latency":
        return []
    together = len({cell.path for cell in cells}) == 1
    return list(resampled_medians([reader.number(cell).repeats for cell in cells], together))


def _counts(cell: Cell, reader: Reader) -> dict[str, np.ndarray]:
    assert isinstance(cell.source, Score)
    return read_arrays(reader.root / cell.source.statistics.path)


def _resampled_ratios(cells: Side, reader: Reader) -> list[Resampled]:
    """Ratios of sums over sentences, such as L_NAT and C; none if one is something else.

    Nor are there any if systems leave out different sentences of a text. Those of the same
    sentences are resampled together, those of different ones independently.
    """
    texts = [(cell.corpus, cell.split) for cell in cells]
    rows = [each for cell in cells if (each := reader.number(cell).by_sentence)]
    sentences = {(text, tuple(each)) for text, each in zip(texts, rows, strict=False)}
    if len(rows) < len(cells) or len(sentences) > len(set(texts)):
        return []
    known = list(dict.fromkeys(texts))
    resampled = [resample(np.array([*each.values()], dtype=float), _ratio) for each in rows]
    # so that the draws of different texts are independent, as in `combined`
    return [
        replace(each, samples=np.roll(each.samples, known.index(text)))
        for text, each in zip(texts, resampled, strict=True)
    ]


def _ratio(sums: np.ndarray) -> np.ndarray:
    return np.asarray(sums[:, 0] / sums[:, 1])


def _resampled_shares(cells: Side, reader: Reader) -> list[Resampled]:
    hits = [each for cell in cells if (each := reader.number(cell).hits)]
    if len(hits) < len(cells) or len({len(each) for each in hits}) > 1:
        return []
    rows = (np.array([[int(digit), 1] for digit in each]) for each in hits)
    return [resample(each, statistics.percent) for each in rows]


def _check_test_sets(cells: Side, reader: Reader) -> None:
    """Refuse scores that are not all against the same references."""
    files = [reader.file(cell.path)["files"] for cell in cells]
    texts = [
        {key: file["sha256"] for key, file in each.items() if key != "hypotheses"} for each in files
    ]
    for cell, each in zip(cells, texts, strict=True):
        if each != texts[0]:
            raise UserError(
                f"{cells[0].path} and {cell.path} are scores against different references; remove "
                "both and run again"
            )
