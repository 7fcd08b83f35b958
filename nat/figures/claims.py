"""The claims of a paper in one picture, which is no figure of the paper: intervals and bounds."""

from collections.abc import Sequence
from itertools import groupby
from math import isfinite
from pathlib import Path
from textwrap import shorten
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nat.figures.drawing import COLOURS, GREY
from nat.figures.figures import STYLE
from nat.measures.known import measure_of
from nat.papers.cells import Check
from nat.papers.table_formats import given
from nat.papers.values import Record
from nat.papers.verdicts import FAILS, HOLDS, UNDECIDED, region

LOOKS: dict[str, Any] = {
    HOLDS: {"color": COLOURS[2], "marker": "o"},
    FAILS: {"color": COLOURS[1], "marker": "X"},
    UNDECIDED: {"color": COLOURS[3], "marker": "D"},
}
WIDTH, ROW, AROUND = 10.0, 0.24, 0.9  # of the picture of claims, in inches
LABEL = 78
"""Characters of a claim that are written beside its interval."""


def forest(judged: Sequence[tuple[Check, Record]], svg: Path) -> bool:
    """Draw the difference that each claim rests on, with its interval, bound and verdict.

    Claims about one measure share a panel.

    Returns:
        False if no claim has an interval: then nothing is drawn.
    """
    with_interval = [each for each in judged if given(each[1]["low"])]
    by_measure = sorted(with_interval, key=lambda each: _axis(each[1]))
    panels = [(axis, [*own]) for axis, own in groupby(by_measure, lambda each: _axis(each[1]))]
    if not panels:
        return False
    with mpl.rc_context(STYLE | {"svg.fonttype": "none", "svg.hashsalt": "nat"}):
        heights = [ROW * len(own) + AROUND for _, own in panels]
        figure = Figure((WIDTH, sum(heights)), layout="constrained")
        rows = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights)[:, 0]
        for axes, (axis, own) in zip(rows, panels, strict=True):
            axes.set_xlabel(axis)
            _intervals(axes, own)
        figure.savefig(svg, metadata={"Date": None})
    return True


def _axis(record: Record) -> str:
    if record["check"] == "correlation":
        return "correlation"
    measure = measure_of(record["measure"])
    return f"difference in {measure.label}" + (f" ({measure.unit})" if measure.unit == "%" else "")


def _intervals(axes: Axes, judged: Sequence[tuple[Check, Record]]) -> None:
    """Draw one row for each case of a claim, from top to bottom."""
    axes.axvline(0, color=GREY, linewidth=0.8)
    names = []
    for row, (check, record) in enumerate(judged):
        look = LOOKS[record["verdict"]]
        axes.hlines(row, record["low"], record["high"], color=look["color"], linewidth=2)
        axes.plot(record["ours"], row, linestyle="none", label=record["verdict"], **look)
        wanted = region(check.relations, check.margin)
        for bound in (wanted.left, wanted.right):
            if isfinite(bound) and not check.share:
                axes.plot(bound, row, marker="|", markersize=11, color="black")
        case = f" ({record['case']})" if record["case"] else ""
        names.append(shorten(record["text"], LABEL - len(case), placeholder=" …") + case)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set_ylim(len(names) - 0.4, -0.6)
    handles = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    axes.legend(handles.values(), handles.keys(), loc="lower right", bbox_to_anchor=(1, 1), ncols=3)
