"""Panels of texts: alignments of two texts, and decodings pass by pass."""

from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from nat.figures.drawing import COLOURS, GREY, LINE_SPACING, Labels, Panel, height, width_of, wrap

END = "</s>"
"""The end of a text, where a line leads to the position behind its last word."""
MASKED = "\N{BULLET}"
# All lengths in inches, font sizes in points.
WIDTH, EMPTY_HEIGHT = 9.0, 0.6
WORD_SIZE, CAPTION_SIZE = 9.5, 9.0
GAP, LINKS_HEIGHT, WIDEST_STEP = 0.08, 1.1, 1.1
LINE_HEIGHT, COLUMN_GAP, BLOCK_GAP = 0.25, 0.12, 0.15
TINT = "#CFE3F2"


def height_of(panel: Panel) -> float:
    """Height that a panel of these kinds takes, inches."""
    if panel.content is None:
        return EMPTY_HEIGHT
    if panel.description.kind == "alignment":
        return Aligned(panel.content).height
    return Unfolded(panel.content).height


class Aligned:
    """Two texts and the lines between them, with their places.

    Attributes:
        texts: words of both, with the end where a line begins or ends there.
        links: position in the second of each in the first; `None` for none.
        captions: lines of text above and below.
        upright: whether the words are too wide to stand beside each other.
        step: distance of two positions, inches.
        words: height of the words of each text, inches.
        height: of all, inches.
    """

    def __init__(self, content: dict[str, Any]) -> None:
        self.texts = list(content["first"]), list(content["second"])
        self.links: list[int | None] = content["links"]
        if len(self.links) > len(self.texts[0]):
            self.texts[0].append(END)
        if len(self.texts[1]) in self.links:
            self.texts[1].append(END)
        captions = content.get("captions") or ("", "")
        self.captions = [wrap(caption, WIDTH, CAPTION_SIZE) for caption in captions]
        self.step = min(WIDEST_STEP, WIDTH / max(1, *map(len, self.texts)))
        widest = [
            max((width_of(word, WORD_SIZE) for word in words), default=0.0) for words in self.texts
        ]
        self.upright = max(widest) > self.step - 2 * GAP
        line = height(["x"], WORD_SIZE)
        self.words = [width if self.upright else line for width in widest]
        self.height = LINKS_HEIGHT + sum(self.words) + 4 * GAP
        self.height += sum(height(lines, CAPTION_SIZE) for lines in self.captions)

    def place(self, position: int) -> float:
        """Where a position stands, inches from the left."""
        return (position + 0.5) * self.step


def alignment(axes: Axes, panel: Panel) -> Labels:
    """The first text above the second; lines to another position are coloured."""
    _blank(axes)
    if panel.content is None:
        return []
    found = Aligned(panel.content)
    axes.set_ylim(0, found.height)
    above, below = (height(lines, CAPTION_SIZE) for lines in found.captions)
    top = found.height - above - 2 * GAP - found.words[0]
    bottom = below + 2 * GAP + found.words[1]
    rotation = 90 if found.upright else 0
    rows = zip(found.texts, (top, bottom), ("bottom", "top"), strict=True)
    for number, (words, edge, vertical) in enumerate(rows):
        for position, word in enumerate(words):
            axes.text(
                found.place(position),
                edge + (GAP if number == 0 else -GAP),
                word,
                ha="center",
                va=vertical,
                fontsize=WORD_SIZE,
                rotation=rotation,
            )
    for position, other in enumerate(found.links):
        if other is not None:
            moved = other != position
            axes.plot(
                [found.place(position), found.place(other)],
                [top, bottom],
                color=COLOURS[1] if moved else GREY,
                linewidth=1.8 if moved else 0.9,
                marker="o",
                markersize=3,
                zorder=3 if moved else 2,
            )
    edges = ((found.height, "top"), (0.0, "bottom"))
    for lines, (edge, vertical) in zip(found.captions, edges, strict=True):
        _caption(axes, "\n".join(lines), edge, vertical)
    return []


@dataclass(frozen=True)
class Block:
    """Neighbouring positions that fit beside each other.

    Attributes:
        start: the first position.
        widths: of each.
        passes: numbers from 0 of those that have tokens there.
    """

    start: int
    widths: list[float]
    passes: list[int]


class Unfolded:
    """A decoding pass by pass, broken into blocks of positions as wide as the panel.

    Attributes:
        passes: of each pass its tokens, and the positions that it chose.
        captions: lines of text above.
        blocks: from left to right.
        height: of all, inches.
    """

    def __init__(self, content: dict[str, Any]) -> None:
        self.passes = [(each.tokens, set(each.predicted)) for each in content["passes"]]
        self.captions = [
            line
            for name in ("source", "reference")
            if name in content
            for line in wrap(f"{name}: {' '.join(content[name])}", WIDTH, CAPTION_SIZE)
        ]
        self.blocks: list[Block] = []
        left = 0.0
        for position in range(max((len(tokens) for tokens, _ in self.passes), default=0)):
            words = [tokens[position] for tokens, _ in self.passes if position < len(tokens)]
            width = COLUMN_GAP + max(width_of(word or MASKED, WORD_SIZE) for word in words)
            if not self.blocks or left + width > WIDTH:
                reach = [at for at, (tokens, _) in enumerate(self.passes) if len(tokens) > position]
                self.blocks.append(Block(position, [], reach))
                left = 0.0
            self.blocks[-1].widths.append(width)
            left += width
        self.height = height(self.captions, CAPTION_SIZE) + GAP
        self.height += sum(len(each.passes) * LINE_HEIGHT + BLOCK_GAP for each in self.blocks)


def steps(axes: Axes, panel: Panel) -> Labels:
    """A row for each pass; what it chose is tinted, what is masked still is a dot."""
    _blank(axes)
    if panel.content is None:
        return []
    found = Unfolded(panel.content)
    axes.set_ylim(0, found.height)
    _caption(axes, "\n".join(found.captions), found.height, "top")
    top = found.height - height(found.captions, CAPTION_SIZE) - GAP
    for block in found.blocks:
        for number in block.passes:
            tokens, predicted = found.passes[number]
            middle = top - LINE_HEIGHT / 2
            style: dict[str, Any] = {"va": "center", "fontsize": WORD_SIZE}
            axes.text(-GAP, middle, f"pass {number + 1}", ha="right", color=GREY, **style)
            left = 0.0
            for position, width in enumerate(block.widths, block.start):
                if position < len(tokens):
                    word, chosen = tokens[position], position in predicted
                    if chosen:
                        corner = left + 0.02, top - LINE_HEIGHT + 0.015
                        size = width - 0.04, LINE_HEIGHT - 0.03
                        axes.add_patch(Rectangle(corner, *size, color=TINT, linewidth=0))
                    colour = COLOURS[0] if chosen else "black"
                    axes.text(
                        left + width / 2,
                        middle,
                        MASKED if word is None else word,
                        ha="center",
                        color=GREY if word is None else colour,
                        **style,
                    )
                left += width
            top -= LINE_HEIGHT
        top -= BLOCK_GAP
    return []


def _blank(axes: Axes) -> None:
    """Axes without lines, measured in inches."""
    axes.set_axis_off()
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_ylabel("")
    axes.set_xlim(0, WIDTH)


def _caption(axes: Axes, text: str, edge: float, vertical: str) -> None:
    axes.text(
        0.0,
        edge,
        text,
        ha="left",
        va=vertical,
        fontsize=CAPTION_SIZE,
        color=GREY,
        linespacing=LINE_SPACING,
    )
