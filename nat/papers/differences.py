"""Differences between means of cells, with intervals and tests.

With one seed interval and test are those of the bootstrap over sentences, if both sides are
measured on one test set. With several they are Student's, of the mean of the differences seed by
seed, whose variance is that between the seeds plus that of the bootstrap. Tables and claims both
use this module, so they agree about a pair.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from nat.errors import UserError
from nat.measures import significance, statistics
from nat.measures.known import LATENCY, MEASURES, SCORE
from nat.measures.significance import Estimate, mean_of
from nat.papers.cells import Cell, Shown
from nat.papers.reader import Reader


@dataclass(frozen=True, kw_only=True)
class Difference(Estimate):
    """A side minus another or a number, on the seeds that both have.

    `sentences` says what was resampled: corpus, split, and the measure if it concerns a part.
    """

    left: float
    right: float
    seeds: tuple[int, ...] = ()
    sources: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()


def difference(left: Shown, right: Shown | float, reader: Reader) -> Difference | None:
    """Compare two sides on the seeds that both have; `None` if there is no such seed.

    The number of a side with cells that it is shown over is their ratio: a speed-up, or a share of
    parameters in percent. A random decoding has several cells of a seed, which are averaged.

    Raises:
        UserError: for damaged files, scores that are not of one test set, and speed-ups of
            latencies that were measured in different jobs.
    """
    sides = [left, right] if isinstance(right, Shown) else [left]
    number = [] if isinstance(right, Shown) else [Estimate((right,), np.array(right))]
    by_seed: dict[int, list[Estimate]] = {}
    used: list[Cell] = []
    for seed in dict.fromkeys(cell.seed for cell in left.own):
        of_seed = [_of_seed(side, seed, reader) for side in sides]
        if not all(side.own and (side.over or not left.over) for side in of_seed):
            continue
        numbers = _ratios(of_seed, reader) if left.over else _numbers(of_seed, reader)
        if len(numbers) == len(sides):
            by_seed[seed] = numbers + number
            used += [cell for side in of_seed for cell in (*side.own, *side.over)]
    if not by_seed:
        return None
    one, other = map(mean_of, zip(*by_seed.values(), strict=True))
    samples = None if one.samples is None or other.samples is None else one.samples - other.samples
    cell, measure = used[0], MEASURES[used[0].measure]
    of_one_text = len({(each.corpus, each.split) for each in used}) == 1
    method = significance.PAIRED if len(sides) > 1 and of_one_text else "bootstrap"
    is_part = measure.source == SCORE and statistics.MEASURED[cell.measure].part
    part = cell.measure if is_part else ""
    return Difference(
        left=one.value,
        right=other.value,
        by_seed=tuple(of_left.value - of_right.value for of_left, of_right in by_seed.values()),
        samples=None if left.over and len(by_seed) > 1 else samples,
        resampled=significance.REPEATS if measure.source == LATENCY else method,
        seeds=tuple(by_seed),
        sources=tuple(dict.fromkeys(each.path for each in used)),
        sentences=() if left.over else (cell.corpus, cell.split, part),
    )


def _of_seed(side: Shown, seed: int, reader: Reader) -> Shown:
    """The cells of one seed that have a number."""
    own, over = (
        tuple(cell for cell in cells if cell.seed == seed and reader.number(cell).value is not None)
        for cells in side
    )
    return Shown(own, over)


def _numbers(sides: Sequence[Shown], reader: Reader) -> list[Estimate]:
    """The number of each side, on the same resamples."""
    cells = [cell for side in sides for cell in side.own]
    pairs = zip(cells, _resampled(cells, reader), strict=False)
    resampled = {cell: each.samples for cell, each in pairs}
    known = {cell: (reader.number(cell).value or 0.0,) for cell in cells}
    return [
        mean_of([Estimate(known[cell], resampled.get(cell)) for cell in side.own]) for side in sides
    ]


def _ratios(sides: Sequence[Shown], reader: Reader) -> list[Estimate]:
    """The speed-up or the share of parameters of each side; fewer if one has none.

    Two speed-ups are taken for independent: they are mostly of different settings.
    """
    numbers = []
    for place, side in enumerate(sides):
        times = MEASURES[side.first.measure].source == LATENCY
        ratios = []
        for own, over in itertools.product(side.own, side.over):
            if times and own.path != over.path:
                raise UserError(
                    f"{own.path} and {over.path} were measured in different jobs, so there is no "
                    "speed-up; compare rows of one task in one setting"
                )
            above, below = reader.number(own), reader.number(over)
            if times and above.repeats and below.repeats:
                ratios.append(significance.ratio_of_medians(below.repeats, above.repeats))
            elif not times and above.value is not None and below.value:
                ratios.append(Estimate((100 * above.value / below.value,)))
        if ratios:
            numbers.append(mean_of(ratios).apart(place))
    return numbers


def combined(differences: Sequence[Difference], of: Callable[[Sequence[float]], float]) -> Estimate:
    """Compute a number from several differences.

    Differences of the same sentences are resampled together, those of others independently. Nothing
    is known of the spread if they have not the same seeds.
    """
    if len({each.seeds for each in differences}) > 1:
        return Estimate((of([each.value for each in differences]),))
    rows = zip(*(each.by_seed for each in differences), strict=True)
    by_seed = tuple(of(row) for row in rows)
    test_sets = list(dict.fromkeys(each.sentences for each in differences))
    apart = (each.apart(test_sets.index(each.sentences)).samples for each in differences)
    samples = [each for each in apart if each is not None]
    if len(samples) < len(differences):
        return Estimate(by_seed)
    return Estimate(by_seed, np.array([of(row) for row in np.stack(samples, axis=1)]))


def _resampled(cells: Sequence[Cell], reader: Reader) -> list[Estimate]:
    """Each cell on the same resamples; none if they cannot be resampled together."""
    numbers = [reader.number(cell) for cell in cells]
    texts = [(cell.corpus, cell.split) for cell in cells]
    terms = [each.by_sentence for each in numbers]
    sentences = {(text, each.get("numbers")) for text, each in zip(texts, terms, strict=True)}
    # ratios of sums over sentences, such as L_NAT and C, if systems leave out no other sentences
    if all(terms) and len(sentences) == len({*texts}):
        known = list(dict.fromkeys(texts))
        rows = (np.array([each["sums"], each["tokens"]]).T for each in terms)
        ratios = (significance.resample(each, statistics.ratio) for each in rows)
        return [each.apart(known.index(text)) for text, each in zip(texts, ratios, strict=True)]
    measure = cells[0].measure
    if len({*texts}) > 1 or any(cell.measure != measure for cell in cells):
        return []
    if MEASURES[measure].source == SCORE:
        references = []
        for cell in cells:
            files = reader.file(cell)["files"].items()
            references.append({key: file["sha256"] for key, file in files if key != "hypotheses"})
            if references[-1] != references[0]:
                raise UserError(
                    f"{cells[0].path} and {cell.path} are scores against different references; "
                    "remove both and run again"
                )
        counts = (statistics.read(reader.root / cell.path, reader.file(cell)) for cell in cells)
        return [statistics.resampled(measure, each) for each in counts]
    if measure == "latency":
        together = len({cell.path for cell in cells}) == 1
        return significance.resampled_medians([each.repeats for each in numbers], together)
    return []
