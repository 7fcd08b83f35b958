"""Panels of texts: alignments of two texts, and decodings pass by pass.

Words stand on a grid of lines and characters of one width, from the top left.
"""

import textwrap
from typing import Any

from matplotlib.axes import Axes

from nat.figures.drawing import CHARACTER, COLOURS, GREY, LABEL_SIZE, PAGE_WIDTH, Panel

END = "</s>"
"""The end of a text, where a line leads to the position behind its last word."""
MASKED = "\N{BULLET}"
WIDTH, LINE = int((PAGE_WIDTH - 0.3) / CHARACTER), 0.25
"""Characters across the page, and height of a line in inches."""
WIDEST_STEP, NAMES, LINKS = 15, 9, 4.5
"""Largest distance of aligned positions and room for the names of passes, in characters; height of
the links between two texts, in lines."""
WORD: dict[str, Any] = {"fontsize": LABEL_SIZE, "family": "DejaVu Sans Mono"}
MIDDLE: dict[str, Any] = {"ha": "center", "va": "center", **WORD}
TINTED: dict[str, Any] = {
    "color": COLOURS[0],
    "bbox": {"facecolor": "#CFE3F2", "edgecolor": "none", "pad": 2},
}


def alignment(axes: Axes, panel: Panel) -> float:
    """Draw one text above another, with links; those to another position are coloured.

    Returns the height of all, in inches.
    """
    content = panel.plot.contents[panel.label]
    links = content["links"]
    first = content["first"] + [END] * (len(links) > len(content["first"]))
    second = content["second"] + [END] * (len(content["second"]) in links)
    above, below = content.get("captions", ("", ""))
    step = min(WIDEST_STEP, WIDTH / max(1, len(first), len(second)))
    longest = [max(map(len, words), default=0) for words in (first, second)]
    upright = max(longest) > step - 1
    tall = [each * CHARACTER / LINE if upright else 1.0 for each in longest]
    top = _caption(axes, above, 0.0) + tall[0] + 0.5
    bottom = top + LINKS
    for words, line, vertical in ((first, top - 0.3, "bottom"), (second, bottom + 0.3, "top")):
        for position, word in enumerate(words):
            place: dict[str, Any] = {"ha": "center", "va": vertical, "rotation": 90 * upright}
            axes.text((position + 0.5) * step, line, word, **place, **WORD)
    for position, other in enumerate(links):
        if other is not None:
            ends = [(position + 0.5) * step, (other + 0.5) * step]
            moved = {"color": COLOURS[1], "linewidth": 1.8, "zorder": 3}
            style: dict[str, Any] = moved if other != position else {"color": GREY, "linewidth": 1}
            axes.plot(ends, [top, bottom], marker="o", markersize=3, **style)
    return _framed(axes, _caption(axes, below, bottom + tall[1] + 0.7))


def steps(axes: Axes, panel: Panel) -> float:
    """Draw a row for each pass; what it chose is tinted, what is masked still is a dot.

    Rows that are wider than the page are broken at the same position. Returns the height of all,
    in inches.
    """
    content, line = panel.plot.contents[panel.label], 0.0
    for name in ("source", "reference"):
        if name in content:
            line = _caption(axes, f"{name}: {' '.join(content[name])}", line)
    passes = content["passes"]
    rows = [[MASKED if word is None else word for word in each["tokens"]] for each in passes]
    longest = max(map(len, rows), default=0)
    widths = [2 + max(len(row[at]) for row in rows if at < len(row)) for at in range(longest)]
    start = 0
    while start < longest:
        stop = start + 1
        while stop < longest and NAMES + sum(widths[start : stop + 1]) <= WIDTH:
            stop += 1
        line += 0.5
        for number, (each, row) in enumerate(zip(passes, rows, strict=True), 1):
            if len(row) <= start:  # this pass has not come so far
                continue
            line += 1
            axes.text(0, line, f"pass {number}", va="center", color=GREY, **WORD)
            for position in range(start, min(stop, len(row))):
                middle = NAMES + sum(widths[start:position]) + widths[position] / 2
                kept = {"color": GREY if row[position] == MASKED else "black"}
                style = TINTED if position in each["predicted"] else kept
                axes.text(middle, line, row[position], **style, **MIDDLE)
        start = stop
    return _framed(axes, line + 0.5)


def _caption(axes: Axes, text: str, line: float) -> float:
    """Write a caption from a line on; returns the line below it."""
    parts = textwrap.wrap(text, WIDTH)
    for number, part in enumerate(parts):
        axes.text(0, line + 0.75 * number, part, va="top", color=GREY, **WORD)
    return line + 0.75 * len(parts)


def _framed(axes: Axes, lines: float) -> float:
    """Show so many lines, without axes; returns their height in inches."""
    axes.set_axis_off()
    for text in axes.texts:  # they are inside
        text.set_in_layout(False)
    axes.set(xlim=(0, WIDTH), ylim=(lines, 0), xticks=[], yticks=[])
    return lines * LINE
