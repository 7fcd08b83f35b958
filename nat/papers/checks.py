"""Checks: what a claim compares, as cells, and what follows from that without results."""

from dataclasses import dataclass, replace

from nat.measures.known import AGAINST_ALL
from nat.papers.cells import Cell, Compared

MAJORITY = "majority"
TREND = {"rising": "above", "falling": "below", "flat": "about"}


@dataclass(frozen=True)
class Check:
    """One judgement: a claim, the case it is judged on, and what it compares, in order.

    Sides of `gains` are by turns those of a system and of the other one, of a `correlation` those
    of one measure and of the other, of a `majority` the left and the right one of each case.

    Attributes:
        share: whether the margin is a share of the right side.
        number: that the only side is compared with; None where sides are compared.
        against_all: whether BLEU against all references decides it, which is fixed before there are
            results. BLEU against one reference also depends on which of several correct
            translations that reference happens to be, so it is where all references are known.
            Exceptions are claims that state points of their own measure, comparisons with a number,
            and correlations.
    """

    claim: str
    case: str
    text: str
    source: str
    kind: str
    relation: str
    margin: float
    sides: tuple[Compared, ...]
    share: bool = False
    number: float | None = None
    against_all: bool = False

    @property
    def relations(self) -> str:
        """Relation of each difference of the check to its margin."""
        if self.kind in ("largest", "gains"):
            return "above"
        return TREND.get(self.relation, self.relation)

    @property
    def cells(self) -> list[Cell]:
        """All cells that it compares."""
        return [cell for side in self.sides for cell in (*side.own, *side.over)]

    @property
    def pairs(self) -> list[tuple[Compared, Compared | float]]:
        """The sides whose differences it is about; of a trend, last, also its ends.

        Those of a correlation do not form pairs.
        """
        sides = self.sides
        if self.kind == "compare":
            return [(sides[0], sides[1] if len(sides) > 1 else float(self.number or 0))]
        if self.kind == "trend":
            return [*zip(sides[1:], sides, strict=False), (sides[-1], sides[0])]
        if self.kind == "largest":
            named = next(side for side in sides if side.label == self.relation)
            return [(named, side) for side in sides if side is not named]
        return list(zip(sides[::2], sides[1::2], strict=True))

    @property
    def named_gain(self) -> int:
        """Which of the differences of `gains` is to be the largest."""
        return [side.label for side in self.sides[::2]].index(self.relation)


def decisive(check: Check) -> Check:
    """The same judgement by the measure that decides it, see `Check.against_all`."""
    if not check.against_all:
        return check
    own = (
        tuple(cell._replace(measure=AGAINST_ALL[cell.measure]) for cell in side.own)
        for side in check.sides
    )
    return replace(check, sides=tuple(map(Compared, own)))
