"""The notes below a figure: what its marks mean, and what is missing or not as it should be."""

from typing import Any

from nat.figures import panels
from nat.figures.drawing import Panel
from nat.figures.points import Plot
from nat.papers import values
from nat.papers.cells import QUOTED
from nat.papers.reader import NOT_RUN
from nat.papers.values import Record

OF_TEXTS = ("alignment", "steps")
"""Kinds that show texts, across the page."""


def notes(plot: Plot) -> list[str]:
    """Make the notes of a figure."""
    ran = [record for record in plot.records if record["status"] == "run"]
    kind, shown = plot.description.kind, [Panel(plot, label) for label in plot.figure.panels]
    found = []
    if kind == "steps" and ran:
        found = ["Tinted: chosen in this pass; black: kept from an earlier pass; dots: masked."]
    elif kind == "alignment" and ran:
        moved = any(record["y"] not in (None, record["x"]) for record in ran)
        found = [f"Coloured lines: to another position{'.' if moved else '; none here.'}"]
    elif kind not in (*OF_TEXTS, "heat_map", "contour"):  # colours have no intervals
        found = _intervals(kind, ran)
    found += values.notes_on_times(ran) + _cautions(plot, ran)
    found += values.not_comparable(plot.records)
    if any(panel.published for panel in shown):
        found.append("Hollow markers: published values.")
    if any(record["collapsed"] for record in ran):
        found.append("Black cross: the training collapsed.")
    found += _missing(plot)
    lost = sum(int(record["not_decoded"]) for record in ran)
    if lost:
        found.append(f"{lost} sentences were not decoded and scored as empty.")
    if kind == "lines":
        alike = [(panel.label, names) for panel in shown for names in panels.coinciding(panel)]
        same = "; ".join(f"{', '.join(names)} ({label})" for label, names in alike)
        found += [f"Curves that coincide: {same}."] if same else []
    return found + list(plot.description.notes)


def _cautions(plot: Plot, ran: list[Record]) -> list[str]:
    """Of which points a number does not rest on all that it should, or is not steady."""
    if plot.figure.keys:  # of one sentence or one analysis, whose remark is its caption
        return []
    points = [
        {**record, "row": ", ".join(filter(None, (record["row"], record["category"])))}
        for record in ran
    ]
    remarks = [(point, point["remark"]) for point in points if point.get("remark")]
    unsteady = [(point, values.NOT_STEADY) for point in points if point.get(values.UNSTEADY)]
    return values.with_places(remarks + unsteady, points)


def _intervals(kind: str, ran: list[Record]) -> list[str]:
    """What the marks around points mean, of scatter plots along both axes."""
    marks = {"bars": "Black lines", "scatter": "Thin lines"}.get(kind, "Bands")
    found, others = [], f"{marks}, one seed"
    spread = [record for record in ran if record["spread"] is not None]
    if spread:
        found = [f"{marks}: one standard deviation over {values.what_spreads_are_over(spread)}."]
        others = f"Other {marks.lower()}"
    shown: list[dict[str, Any]] = [
        {"measure": record["x_measure"], "over": record["x_over"]}
        for record in ran
        if record.get("x_low") is not None
    ]
    shown += [record for record in ran if record["low"] is not None]
    return found + values.what_intervals_are(others, shown)


def _missing(plot: Plot) -> list[str]:
    """What has no number, by its state and the reason: points of series, and in which panels."""
    found: dict[str, dict[str, list[str]]] = {}
    for panel in (Panel(plot, label) for label in plot.figure.panels):
        if panel.records and not panel.ran:
            found.setdefault(values.missing_state(panel.records), {})[f"all of {panel.label}"] = []
            continue
        points: dict[tuple[str, str], list[str]] = {}
        for record in panel.records:
            if record["status"] not in ("run", QUOTED):
                place = "" if record["x"] is None else f"{record['x']:g}"
                key = record["row"], record["status"]
                points.setdefault(key, []).append(record["category"] or place)
        for (series, state), names in points.items():
            between = " and " if any("," in name for name in names) else ", "
            numbered = all(name.replace(".", "", 1).isdigit() for name in names)
            axis = f"{plot.description.x.label} " if numbered else ""
            at = f" at {axis}{between.join(names)}" if any(names) else ""
            found.setdefault(state, {}).setdefault(f"{series}{at}", []).append(panel.label)
    if [*found] == [NOT_RUN] and all(record["status"] != "run" for record in plot.records):
        return ["Nothing of this figure was run."]
    lines = []
    for state, missing in found.items():
        state, _, why = state.partition(": ")
        named = "; ".join(
            f"{each} ({'; '.join(where)})" if where else each for each, where in missing.items()
        )
        lines.append(f"{state[0].upper()}{state[1:]}: {named}{f': {why}' if why else ''}.")
    return lines
