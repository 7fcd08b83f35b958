"""What the painters of panels share: sizes, colours, and the measuring of texts."""

from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextToPath
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from nat.measures.known import MEASURES
from nat.papers.values import Record

# Okabe and Ito's colours, which colour-blind readers tell apart; markers differ as well.
COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00"),
    *("#6A3D9A", "#8C6D31"),
)
MARKERS = {"o": "●", "D": "◆", "s": "■", "^": "▲", "v": "▼", "P": "✚", "<": "◀", ">": "▶"}
"""Markers of points, and as characters."""
GREY = "#555555"
FONT = "DejaVu Sans"
# All lengths in inches, font sizes in points. A paper scales a figure of one panel to its column,
# 240 points, and one of two panels to its text, 505: then no font is smaller than 6 points.
PANEL_WIDTH, PANEL_HEIGHT = 2.75, 2.6
LABEL_WIDTH = 1.4
LABEL_SIZE = 9.0
LINE_SPACING = 1.15
HINTED = 1.04
"""How much wider than measured a text is drawn at most, as glyphs end at whole pixels."""
_MEASURE = TextToPath()

Labels = list[tuple[float, str, str]]
"""Height in data coordinates, text and colour of what stands to the right of a panel."""


@dataclass(frozen=True)
class Panel:
    """What one panel shows: its records, and the figure's description and series with styles."""

    label: str
    description: Any
    series: dict[str, str | None]
    records: list[Record]
    content: dict[str, Any] | None = None
    """Parts of the analysis that the panel shows, by their names in the description."""
    limits: tuple[float, float] | None = None
    """Lowest and highest value of the figure's panels that show the same measure, if any."""
    upright: bool = False
    """Whether the names below the panels of the figure are upright."""

    @property
    def differences(self) -> bool:
        """Whether the values are differences between systems, not ratios."""
        relative = MEASURES[self.records[0]["measure"]].relative if self.records else False
        return not relative and any(record["over"] for record in self.records)


def look(number: int) -> tuple[str, str]:
    """Colour and marker of a series; another pair for each of the first 64."""
    rounds, place = divmod(number, len(COLOURS))
    return COLOURS[place], list(MARKERS)[(place + rounds) % len(MARKERS)]


def wrap(text: str, width: float, size: float, weight: str = "normal") -> list[str]:
    """Break a text into lines of at most `width` inches at a font size in points."""
    font = FontProperties(family=FONT, size=size, weight=weight)
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        # Extents come in points, 72 an inch.
        if _MEASURE.get_text_width_height_descent(longer, font, False)[0] * HINTED > width * 72:
            lines.append(word)
        else:
            lines[-1] = longer
    return [line for line in lines if line]


def width_of(text: str, size: float) -> float:
    """Width in inches of a text at a font size in points."""
    font = FontProperties(family=FONT, size=size)
    return float(_MEASURE.get_text_width_height_descent(text, font, False)[0]) / 72


def height(texts: list[str], size: float) -> float:
    """Height in inches of lines at a font size in points."""
    return len(texts) * size * LINE_SPACING * 1.2 / 72


def ticks(axes: Axes, places: list[float], names: list[str]) -> None:
    """Names at places of the horizontal axis, and no other ticks."""
    axes.xaxis.set_major_locator(FixedLocator(places))
    axes.xaxis.set_major_formatter(FixedFormatter(names))
    axes.xaxis.set_minor_locator(NullLocator())
