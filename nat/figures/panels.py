"""The panels of figures of numbers: lines, grouped bars, curves of trainings, points.

Each painter draws the points of one panel into its axes; the page around them is
`nat.figures.figures`. Planes of values are painted in `nat.figures.maps`, texts in
`nat.figures.word_panels`.
"""

from typing import Any

import numpy as np
import pandas as pd
from adjustText import adjust_text
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FixedLocator, LogLocator, MaxNLocator, NullLocator, StrMethodFormatter
from matplotlib.transforms import Bbox

from nat.figures.drawing import GREY, LABEL_SIZE, Panel, Series, ticks
from nat.measures.known import MEASURES

BAND: dict[str, Any] = {"alpha": 0.1, "linewidth": 0}
"""The look of bands."""
BARS = 0.8
"""Share of the distance between two groups that bars fill."""

AROUND = 8
"""Pixels around a point of a scatter plot in which no name should stand."""
NAMES: dict[str, Any] = {
    "iter_lim": 300,
    "expand": (1.05, 1.1),
    "force_text": (0.5, 1.0),
    "force_static": (0.4, 0.6),
    "force_explode": (0.5, 1.0),
    "prevent_crossings": False,
    "arrowprops": {"arrowstyle": "-", "color": GREY, "linewidth": 0.6},
}
"""Options of adjustText; of those tried, with these fewest names touch a point."""


def lines(axes: Axes, panel: Panel) -> None:
    """Draw a measure over a number; a series of style `level` crosses the panel."""
    x, numbers = panel.description.x, sorted(panel.points["x"].unique())
    axes.set_xlabel(x.label or "")
    at = {tick: float(number if x.even else tick) for number, tick in enumerate(numbers)}
    if x.log:
        axes.set_xscale("log", base=2)
    # a panel without points has the axis of the others
    axes.update_datalim([(place, 0.0) for place in at.values()], updatey=False)
    named = [tick for tick in numbers if x.even or x.values is None or tick in x.values]
    ticks(axes, [at[tick] for tick in named], [f"{tick:g}" for tick in named])
    if panel.description.log:
        axes.set_yscale("log")
        _plain_numbers(axes, "y", 1)
    for each in panel.series():
        points = each.ran.sort_values("x")
        if panel.description.log:
            points = points[points["ours"] > 0]
        if each.style == "level":
            _level(axes, each)
        elif not points.empty:
            places = points["x"].map(at)
            axes.fill_between(places, points["bottom"], points["top"], color=each.colour, **BAND)
            _line(axes, each, places, points)
        if not points.empty:
            _hollow(axes, each, each.published["x"].map(at))
    axes.margins(y=0.12)


def bars(axes: Axes, panel: Panel) -> None:
    """Draw systems beside each other in named categories."""
    groups = [name for name, line in panel.plot.figure.rows.items() if line.style != "level"]
    points = panel.points[panel.points["row"].isin(groups)]
    if points.empty:  # a level lies across all categories and adds none to those of others
        points = panel.points
    categories = dict(sorted(zip(points["x"], points["category"], strict=True)))
    axes.set_xlabel(panel.description.x.label or "")
    axes.set_xlim(min(categories) - 0.5, max(categories) + 0.5)
    ticks(axes, [*categories], [*categories.values()])
    axes.tick_params(axis="x", length=0)
    width = BARS / max(len(groups), 1)
    for each in panel.series():
        if each.style == "level":
            _level(axes, each)
        elif not each.ran.empty:
            shift = (groups.index(each.name) - (len(groups) - 1) / 2) * width
            x, heights = each.ran["x"] + shift, each.ran["ours"]
            axes.bar(x, heights, width * 0.92, color=each.colour, label=each.name)
            axes.vlines(x, each.ran["bottom"], each.ran["top"], color="black", linewidth=1)
            _hollow(axes, each, each.published["x"] + shift)
    if not panel.ran.empty:
        axes.axhline(0, color=GREY, linewidth=0.8)
        axes.margins(y=0.08)


def curves(axes: Axes, panel: Panel) -> None:
    """Follow trainings, one after the other where they start from each other."""
    axes.set_xlabel(panel.description.x.label or "")
    axes.xaxis.set_major_locator(MaxNLocator(nbins=5))
    for each in panel.series():
        for _, points in each.ran.groupby("seeds", sort=False):
            ends = ~points["system"].duplicated(keep="last")
            _line(axes, each, points["x"], points, marked=ends)
    axes.margins(y=0.12)


def scatter(axes: Axes, panel: Panel) -> None:
    """Draw a measure against another; `name_points` writes the names of the points."""
    described = panel.description
    for name, axis, key in (("x", described.x, "x_measure"), ("y", described.y, "measure")):
        for measure in map(MEASURES.__getitem__, panel.points[key][:1]):
            unit = f" ({measure.unit})" if measure.unit in ("ms", "s", "x") else ""
            axes.set(**{f"{name}label": axis.label or measure.label + unit})
        if axis.log:
            axes.set(**{f"{name}scale": "log"})
            _plain_numbers(axes, name, 1, 2, 5)
        if axis.ticks:
            getattr(axes, f"{name}axis").set_major_locator(FixedLocator(axis.ticks))
    for each in panel.series():
        thin: dict[str, Any] = {"color": each.colour, "linewidth": 1, "alpha": 0.5}
        ran = each.ran
        if not ran.empty:
            axes.vlines(ran["x"], ran["bottom"], ran["top"], **thin)
            axes.hlines(ran["ours"], ran["x_low"], ran["x_high"], **thin)
            joined = "-" if each.style == "joined" else "none"
            style: dict[str, Any] = {"marker": each.marker, "markersize": 7, "linestyle": joined}
            axes.plot(ran["x"], ran["ours"], color=each.colour, label=each.name, **style)
        _hollow(axes, each, each.published["x_published"])
    axes.margins(x=0.12, y=0.12)
    if panel.description.front and not panel.ran.empty:
        front = panel.ran.sort_values(["x", "ours"], ascending=[True, False])
        front = front[front["ours"] > front["ours"].cummax().shift(fill_value=-np.inf)]
        dashed: dict[str, Any] = {"color": GREY, "linestyle": "--", "linewidth": 1, "zorder": 1}
        axes.step(front["x"], front["ours"], where="post", **dashed)


def name_points(axes: Axes, panel: Panel) -> None:
    """Write the names of the points of a scatter plot, once the layout is final."""
    names, places = [], []
    for each in panel.series():
        # a point that was measured as well has its name beside its own value
        quoted = each.published[each.published["status"] != "run"]
        for points, x, y in ((each.ran, "x", "ours"), (quoted, "x_published", "published")):
            places += [*zip(points[x], points[y], strict=True)]
            for point in points[points["category"] != ""].to_dict("records"):
                place = point[x], point[y], point["category"]
                halo = [withStroke(linewidth=2, foreground="white")]
                style: dict[str, Any] = {"fontsize": LABEL_SIZE, "path_effects": halo}
                names.append(axes.text(*place, color=each.colour, **style))
    around = [
        Bbox(axes.transData.inverted().transform([dot - AROUND, dot + AROUND]))
        for dot in axes.transData.transform(places or np.zeros((0, 2)))
    ]
    adjust_text(names, objects=around or None, ax=axes, **NAMES)


def _plain_numbers(axes: Axes, axis: str, *digits: float) -> None:
    """Write plain numbers that begin with these digits at the ticks of a logarithmic axis."""
    drawn = getattr(axes, f"{axis}axis")
    drawn.set_major_locator(LogLocator(subs=digits))
    drawn.set_major_formatter(StrMethodFormatter("{x:g}"))
    drawn.set_minor_locator(NullLocator())


def _level(axes: Axes, series: Series) -> None:
    """Draw a line without a marker, since it was not measured at any place of the axis."""
    for point in series.ran.to_dict("records"):
        axes.axhspan(point["bottom"], point["top"], color=series.colour, **BAND)
        dashed: dict[str, Any] = {"linewidth": 1.6, "linestyle": (0, (5, 2)), "label": series.name}
        axes.axhline(point["ours"], color=series.colour, **dashed)


def _line(
    axes: Axes, series: Series, x: pd.Series, points: pd.DataFrame, marked: pd.Series | None = None
) -> None:
    """Join points; a black cross is drawn where a training collapsed."""
    collapsed = points["collapsed"].astype(bool)
    marked = pd.Series(True, points.index) if marked is None else marked
    style: dict[str, Any] = {"color": series.colour, "linewidth": 2, "label": series.name}
    held = np.flatnonzero(marked & ~collapsed).tolist()
    axes.plot(x, points["ours"], marker=series.marker, markevery=held, **style)
    lost = marked & collapsed
    cross: dict[str, Any] = {"marker": "X", "markersize": 10, "linestyle": "none", "zorder": 4}
    if lost.any():
        axes.plot(x[lost], points["ours"][lost], color="black", **cross)


def _hollow(axes: Axes, series: Series, x: pd.Series) -> None:
    """Draw published values as hollow markers, which stand for a series that has no others."""
    if not x.empty:
        name = None if (series.published["status"] == "run").any() else series.name
        style: dict[str, Any] = {"markersize": 9, "markerfacecolor": "none", "linestyle": "none"}
        y = series.published["published"]
        axes.plot(x, y, color=series.colour, marker=series.marker, label=name, **style)
