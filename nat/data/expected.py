"""Sizes that the file of a corpus expects after each step, to find a mistake before a training."""

from collections.abc import Mapping
from pathlib import Path

from nat.data.corpus import Corpus, SizeAbout, Step
from nat.data.splits import TRAIN
from nat.errors import UserError


def check_expected(corpus: Corpus, step: Step, counts: Mapping[str, int], folder: Path) -> None:
    """Compare the counts of a step, made in a folder, with those of the corpus file.

    Raises a `UserError` for the first outside its tolerance, or if no training pair is left.
    """
    if counts.get(TRAIN) == 0:
        options = corpus.preprocessing
        raise UserError(
            f"{folder}: no training pair is left with preprocessing.max_tokens "
            f"{options.max_tokens} and preprocessing.max_ratio {options.max_ratio:g}; widen them"
        )
    due = corpus.expected.get(step, {})
    for name in (name for name in due if name in counts):
        size = due[name]
        number, tolerance = (
            (size.about, size.tolerance) if isinstance(size, SizeAbout) else (size, 0)
        )
        if abs(counts[name] - number) > tolerance * number:
            margin = f" plus or minus {100 * tolerance:g} %" if tolerance else ""
            raise UserError(
                f"{folder}: {name} is {counts[name]:,} where 'expected.{step}.{name}' of the "
                f"corpus file says {number:,}{margin}; look for a mistake in the preprocessing or "
                "the downloads, or correct the key"
            )
