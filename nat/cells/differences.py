"""Differences between two places, with intervals and tests.

With one seed interval and test are those of the bootstrap over sentences, if both places are
measured on one test set. With several they are Student's, of the mean of the differences seed by
seed, whose variance is that between the seeds plus that of the bootstrap. Tables and claims both
use this module, so they agree about a pair. Only scores and the counts beside them are read.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from nat.cells.cell import Cell, measured, numbers
from nat.cells.known_measures import ANALYSES, LATENCY, PAIR, SCORE
from nat.checksums import remedy
from nat.errors import UserError
from nat.measures import statistics
from nat.measures.results import TRAINING, Number, read, read_file
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

RATIOS = {*ANALYSES, PAIR}
"""Sources of numbers that may be ratios of sums over sentences."""


@dataclass(frozen=True)
class Difference:
    """A place minus another, or minus a number.

    Attributes:
        left: value of the place, the mean over the seeds of both.
        right: value of the other.
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
    sentences: tuple[str, ...]

    @property
    def value(self) -> float:
        """The difference."""
        return self.left - self.right

    @property
    def by_seed(self) -> tuple[float, ...]:
        """The differences, one per seed."""
        return self.estimate.by_seed

    @property
    def interval(self) -> Interval | None:
        """Its 95% interval; `None` if nothing is known of its spread."""
        return self.estimate.interval()


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
    number = float(right) if isinstance(right, int | float) else 0.0
    both = (left,) if isinstance(right, int | float) else (left, right)
    found: list[_Seed] = []
    for seed in dict.fromkeys(cell.seed for cell in left):
        # A random decoding has several cells of one training, which are averaged.
        sides = tuple(_run([cell for cell in side if cell.seed == seed], root) for side in both)
        if all(sides):
            found.append(_Seed(seed, sides))
    if not found:
        return None
    samples = [each.samples(root) for each in found]
    known = [each - number for each in samples if each is not None]
    values = [[*each.values, number][:2] for each in found]
    return Difference(
        left=sum(of_left for of_left, _ in values) / len(found),
        right=sum(of_right for _, of_right in values) / len(found),
        estimate=Estimate(
            by_seed=tuple(of_left - of_right for of_left, of_right in values),
            samples=np.mean(known, axis=0) if len(known) == len(found) else None,
            resampled=_method(found[0].cells[0], paired=len(both) > 1 and _of_one_text(found[0])),
        ),
        seeds=tuple(each.seed for each in found),
        sources=tuple(cell.score_path for each in found for cell in each.cells),
        sentences=_sentences(found[0].cells[0]),
    )


@dataclass(frozen=True)
class _Seed:
    """The cells of one seed that were run: those of a place, and those of the other one unless it
    is a number."""

    seed: int
    sides: tuple[dict[Cell, float], ...]

    @property
    def cells(self) -> list[Cell]:
        return [cell for side in self.sides for cell in side]

    @property
    def values(self) -> list[float]:
        return [sum(side.values()) / len(side) for side in self.sides]

    def samples(self, root: Path) -> np.ndarray | None:
        """The difference on resamples; `None` if it cannot be resampled."""
        found = dict(zip(self.cells, _resampled(self.cells, root), strict=False))
        if not found or any(each.alone for each in found.values()):
            return None
        first, *others = (
            np.mean([found[cell].samples for cell in side], axis=0) for side in self.sides
        )
        return first - others[0] if others else first


def _run(cells: Sequence[Cell], root: Path) -> dict[Cell, float]:
    """The cells that have a number."""
    ran = [cell for cell in cells if (root / cell.score_path).exists()]
    found = {cell: measured(cell, root) for cell in ran}
    return {cell: each.value for cell, each in found.items() if each is not None}


@dataclass(frozen=True)
class SpeedUp:
    """The speed-up of a place over another.

    Attributes:
        estimate: median latency of the other over that of the place, with what is known of its
            spread: resamples of the repeats with one seed.
        seeds: those of both.
        sources: files with the values.
    """

    estimate: Estimate
    seeds: tuple[int, ...]
    sources: tuple[str, ...]

    @property
    def value(self) -> float:
        """The mean over the seeds."""
        return self.estimate.value

    @property
    def by_seed(self) -> tuple[float, ...]:
        """The speed-ups, one per seed."""
        return self.estimate.by_seed

    @property
    def interval(self) -> Interval | None:
        """Its 95% interval."""
        return self.estimate.interval()


def speed_up(left: Sequence[Cell], right: Sequence[Cell], root: Path) -> SpeedUp | None:
    """Compare two latencies of one setting; `None` if no seed has both.

    Args:
        left: cells of a place, one per seed.
        right: those of the place that it is compared with.
        root: folder of the results.

    Raises:
        UserError: for damaged files, and latencies of different jobs.
    """
    # a random decoding has several cells of one seed, whose speed-ups are averaged
    found: dict[int, list[Estimate]] = {}
    sources = []
    for pair in itertools.product(left, right):
        if pair[0].seed != pair[1].seed:
            continue
        paths = [root / cell.score_path for cell in pair]
        if paths[0] != paths[1]:
            raise UserError(
                f"{paths[0]} and {paths[1]} were measured in different jobs, so there is no "
                "speed-up; compare rows of one task in one setting"
            )
        if not paths[0].exists():
            continue
        own, other = (numbers(cell, root)["latency"].repeats for cell in pair)
        if own and other:
            found.setdefault(pair[0].seed, []).append(ratio_of_medians(other, own))
            sources.append(pair[0].score_path)
    if not found:
        return None
    by_seed = tuple(sum(each.value for each in ratios) / len(ratios) for ratios in found.values())
    samples = None
    if len(found) == 1:
        (ratios,) = found.values()
        known = [each.samples for each in ratios if each.samples is not None]
        samples = np.mean(known, axis=0) if len(known) == len(ratios) else None
    return SpeedUp(
        estimate=Estimate(by_seed, samples, REPEATS),
        seeds=tuple(found),
        sources=tuple(dict.fromkeys(sources)),
    )


def parameter_share(left: Sequence[Cell], right: Sequence[Cell], root: Path) -> Difference | None:
    """The parameters of a system as a percentage of another's; `None` if no seed has both.

    Args:
        left: cells of a place, one per seed.
        right: those of the place that it is compared with.
        root: folder of the results.

    Raises:
        UserError: for damaged records.
    """
    others = {cell.seed: cell for cell in right}
    found = []
    for cell in {cell.seed: cell for cell in left}.values():
        pair = (cell, others.get(cell.seed))
        if all(each is not None and (root / each.score_path).exists() for each in pair):
            paths = [each.score_path for each in pair if each is not None]
            counts = [
                read(root / path, TRAINING).get("parameters", Number(None)).value for path in paths
            ]
            if counts[0] is not None and counts[1]:
                found.append((cell, 100 * counts[0] / counts[1], paths))
    if not found:
        return None
    by_seed = tuple(share for _, share, _ in found)
    return Difference(
        left=sum(by_seed) / len(by_seed),
        right=0.0,
        estimate=Estimate(by_seed),
        seeds=tuple(cell.seed for cell, _, _ in found),
        sources=tuple(dict.fromkeys(path for _, _, paths in found for path in paths)),
        sentences=(),
    )


Ratio = tuple[Sequence[Cell], Sequence[Cell]]
"""Cells of a place, and those of the place that its speed-up is over."""


def difference_of_speed_ups(left: Ratio, right: Ratio | float, root: Path) -> Difference | None:
    """Compare two speed-ups, or one with a number; `None` if no seed has all of them.

    Two speed-ups are taken for independent: they are mostly of different settings.

    Raises:
        UserError: as `speed_up`.
    """
    own = speed_up(*left, root)
    if own is None:
        return None
    if isinstance(right, int | float):
        samples, sources = own.estimate.samples, own.sources
        number, others = float(right), (float(right),) * len(own.by_seed)
        samples = None if samples is None else samples - number
    else:
        other = speed_up(*right, root)
        if other is not None and other.seeds != own.seeds:
            both = set(own.seeds) & set(other.seeds)
            own, other = (
                speed_up([cell for cell in ratio[0] if cell.seed in both], ratio[1], root)
                for ratio in (left, right)
            )
        if own is None or other is None:
            return None
        samples, sources = own.estimate.samples, own.sources
        number, others = other.value, other.by_seed
        of_other = other.estimate.samples
        samples = None if samples is None or of_other is None else samples - np.roll(of_other, 1)
        sources += other.sources
    by_seed = tuple(first - second for first, second in zip(own.by_seed, others, strict=True))
    return Difference(
        left=own.value,
        right=number,
        estimate=Estimate(by_seed, samples, REPEATS),
        seeds=own.seeds,
        sources=tuple(dict.fromkeys(sources)),
        sentences=(),
    )


def combined(found: Sequence[Difference], of: Callable[[Sequence[float]], float]) -> Estimate:
    """A number computed from several differences.

    Args:
        found: the differences. Those of the same sentences are resampled together, those of others
            independently. Nothing is known of the spread if they have not the same seeds.
        of: makes one number of them.
    """
    seeds = {each.seeds for each in found}
    if len(seeds) > 1:
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


def can_be_resampled(measure: str) -> bool:
    """Whether differences of a measure get an interval from the counts beside its scores."""
    return measure in statistics.MEASURED


def _method(cell: Cell, paired: bool) -> str:
    if cell.source == LATENCY:
        return REPEATS
    return PAIRED if paired else "bootstrap"


def _of_one_text(found: _Seed) -> bool:
    return len({(cell.corpus, cell.split) for cell in found.cells}) == 1


def _sentences(cell: Cell) -> tuple[str, ...]:
    return cell.corpus, cell.split, cell.measure if statistics.is_part(cell.measure) else ""


def _resampled(cells: Sequence[Cell], root: Path) -> list[Resampled]:
    """Each cell on the same resamples; none if they cannot be resampled together."""
    first = cells[0]
    if all(cell.source in RATIOS for cell in cells) and (found := _resampled_ratios(cells, root)):
        return found
    if len({(cell.corpus, cell.split, cell.measure) for cell in cells}) > 1:
        return []
    if first.source == SCORE and can_be_resampled(first.measure):
        _check_test_sets(cells, root)
        return [
            statistics.resampled(cell.measure, statistics.read(root / cell.statistics.path))
            for cell in cells
        ]
    if first.source in ANALYSES:
        return _resampled_shares(cells, root)
    return _resampled_latencies(cells, root) if first.measure == "latency" else []


def _resampled_ratios(cells: Sequence[Cell], root: Path) -> list[Resampled]:
    """Ratios of sums over sentences, such as L_NAT and C; none if one is something else.

    Nor are there any if systems leave out different sentences of a text.

    Those of the same sentences are resampled together, those of different ones independently.
    """
    texts = [(cell.corpus, cell.split) for cell in cells]
    found = [measured(cell, root) for cell in cells]
    rows = [each.by_sentence for each in found if each is not None and each.by_sentence]
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


def _resampled_shares(cells: Sequence[Cell], root: Path) -> list[Resampled]:
    found = [measured(cell, root) for cell in cells]
    hits = [each.hits for each in found if each is not None and each.hits]
    if len(hits) < len(cells) or len({len(each) for each in hits}) > 1:
        return []
    return [
        resample(np.array([[int(digit), 1] for digit in each]), statistics.percent) for each in hits
    ]


def _resampled_latencies(cells: Sequence[Cell], root: Path) -> list[Resampled]:
    repeats = [numbers(cell, root)["latency"].repeats for cell in cells]
    together = len({cell.score_path for cell in cells}) == 1
    return list(resampled_medians(repeats, together))


def _check_test_sets(cells: Sequence[Cell], root: Path) -> None:
    """Refuse scores that are not all against the same references."""
    found = []
    for cell in cells:
        path = root / cell.score_path
        try:
            files = read_file(path)["files"]
            found.append({name: file["sha256"] for name, file in files.items()})
        except (AttributeError, KeyError, TypeError) as error:
            raise UserError(f"{path} is not a score file; {remedy(path)}") from error
    references = [{key: each[key] for key in each if key != "hypotheses"} for each in found]
    for cell, each in zip(cells, references, strict=True):
        if each != references[0]:
            raise UserError(
                f"{root / cells[0].score_path} and {root / cell.score_path} are scores against "
                "different references; remove both and run again"
            )
