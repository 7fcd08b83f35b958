"""Verdicts on a claim from the intervals of the differences that it is about.

A claim says that a difference lies in a region, such as above zero; docs/papers.md has the
verdicts. The region of equivalence is the margin on both sides of zero (two one-sided tests,
Schuirmann 1987).

A claim about n differences says that at least u of them lie in their regions. By the partial
conjunction test of Benjamini and Heller (2008) it holds if u intervals of the level
`LEVEL` / (n - u + 1) lie inside, and likewise does not hold if n - u + 1 intervals of the level
`LEVEL` / u lie outside.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import pandas as pd

from nat.measures.significance import LEVEL, Interval

HOLDS, FAILS, UNDECIDED = "holds", "does not hold", "undecided"
Region: TypeAlias = "pd.Interval[Any]"
"""The differences at which a claim is true."""


def region(relation: str, margin: float) -> Region:
    """The differences left - right at which a relation is true."""
    ends = {
        "above": (margin, math.inf),
        "below": (-math.inf, -margin),
        "not_above": (-math.inf, margin),
        "not_below": (-margin, math.inf),
        "about": (-margin, margin),
    }
    return pd.Interval(*ends[relation], "neither" if relation in ("above", "below") else "both")


def states_an_effect(relation: str, margin: float) -> bool:
    """Tell whether a relation states the size of a difference, or its margin is a tolerance.

    So do `above` and `below` with a margin, and `not_above` and `not_below` with a negative one.
    """
    return margin > 0 if relation in ("above", "below") else margin < 0


@dataclass(frozen=True)
class Judged:
    """A difference that a claim is about.

    Its interval has the confidence 1 - the argument; `None` if nothing is known of its spread.
    """

    region: Region
    interval: Callable[[float], Interval | None]

    def verdict(self, level: float) -> str:
        """The verdict of its interval of a level on it alone."""
        if (interval := self.interval(level)) is None:
            return UNDECIDED
        between: Region = pd.Interval(interval.low, interval.high, "both")
        if between in self.region:
            return HOLDS
        return UNDECIDED if between.overlaps(self.region) else FAILS


def verdict(judged: Sequence[Judged], needed: int) -> str:
    """The verdict on a claim of which `needed` differences must lie in their regions."""
    others = len(judged) - needed + 1
    if sum(each.verdict(LEVEL / others) == HOLDS for each in judged) >= needed:
        return HOLDS
    if sum(each.verdict(LEVEL / needed) == FAILS for each in judged) >= others:
        return FAILS
    return UNDECIDED


def detectable(judged: Sequence[Judged], needed: int) -> float | None:
    """The smallest distance from its region's bound that so many tests could have seen.

    `None` if nothing is known of the spread of a difference.
    """
    intervals = [each.interval(LEVEL) for each in judged]
    known = sorted(each.detectable for each in intervals if each is not None)
    return known[needed - 1] if len(known) == len(intervals) else None
