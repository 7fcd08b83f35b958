"""Learning curves, as drawings whose colours are those of the page."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
from markupsafe import Markup
from matplotlib.ticker import MaxNLocator

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 560, 250, 52, 14, 28, 38
"""Of a drawing and its margins; it is scaled to the page."""
_TEXT = Markup('<text x="{}" y="{}" text-anchor="{}">{}</text>')
_LINE = Markup('<path d="M{} {}H{}"/>')
_POINT = Markup('<circle cx="{}" cy="{}" r="2.5"><title>{}</title></circle>')
Points = Sequence[tuple[float, float]]


def of_training(path: Path) -> list[Markup]:
    """Loss and validation BLEU over the updates, as far as a training curve has them."""
    frame = pd.read_csv(path)
    found = []
    for column, title in (("loss", "loss"), ("bleu", "validation BLEU")):
        if column not in frame:
            continue
        given = frame[["split", "update", column]].dropna()
        series = {
            str(split): list(points[["update", column]].itertuples(index=False, name=None))
            for split, points in given.groupby("split")
        }
        if series:
            found.append(draw(series, title))
    return found


def draw(series: Mapping[str, Points], title: str) -> Markup:
    """Draw series of points over the updates."""
    points = [point for each in series.values() for point in each]
    across, down = (_ticks([point[axis] for point in points]) for axis in (0, 1))

    def place(update: float, value: float) -> tuple[float, float]:
        right = (update - across[0]) / (across[-1] - across[0])
        up = (value - down[0]) / (down[-1] - down[0])
        x, y = LEFT + (WIDTH - LEFT - RIGHT) * right, HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * up
        return round(x, 1), round(y, 1)

    parts = [
        _TEXT.format(LEFT, 16, "start", title),
        _TEXT.format(WIDTH / 2, HEIGHT - 4, "middle", "updates"),
    ]
    for tick in down:
        x, y = place(across[0], tick)
        parts.append(_LINE.format(x, y, WIDTH - RIGHT))
        parts.append(_TEXT.format(x - 6, y + 4, "end", f"{tick:g}"))
    for tick in across:
        x, y = place(tick, down[0])
        parts.append(_TEXT.format(x, y + 18, "middle", f"{tick:,.0f}"))
    for number, (name, its) in enumerate(series.items()):
        places = [place(*point) for point in its]
        name_at = WIDTH - 80 * (len(series) - number)
        parts.append(Markup('<g class="series-{}">').format(number))
        parts.append(_TEXT.format(name_at, 16, "start", f"● {name}"))
        joined = " ".join(f"{x},{y}" for x, y in places)
        parts.append(Markup('<polyline points="{}"/>').format(joined))
        for at, (update, value) in zip(places, its, strict=True):
            parts.append(_POINT.format(*at, f"{value:.4g} at {update:,.0f}"))
        parts.append(Markup("</g>"))
    (first, start), (last, end) = points[0], points[-1]
    said = f"{title} from {start:.4g} at {first:,.0f} updates to {end:.4g} at {last:,.0f}"
    frame = Markup('<svg viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>')
    return frame.format(WIDTH, HEIGHT, said, Markup("").join(parts))


def _ticks(values: Sequence[float]) -> Sequence[float]:
    """Round numbers that reach from below the lowest value to above the highest one."""
    low, high = min(values), max(values)
    margin = 0.5 if low == high else 0.0
    return [float(each) for each in MaxNLocator(5).tick_values(low - margin, high + margin)]
