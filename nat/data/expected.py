"""Checks of the sizes of a corpus after each step.

A mistake in the preparation is noticed here, before a model is trained on the text.
"""

from collections.abc import Mapping
from pathlib import Path

from nat.data.corpus import About, Corpus, Step
from nat.data.splits import TRAIN
from nat.errors import UserError


def check_expected(corpus: Corpus, step: Step, found: Mapping[str, int], folder: Path) -> None:
    """Compare the counts of a step with `expected` in the corpus file.

    Args:
        corpus: the corpus. A number of `expected` is exact, or has a `tolerance`: the share of it
            by which the count may differ.
        step: `text`, `clean`, `tokens` (pairs of each split) or `vocabulary` (symbols).
        found: counts by split; for the vocabulary under `size`, or `source` and `target`.
        folder: of the step, for the message.

    Raises:
        UserError: for the first count outside its tolerance, or if no training pair is left.
    """
    if found.get(TRAIN) == 0:
        limits = corpus.preprocessing.max_tokens, corpus.preprocessing.max_ratio
        raise UserError(
            f"{folder}: no training pair is left with preprocessing.max_tokens {limits[0]} and "
            f"preprocessing.max_ratio {limits[1]:g}; widen these limits"
        )
    for name, due in corpus.expected.after(step).items():
        number, tolerance = (due.about, due.tolerance) if isinstance(due, About) else (due, 0)
        if abs(found[name] - number) > tolerance * number:
            margin = f" plus or minus {100 * tolerance:g} %" if tolerance else ""
            raise UserError(
                f"{folder}: {name} is {found[name]:,} where 'expected.{step}.{name}' of the corpus "
                f"file says {number:,}{margin}; look for a mistake in the preprocessing or "
                "the downloads, or correct the key"
            )
