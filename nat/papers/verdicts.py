"""Verdicts on a claim from the intervals of the differences that it is about.

A claim says that a difference lies in a region, such as above zero. It *holds* if the interval of
the difference lies inside the region, *does not hold* if the interval lies outside, and is
*undecided* if it is partly inside: then the test could not tell. Equivalence is tested in the same
way: its region is the margin on both sides of zero (two one-sided tests, Schuirmann 1987).

A claim about n differences says that at least u of them lie in their regions. By the partial
conjunction test of Benjamini and Heller (2008) it holds if u intervals of the level
`LEVEL` / (n - u + 1) lie inside, and likewise does not hold if n - u + 1 intervals of the level
`LEVEL` / u lie outside.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nat.measures.significance import LEVEL, Interval

HOLDS, FAILS, UNDECIDED = "holds", "does not hold", "undecided"


@dataclass(frozen=True)
class Region:
    """The differences at which a claim is true."""

    low: float
    high: float
    closed: bool

    def contains(self, value: float) -> bool:
        """Tell whether a difference lies inside."""
        if self.closed:
            return self.low <= value <= self.high
        return self.low < value < self.high

    def includes(self, interval: Interval) -> bool:
        """Tell whether all of an interval lies inside."""
        return self.contains(interval.low) and self.contains(interval.high)

    def excludes(self, interval: Interval) -> bool:
        """Tell whether all of an interval lies outside."""
        if self.closed:
            return interval.high < self.low or interval.low > self.high
        return interval.high <= self.low or interval.low >= self.high


def region(relation: str, margin: float) -> Region:
    """The differences left - right at which a relation is true."""
    return {
        "above": Region(margin, math.inf, closed=False),
        "below": Region(-math.inf, -margin, closed=False),
        "not_above": Region(-math.inf, margin, closed=True),
        "not_below": Region(-margin, math.inf, closed=True),
        "about": Region(-margin, margin, closed=True),
    }[relation]


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

    value: float
    region: Region
    interval: Callable[[float], Interval | None]


def verdict(judged: Sequence[Judged], needed: int) -> str:
    """The verdict on a claim of which `needed` differences must lie in their regions."""
    others = len(judged) - needed + 1
    inside = [(each.region, each.interval(LEVEL / others)) for each in judged]
    outside = [(each.region, each.interval(LEVEL / needed)) for each in judged]
    if sum(at is not None and region_.includes(at) for region_, at in inside) >= needed:
        return HOLDS
    if sum(at is not None and region_.excludes(at) for region_, at in outside) >= others:
        return FAILS
    return UNDECIDED


def detectable(judged: Sequence[Judged], needed: int) -> float | None:
    """The smallest distance from its region's bound that so many tests could have seen.

    `None` if nothing is known of the spread of a difference.
    """
    intervals = [each.interval(LEVEL) for each in judged]
    known = sorted(each.detectable for each in intervals if each is not None)
    return known[needed - 1] if len(known) == len(intervals) else None
