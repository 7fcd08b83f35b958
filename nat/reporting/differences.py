"""Differences between two places, with their confidence.

Over several seeds the interval is Student's, of the mean of the differences seed by seed. With one
seed it is that of the paired bootstrap, where both places are scores of one test set and their
translations are there.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sacrebleu.metrics import BLEU

from nat.data.bpe import merge
from nat.data.lines import read_lines
from nat.data.translations import read_in_order
from nat.errors import UserError
from nat.measures import bleu
from nat.measures.score import BUCKET, LONG, sentences_by_length
from nat.measures.significance import (
    Interval,
    interval_over_seeds,
    percentile_interval,
    resampled_differences,
    resampled_share_differences,
)
from nat.reporting.cells import SCORE, TRAINING, Cell, measured, read_score

RESAMPLED = ("sacrebleu", "tokenised_bleu", LONG)
"""Measures that are scored again on resamples; so are the buckets by length."""


@dataclass(frozen=True)
class Difference:
    """A place minus another, or minus a number.

    Attributes:
        left: value of the place, mean over the seeds that both have.
        right: value of the other.
        by_seed: the differences, one per seed.
        resampled: differences on resampled test sets, [samples], where there is one seed and they
            can be made.
        interval: of the difference; `None` where neither seeds nor resamples tell.
        sources: files that the values are from.
    """

    left: float
    right: float
    by_seed: tuple[float, ...]
    resampled: np.ndarray | None
    interval: Interval | None
    sources: tuple[str, ...]

    @property
    def value(self) -> float:
        """The difference."""
        return self.left - self.right


def difference(
    left: Sequence[Cell], right: Sequence[Cell] | float, root: Path, stream: int = 0
) -> Difference | None:
    """Compare two places on the seeds that both have; `None` if there is no such seed.

    Args:
        left: cells of a place, one per seed.
        right: those of the other, or a number.
        root: folder of the results.
        stream: of resampling, see `nat.measures.significance.resampled_differences`.

    Raises:
        UserError: for damaged files, and translations that do not fit their scores.
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
    resampled, interval = None, None
    if number > 1:
        interval = interval_over_seeds(by_seed)
    else:
        resampled = _resampled(*found[0][0], root, stream)
        if resampled is not None:
            interval = percentile_interval(by_seed[0], resampled)
    return Difference(
        left=sum(first for _, first, _ in found) / number,
        right=sum(second for _, _, second in found) / number,
        by_seed=by_seed,
        resampled=resampled,
        interval=interval,
        sources=tuple(cell.score_path for pair, _, _ in found for cell in pair),
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
        interval = Interval(
            by_seed[0],
            only.low - number,
            only.high - number,
            f"bootstrap, {bleu.BOOTSTRAP_SAMPLES:,} samples",
        )
    return Difference(
        left=sum(value.value for _, value in found) / len(found),
        right=number,
        by_seed=by_seed,
        resampled=None,
        interval=interval,
        sources=tuple(cell.score_path for cell, _ in found),
    )


def combined(
    found: Sequence[Difference], of: Callable[[Sequence[float]], float]
) -> Interval | None:
    """The interval of a number that is made of several differences.

    Args:
        found: the differences, on the same seeds, or resampled with different streams.
        of: makes one number of them.
    """
    value = of([each.value for each in found])
    seeds = min(len(each.by_seed) for each in found)
    if seeds > 1 and all(len(each.by_seed) == seeds for each in found):
        made = [of(row) for row in zip(*(each.by_seed for each in found), strict=True)]
        return interval_over_seeds(made)
    samples = [each.resampled for each in found if each.resampled is not None]
    if len(samples) < len(found):
        return None
    return percentile_interval(value, np.array([of(row) for row in np.stack(samples, axis=1)]))


def can_be_resampled(measure: str) -> bool:
    """Whether differences of a measure get an interval from translations."""
    return measure in RESAMPLED or measure.startswith(BUCKET)


def _resampled(left: Cell, right: Cell, root: Path, stream: int) -> np.ndarray | None:
    one_test_set = (left.corpus, left.split, left.measure) == (
        right.corpus,
        right.split,
        right.measure,
    )
    if not one_test_set:
        return None
    if left.source not in (SCORE, TRAINING):
        return _resampled_shares(left, right, root, stream)
    if not can_be_resampled(left.measure):
        return None
    if not all((root / cell.hypotheses_path).exists() for cell in (left, right)):
        return None
    baseline, metric = translations(right, root)
    system, _ = translations(left, root)
    return resampled_differences(baseline, system, metric, stream=stream)[1]


def _resampled_shares(left: Cell, right: Cell, root: Path, stream: int) -> np.ndarray | None:
    found = [measured(cell, root) for cell in (left, right)]
    hits = [each.hits for each in found if each is not None and each.hits]
    if len(hits) < 2 or len(hits[0]) != len(hits[1]):
        return None
    return resampled_share_differences(hits[1], hits[0], stream=stream)


def translations(cell: Cell, root: Path) -> tuple[list[str], BLEU]:
    """The translations of a cell and the metric that holds the references it was scored with.

    Of a measure of part of the test set, only those of that part.

    Raises:
        UserError: if translations and references do not belong together.
    """
    path = root / cell.score_path
    score = read_score(path)
    rows = list(read_in_order(root / cell.hypotheses_path))
    side = "reference" if cell.measure == "sacrebleu" else "tokens"
    try:
        reference = root / score["files"][side]["path"]
        source = score["files"].get("source_tokens", {}).get("path")
        lowercase = bool(score["lowercase"])
    except (AttributeError, KeyError, TypeError) as error:
        raise UserError(f"{path} is not a score file; remove it and run again") from error
    lines = list(read_lines(reference))
    if len(lines) != len(rows):
        raise UserError(
            f"{root / cell.hypotheses_path} has {len(rows)} translations but {reference} has "
            f"{len(lines)} sentences; remove {path} and run again"
        )
    references = [[line] for line in lines]
    if cell.measure == "sacrebleu":
        return [row["text"] for row in rows], bleu.sacrebleu_metric(references, lowercase)
    chosen: Sequence[int] = range(len(rows))
    if cell.measure != "tokenised_bleu":
        parts = sentences_by_length(lines, None if source is None else root / source)
        chosen = parts[cell.measure]
    words = [merge(rows[number]["tokens"]) for number in chosen]
    return words, bleu.tokenised_metric([references[number] for number in chosen])
