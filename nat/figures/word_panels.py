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
TINT = "#CFE3F2"
WORD: dict[str, Any] = {"fontsize": LABEL_SIZE, "family": "DejaVu Sans Mono"}


def alignment(axes: Axes, panel: Panel) -> float:
    """Draw one text above another, with links; those to another position are coloured.

    Returns the height of all, in inches.
    """
    content = panel.plot.contents[panel.label]
    texts, links = [list(content[key]) for key in ("first", "second")], content["links"]
    texts[0] += [END] * (len(links) > len(texts[0]))
    texts[1] += [END] * (len(texts[1]) in links)
    longest = [max(map(len, words), default=0) for words in texts]
    step = min(WIDEST_STEP, WIDTH / max(1, *map(len, texts)))
    upright = max(longest) > step - 1
    tall = [each * CHARACTER / LINE if upright else 1.0 for each in longest]
    above, below = content.get("captions") or ("", "")
    top = _caption(axes, above, 0.0) + tall[0] + 0.5
    bottom = top + LINKS
    for words, line, vertical in ((texts[0], top - 0.3, "bottom"), (texts[1], bottom + 0.3, "top")):
        for position, word in enumerate(words):
            place: dict[str, Any] = {"ha": "center", "va": vertical, "rotation": 90 * upright}
            axes.text((position + 0.5) * step, line, word, **place, **WORD)
    for position, other in enumerate(links):
        if other is not None:
            moved, ends = other != position, [(position + 0.5) * step, (other + 0.5) * step]
            width, order, colour = (1.8, 3, COLOURS[1]) if moved else (0.9, 2, GREY)
            dot: dict[str, Any] = {"marker": "o", "markersize": 3}
            axes.plot(ends, [top, bottom], color=colour, linewidth=width, zorder=order, **dot)
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
    rows = [
        [MASKED if word is None else word for word in each.tokens] for each in content["passes"]
    ]
    widths = [
        2 + max(len(row[position]) for row in rows if position < len(row))
        for position in range(max(map(len, rows), default=0))
    ]
    start = 0
    while start < len(widths):
        stop = start + 1
        while stop < len(widths) and NAMES + sum(widths[start : stop + 1]) <= WIDTH:
            stop += 1
        line += 0.5
        for number, (each, row) in enumerate(zip(content["passes"], rows, strict=True), 1):
            if len(row) <= start:  # this pass has not come so far
                continue
            line += 1
            axes.text(0, line, f"pass {number}", va="center", color=GREY, **WORD)
            for position in range(start, min(stop, len(row))):
                style: dict[str, Any] = {"ha": "center", "va": "center", **WORD}
                if position in each.predicted:
                    tint = {"facecolor": TINT, "edgecolor": "none", "pad": 2}
                    style |= {"color": COLOURS[0], "bbox": tint}
                elif each.tokens[position] is None:
                    style |= {"color": GREY}
                middle = NAMES + sum(widths[start:position]) + widths[position] / 2
                axes.text(middle, line, row[position], **style)
        start = stop
    return _framed(axes, line + 0.5)


def _caption(axes: Axes, text: str, line: float) -> float:
    """Write a caption from a line on; returns the line below it."""
    for number, part in enumerate(textwrap.wrap(text, WIDTH)):
        axes.text(0, line + 0.75 * number, part, va="top", color=GREY, **WORD)
    return line + 0.75 * len(textwrap.wrap(text, WIDTH))


def _framed(axes: Axes, lines: float) -> float:
    """Show so many lines, without axes; returns their height in inches."""
    axes.set_axis_off()
    for text in axes.texts:  # they are inside
        text.set_in_layout(False)
    axes.set(xlim=(0, WIDTH), ylim=(lines, 0), xticks=[], yticks=[])
    return lines * LINE
