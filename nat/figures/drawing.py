"""What the painters of panels share: sizes, colours, and a panel with its records."""

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from nat.figures.points import Plot
from nat.measures.known import MEASURES
from nat.papers.cells import QUOTED
from nat.papers.description import Part
from nat.papers.values import Record

# Okabe and Ito's colours, which colour-blind readers tell apart; markers differ as well.
COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00"),
    *("#6A3D9A", "#8C6D31"),
)
MARKERS = ("o", "D", "s", "^", "v", "P", "<", ">")
GREY = "#555555"
# All lengths in inches, font sizes in points. A paper scales a figure of one panel to its column,
# 240 points, and one of two panels to its text, 505: then no font is smaller than 6 points.
COLUMN_WIDTH, PAGE_WIDTH, PANEL_HEIGHT = 4.7, 9.7, 2.8
LABEL_SIZE = 9.0
CHARACTER = 0.6 * LABEL_SIZE / 72
"""Width of a character: that of the font of one width, and enough for most texts in the other."""


@dataclass(frozen=True)
class Panel:
    """A panel of a figure, by its label."""

    plot: Plot
    label: str

    @property
    def description(self) -> Part:
        """Of the figure."""
        return self.plot.description

    @cached_property
    def records(self) -> list[Record]:
        """One for each point."""
        return [record for record in self.plot.records if record["column"] == self.label]

    @cached_property
    def ran(self) -> list[Record]:
        """Records with a number of ours."""
        return [record for record in self.records if record["status"] == "run"]

    @cached_property
    def published(self) -> list[Record]:
        """Records whose published value is drawn: comparable, and beside a number of ours.

        A scatter plot draws it without one as well, but none at all beside a stand-in.
        """
        keys, states, shown = ["published"], ["run"], self.records
        if self.description.kind == "scatter":
            keys, states = [*keys, "x_published"], ["run", QUOTED]
            shown = [] if any(record["stand_in"] for record in shown) else shown
        return [
            record
            for record in shown
            if record["status"] in states and not record["stand_in"]
            if all(isinstance(record[key], int | float) for key in keys)
        ]

    @property
    def measure(self) -> str:
        """What the vertical axis shows."""
        if self.description.kind == "curves":
            return "validation BLEU"
        measures = [MEASURES[record["measure"]] for record in self.records]
        name = measures[0].label if measures else ""
        if len({each.label for each in measures}) > 1:
            # the common part of the bars of a panel is before the comma
            name = name.split(",")[0] + (" (%)" if measures[0].unit == "%" else "")
        differs = any(record["over"] for record in self.records) and not measures[0].relative
        return f"gain in {name}" if differs else name

    def series(self) -> Iterator[tuple[str, str | None, str, str, list[Record], list[Record]]]:
        """Name, style, colour and marker of each series, its records that ran, and published."""
        for number, (name, style) in enumerate(self.plot.figure.series.items()):
            ran, published = (
                [record for record in records if record["row"] == name]
                for records in (self.ran, self.published)
            )
            yield name, style, *look(number), ran, published


def look(number: int) -> tuple[str, str]:
    """Colour and marker of a series; another pair for each of the first 64."""
    rounds, place = divmod(number, len(COLOURS))
    return COLOURS[place], MARKERS[(place + rounds) % len(MARKERS)]


def band(record: Record) -> tuple[float, float]:
    """One standard deviation where there are several numbers, else the bootstrap interval."""
    value, spread = record["ours"], record["spread"]
    if spread is not None:
        return value - spread, value + spread
    return (value, value) if record["low"] is None else (record["low"], record["high"])


def wrap(text: str, characters: int) -> str:
    """Break a text into lines of so many characters."""
    return "\n".join(textwrap.wrap(text, characters, break_on_hyphens=False))


def ticks(axes: Axes, places: list[Any], names: list[str]) -> None:
    """Write names at places of the horizontal axis, upright if they need it; no other ticks."""
    axes.xaxis.set_major_locator(FixedLocator(places))
    axes.xaxis.set_major_formatter(FixedFormatter(names))
    axes.xaxis.set_minor_locator(NullLocator())
    needed = CHARACTER * len(names) * (1 + max(map(len, names), default=0))
    axes.tick_params(
        axis="x", labelsize=LABEL_SIZE, rotation=90 if needed > COLUMN_WIDTH - 1 else 0
    )
