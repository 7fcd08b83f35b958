"""Figures as PDF, PNG and the CSV of the plotted points.

Eight kinds, most with a panel for each task: `lines` draws a measure against a number such as
decoding steps (a series of style `level` has one point and is drawn across the panel), `bars`
compares systems in named categories, `curves` follows trainings, one after the other where they
start from each other, `scatter` draws a measure against another, `heat_map` shows a matrix,
`contour` a measure on a plane. `alignment` and `steps` show texts: the lines between two of them,
and a decoding pass by pass.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib.figure import Figure

from nat.figures import maps, panels, word_panels
from nat.figures.drawing import (
    FONT,
    GREY,
    HINTED,
    LABEL_SIZE,
    LABEL_WIDTH,
    LINE_SPACING,
    PANEL_HEIGHT,
    PANEL_WIDTH,
    Panel,
    height,
    width_of,
    wrap,
)
from nat.figures.points import Plot
from nat.files import atomic_path
from nat.papers import values
from nat.papers.cells import QUOTED
from nat.papers.reader import NOT_RUN
from nat.papers.values import Record

STYLE: Any = {
    "font.size": 9.5,
    "font.family": "sans-serif",
    "font.sans-serif": [FONT],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": "#E4E4E4",
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": "black",
    "ytick.labelcolor": "black",
    "pdf.fonttype": 42,
    "text.usetex": False,
}
# All lengths in inches, font sizes in points.
YLABEL_WIDTH, XLABEL_HEIGHT, PANEL_TITLE_HEIGHT = 0.65, 0.55, 0.3
MARGIN, GAP, LEGEND_GAP = 0.15, 0.1, 0.2
TITLE_SIZE, ORIGIN_SIZE, NOTE_SIZE = 11.5, 10.0, 9.0
DOTS_PER_INCH = 160
OF_TEXTS = ("alignment", "steps")
"""Kinds that show texts, across the page."""


def write(plot: Plot, pdf: Path) -> None:
    """Write `pdf`, and PNG and CSV beside it; the same records give the same bytes."""
    with mpl.rc_context(STYLE):
        figure = draw(plot)
        for path, metadata in (
            (pdf.with_suffix(".png"), {"Software": None}),
            (pdf, {"CreationDate": None, "Producer": None, "Creator": None}),
        ):
            with atomic_path(path) as temporary:
                figure.savefig(
                    temporary, format=path.suffix[1:], dpi=DOTS_PER_INCH, metadata=metadata
                )
    with atomic_path(pdf.with_suffix(".csv")) as temporary:
        frame = pd.DataFrame(plot.records).rename(columns={"row": "series", "column": "panel"})
        frame = frame.drop(columns="group", errors="ignore").assign(made_from=plot.made_from)
        frame.to_csv(temporary, index=False, lineterminator="\n")


def draw(plot: Plot) -> Figure:
    """Draw a figure: title, panels (two a row) and notes from top to bottom."""
    shown = _panels(plot)
    upright = panels.upright(shown)
    shown = [replace(panel, upright=upright > 0) for panel in shown]
    kind = plot.description.kind
    columns, panel_width, right, heights = _sizes(kind, shown)
    below = GAP if kind in OF_TEXTS else XLABEL_HEIGHT + upright
    width = MARGIN + columns * (YLABEL_WIDTH + panel_width + right)
    text_width = width - 2 * MARGIN
    title = wrap(plot.title, text_width, TITLE_SIZE, "bold")
    origin = wrap(plot.origin, text_width, ORIGIN_SIZE)
    notes = wrap(" ".join(_notes(plot)), text_width, NOTE_SIZE)
    head = MARGIN + height(title, TITLE_SIZE) + GAP + height(origin, ORIGIN_SIZE) + GAP
    names = _rows(panels.legend(shown), text_width) if kind == "scatter" else []
    foot = MARGIN + height(notes, NOTE_SIZE) + GAP + height([""] * len(names), LABEL_SIZE)
    page = head + sum(PANEL_TITLE_HEIGHT + tall + below for tall in heights) + foot
    figure = Figure(figsize=(width, page))
    for number, panel in enumerate(shown):
        row, column = divmod(number, columns)
        left = MARGIN + column * (YLABEL_WIDTH + panel_width + right) + YLABEL_WIDTH
        before = sum(PANEL_TITLE_HEIGHT + tall + below for tall in heights[:row])
        top = page - head - before - PANEL_TITLE_HEIGHT
        box = (left / width, (top - heights[row]) / page)
        axes = figure.add_axes((*box, panel_width / width, heights[row] / page))
        panels.paint(axes, panel)
    top = page - MARGIN
    styles: tuple[tuple[list[str], float, dict[str, Any]], ...] = (
        (title, TITLE_SIZE, {"fontweight": "bold"}),
        (origin, ORIGIN_SIZE, {"color": GREY}),
    )
    for texts, size, style in styles:
        figure.text(
            MARGIN / width,
            top / page,
            "\n".join(texts),
            ha="left",
            va="top",
            fontsize=size,
            linespacing=LINE_SPACING,
            **style,
        )
        top -= height(texts, size) + GAP
    for number, line in enumerate(reversed(names)):
        bottom = MARGIN + height(notes, NOTE_SIZE) + GAP + height([""] * number, LABEL_SIZE)
        for left, name, colour in line:
            place = (MARGIN + left) / width, bottom / page
            figure.text(*place, name, ha="left", va="bottom", fontsize=LABEL_SIZE, color=colour)
    figure.text(
        MARGIN / width,
        MARGIN / page,
        "\n".join(notes),
        ha="left",
        va="bottom",
        fontsize=NOTE_SIZE,
        color=GREY,
        linespacing=LINE_SPACING,
    )
    return figure


def _sizes(kind: str, shown: Sequence[Panel]) -> tuple[int, float, float, list[float]]:
    """Panels in a row, the width of each and of what is to its right, and the height of each row.

    Series of scatter plots are named below all panels, so nothing is to the right. A heat map that
    has more names than fit below a panel takes a row.
    """
    if kind in OF_TEXTS:
        return 1, word_panels.WIDTH, MARGIN, [word_panels.height_of(panel) for panel in shown]
    columns, width, right, tall = min(len(shown), 2), PANEL_WIDTH, LABEL_WIDTH, PANEL_HEIGHT
    if kind == "scatter":
        width, right = PANEL_WIDTH + LABEL_WIDTH - MARGIN, MARGIN
    elif kind == "heat_map":
        width, tall = (max(sides) for sides in zip(*map(maps.size, shown), strict=True))
        columns = columns if width == PANEL_WIDTH else 1
    return columns, width, right, [tall] * math.ceil(len(shown) / columns)


def _panels(plot: Plot) -> list[Panel]:
    return [
        Panel(
            name,
            plot.description,
            plot.series,
            [record for record in plot.records if record["column"] == name],
            plot.contents.get(name),
            _limits(plot.records, name),
        )
        for name in plot.panels
    ]


def _rows(legend: Sequence[tuple[str, str]], width: float) -> list[list[tuple[float, str, str]]]:
    """Names in rows of at most this width, inches: where each begins, the name and its colour."""
    rows: list[list[tuple[float, str, str]]] = []
    left = 0.0
    for name, colour in legend:
        wide = HINTED * width_of(name, LABEL_SIZE)
        if not rows or left + wide > width:
            rows.append([])
            left = 0.0
        rows[-1].append((left, name, colour))
        left += wide + LEGEND_GAP
    return rows


def _limits(records: list[Record], panel: str) -> tuple[float, float] | None:
    """Lowest and highest value of a panel and of those with the same measure; None without one."""
    measures = {record["measure"] for record in records if record["column"] == panel}
    found = [
        record["ours"]
        for record in records
        if record["measure"] in measures and record["status"] == "run"
        if record["ours"] is not None
    ]
    return (min(found), max(found)) if found else None


def _notes(plot: Plot) -> list[str]:
    notes = []
    ran = [record for record in plot.records if record["status"] == "run"]
    kind = plot.description.kind
    if kind in OF_TEXTS:
        notes += [_marks(plot)] if ran else []
    elif kind not in ("heat_map", "contour"):  # colours have no intervals
        notes += _intervals(kind, ran)
    notes += values.notes_on_times(ran) + _cautions(plot)
    notes += values.not_comparable(plot.records)
    # beside a stand-in the painter of scatter plots leaves out published values
    shown = [each for each in _panels(plot) if kind != "scatter" or panels.comparable(each)]
    if any(panels.shows_published(record) for panel in shown for record in panel.records):
        notes.append("Hollow markers: published values.")
    if any(record["collapsed"] for record in ran):
        notes.append("Black cross: the training collapsed.")
    missing_points = _missing(plot)
    if not ran and list(missing_points) == [(NOT_RUN, "")]:
        notes.append("Nothing of this figure was run.")
        missing_points = {}
    for (state, why), missing in missing_points.items():
        named = (
            f"{each} ({'; '.join(where)})" if where else each for each, where in missing.items()
        )
        found = f"{state[0].upper()}{state[1:]}: {'; '.join(named)}"
        notes.append(f"{found}: {why}." if why else f"{found}.")
    lost = sum(int(record["not_decoded"]) for record in ran)
    if lost:
        notes.append(f"{lost} sentences were not decoded and scored as empty.")
    return notes + _coinciding(plot) + list(plot.description.notes)


def _cautions(plot: Plot) -> list[str]:
    """Of which points a number does not rest on all that it should, or is not steady."""
    if plot.description.keys:  # of one sentence or one analysis, whose remark is its caption
        return []
    points = []
    for record in plot.records:
        name = f"{record['row']}, {record['category']}" if record["category"] else record["row"]
        points.append({**record, "row": name})
    ran = [point for point in points if point["status"] == "run"]
    remarks = [(point, point["remark"]) for point in ran if point.get("remark")]
    unsteady = [(point, values.NOT_STEADY) for point in ran if point.get(values.UNSTEADY)]
    return values.with_places(remarks + unsteady, ran)


def _marks(plot: Plot) -> str:
    """What the marks of texts mean."""
    if plot.description.kind == "steps":
        return "Tinted: chosen in this pass; black: kept from an earlier pass; dots: masked."
    moved = any(record["y"] not in (None, record["x"]) for record in plot.records if "y" in record)
    return f"Coloured lines: to another position{'.' if moved else '; none here.'}"


def _intervals(kind: str, ran: list[Record]) -> list[str]:
    """What the marks around points mean, of scatter plots along both axes."""
    marks = {"bars": "Black lines", "scatter": "Thin lines"}.get(kind, "Bands")
    notes, others = [], f"{marks}, one seed"
    spread = [record for record in ran if record["spread"] is not None]
    if spread:
        notes = [f"{marks}: one standard deviation over {values.what_spreads_are_over(spread)}."]
        others = f"Other {marks.lower()}"
    shown = [
        {"measure": record["x_measure"], "over": record["x_over"]}
        for record in ran
        if record.get("x_low") is not None
    ]
    shown += [record for record in ran if record["low"] is not None]
    return notes + values.what_intervals_are(others, shown)


def _coinciding(plot: Plot) -> list[str]:
    """Which curves look like one."""
    if plot.description.kind != "lines":
        return []
    found = [
        f"{', '.join(names)} ({panel.label})"
        for panel in _panels(plot)
        for names in panels.coinciding(panel)
    ]
    return [f"Curves that coincide: {'; '.join(found)}."] if found else []


def _missing(plot: Plot) -> dict[tuple[str, str], dict[str, list[str]]]:
    """What has no number, by its state and the reason: points of series, and in which panels."""
    records = plot.records
    found: dict[tuple[str, str], dict[str, list[str]]] = {}
    for panel in dict.fromkeys(record["column"] for record in records):
        inside = [record for record in records if record["column"] == panel]
        if all(record["status"] != "run" for record in inside):
            found.setdefault((values.missing_state(inside), ""), {})[f"all of {panel}"] = []
            continue
        for series in dict.fromkeys(record["row"] for record in inside):
            points: dict[str, list[str]] = {}
            for record in inside:
                if record["row"] == series and record["status"] not in ("run", QUOTED):
                    place = "" if record["x"] is None else f"{record['x']:g}"
                    points.setdefault(record["status"], []).append(record["category"] or place)
            for state, names in points.items():
                between = " and " if any("," in name for name in names) else ", "
                state, _, why = state.partition(": ")
                missing = found.setdefault((state, why), {})
                numbered = all(name.replace(".", "", 1).isdigit() for name in names)
                axis = f"{plot.description.x.label} " if numbered else ""
                at = f" at {axis}{between.join(names)}" if any(names) else ""
                missing.setdefault(f"{series}{at}", []).append(panel)
    return found
