"""Sizes, colours, and a panel with its points, which the painters share."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from nat.figures.points import Plot
from nat.measures.known import MEASURES
from nat.papers.cells import QUOTED
from nat.papers.description import PaperPart

# Okabe and Ito's colours, which colour-blind readers tell apart; markers differ as well.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#6A3D9A", "#8C6D31")
MARKERS = ("o", "D", "s", "^", "v", "P", "<", ">")
GREY = "#555555"
# All lengths in inches, font sizes in points. A paper scales a figure of one panel to its column,
# 240 points, and one of two panels to its text, 505: then no font is smaller than 6 points.
COLUMN_WIDTH, PAGE_WIDTH, PANEL_HEIGHT = 4.7, 9.7, 2.8
LABEL_SIZE = 9.0
CHARACTER = 0.6 * LABEL_SIZE / 72
"""Width of a character: that of the font of one width, and enough for most texts in the other."""


class Series(NamedTuple):
    """A series of a panel: how it looks, its points that ran, and those with a published value.

    Both frames have the columns of the CSV, and `bottom` and `top`, the ends of the interval.
    """

    name: str
    style: str | None
    colour: str
    marker: str
    ran: pd.DataFrame
    published: pd.DataFrame


@dataclass(frozen=True)
class Panel:
    """A panel of a figure, by its label."""

    plot: Plot
    label: str

    @property
    def description(self) -> PaperPart:
        """Description of the figure."""
        return self.plot.figure.described

    @cached_property
    def points(self) -> pd.DataFrame:
        """All its points, in order."""
        return self.plot.frame[self.plot.frame["column"] == self.label]

    @cached_property
    def ran(self) -> pd.DataFrame:
        """Points with a number of ours.

        An interval is one standard deviation where there are several numbers, else the bootstrap
        interval.
        """
        ran = self.points[self.points["status"] == "run"]
        ours, spread = ran["ours"], ran["spread"]
        bottom, top = (ours - spread).fillna(ran["low"]), (ours + spread).fillna(ran["high"])
        return ran.assign(bottom=bottom.fillna(ours), top=top.fillna(ours))

    @cached_property
    def published(self) -> pd.DataFrame:
        """Points whose published value is drawn: comparable, and beside a number of ours.

        A scatter plot draws it without one as well, but none at all beside a stand-in.
        """
        points = self.points[self.points["published"].notna()]
        if self.description.kind != "scatter":
            return points[(points["stand_in"] == "") & (points["status"] == "run")]
        if (self.points["stand_in"] != "").any():
            return points.iloc[:0]
        return points[points["status"].isin(["run", QUOTED]) & points["x_published"].notna()]

    @property
    def empty(self) -> bool:
        """True if no point of it is drawn."""
        return self.ran.empty and self.published.empty

    @property
    def measure(self) -> str:
        """Name of what the vertical axis shows."""
        if self.description.kind == "curves":
            return "validation BLEU"
        measures = [MEASURES[name] for name in self.points["measure"].unique()]
        name = measures[0].label
        if len({each.label for each in measures}) > 1:
            # the common part of the bars of a panel is before the comma
            name = name.split(",")[0] + (" (%)" if measures[0].unit == "%" else "")
        differs = (self.points["over"] != "").any() and not measures[0].relative
        return f"gain in {name}" if differs else name

    def series(self) -> Iterator[Series]:
        """Series of the figure with their points in this panel."""
        for number, (name, line) in enumerate(self.plot.figure.rows.items()):
            style = "joined" if line.joined else line.style
            own = (each[each["row"] == name] for each in (self.ran, self.published))
            yield Series(name, style, *look(number), *own)


def look(number: int) -> tuple[str, str]:
    """Colour and marker of a series; another pair for each of the first 64."""
    rounds, place = divmod(number, len(COLOURS))
    return COLOURS[place], MARKERS[(place + rounds) % len(MARKERS)]


def ticks(axes: Axes, places: list[Any], names: list[str]) -> None:
    """Write names at places of the horizontal axis, upright if they need it; no other ticks."""
    axes.set_xticks(places, names)
    axes.xaxis.set_minor_locator(NullLocator())
    needed = CHARACTER * len(names) * (1 + max(map(len, names), default=0))
    upright = 90 if needed > COLUMN_WIDTH - 1 else 0
    axes.tick_params(axis="x", labelsize=LABEL_SIZE, rotation=upright)
