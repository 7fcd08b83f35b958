"""The notes below a figure: what its marks mean, and what is missing or not as it should be."""

from typing import Any

from nat.figures.drawing import Panel
from nat.figures.points import Plot
from nat.papers import values
from nat.papers.cells import QUOTED
from nat.papers.reader import NOT_RUN
from nat.papers.values import Record

OF_TEXTS = ("alignment", "steps")
"""Kinds that show texts, across the page."""
MARKS = {"bars": "Black lines", "scatter": "Thin lines"}
"""Marks of intervals; in other kinds, bands."""


def notes(plot: Plot) -> list[str]:
    """Make the notes of a figure."""
    ran = [record for record in plot.records if record["status"] == "run"]
    kind, shown = plot.description.kind, [Panel(plot, label) for label in plot.figure.columns]
    lines = []
    if kind == "steps" and ran:
        lines = ["Tinted: chosen in this pass; black: kept from an earlier pass; dots: masked."]
    elif kind == "alignment" and ran:
        moved = any(record["y"] not in (None, record["x"]) for record in ran)
        lines = [f"Coloured lines: to another position{'.' if moved else '; none here.'}"]
    elif kind not in (*OF_TEXTS, "heat_map", "contour"):  # colours have no intervals
        lines = _intervals(MARKS.get(kind, "Bands"), ran)
    lines += values.notes_on_times(ran)
    if not plot.figure.keys:  # the remark of an analysis is its caption
        points = [
            {**record, "row": ", ".join(filter(None, (record["row"], record["category"])))}
            for record in ran
        ]
        remarks = [(point, point["remark"]) for point in points if point.get("remark")]
        unsteady = [(point, values.NOT_STEADY) for point in points if point.get(values.UNSTEADY)]
        lines += values.with_places(remarks + unsteady, points)
    lines += values.not_comparable(plot.records)
    if not all(panel.published.empty for panel in shown):
        lines.append("Hollow markers: published values.")
    if any(record["collapsed"] for record in ran):
        lines.append("Black cross: the training collapsed.")
    lines += _missing(shown)
    if lost := sum(int(record["not_decoded"]) for record in ran):
        lines.append(f"{lost} sentences were not decoded and scored as empty.")
    return lines + list(plot.description.notes)


def _intervals(marks: str, ran: list[Record]) -> list[str]:
    """Say what the marks around points mean, of scatter plots along both axes."""
    lines, others = [], f"{marks}, one seed"
    if spread := [record for record in ran if record["spread"] is not None]:
        lines = [f"{marks}: one standard deviation over {values.what_spreads_are_over(spread)}."]
        others = f"Other {marks.lower()}"
    shown: list[dict[str, Any]] = [
        {"measure": record["x_measure"], "over": record["x_over"]}
        for record in ran
        if record.get("x_low") is not None
    ]
    shown += [record for record in ran if record["low"] is not None]
    return lines + values.what_intervals_are(others, shown)


def _missing(panels: list[Panel]) -> list[str]:
    """Say which series lack points, by their state, and in which panels."""
    missing: dict[str, dict[str, list[str]]] = {}
    for panel in panels:
        if panel.ran.empty and not panel.points.empty:
            state = values.missing_state(panel.points.to_dict("records"))  # type: ignore[arg-type]
            missing.setdefault(state, {})[f"all of {panel.label}"] = []
            continue
        points = panel.points[~panel.points["status"].isin(["run", QUOTED])]
        for series, state in points[["row", "status"]].drop_duplicates().itertuples(index=False):
            missing.setdefault(state, {}).setdefault(series, []).append(panel.label)
    if [*missing] == [NOT_RUN] and all(panel.ran.empty for panel in panels):
        return ["Nothing of this figure was run."]
    lines = []
    for state, places in missing.items():
        state, _, why = state.partition(": ")
        named = (f"{each} ({'; '.join(at)})" if at else each for each, at in places.items())
        because = f": {why}" if why else ""
        lines.append(f"{state[0].upper()}{state[1:]}: {'; '.join(named)}{because}.")
    return lines
