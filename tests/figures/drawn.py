"""A paper with one figure, and what a reader sees of the figure once it is drawn."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import yaml
from matplotlib.text import Text

import tests.made_up_run as made_up_run
from nat.configuration import Configuration
from nat.figures import figures
from nat.figures.points import Plot, make
from nat.papers import reports
from tests.made_up_run import TASK


def described(text: str, **changes: Any) -> dict[str, Any]:
    """A figure as a paper's file has it."""
    return {"title": "figure", **yaml.safe_load(text), **changes}


def configuration(
    root: Path, figure: dict[str, Any], seeds: Sequence[int] = (1,), **content: Any
) -> Configuration:
    paper = {"title": "Paper", "cells": {"task": TASK, "split": "test"}, "figures": {"2": figure}}
    return made_up_run.configuration(root, {"paper": paper | content}, [*seeds])


def plot_of(plain: Configuration) -> Plot:
    return make(reports.resolve_part(plain, "paper", "figure 2"), plain.root)


class Drawn:
    """A figure that was drawn: the axes of its panels, its texts, and all of them together."""

    def __init__(self, plot: Plot) -> None:
        with mpl.rc_context(figures.STYLE):
            self._page: Any = figures.draw(plot)
            self._page.draw_without_rendering()
        self.axes = self._page.axes
        # Matplotlib keeps ticks beyond the limits of an axis, but does not draw them
        beyond = {
            tick.label1
            for axis in (axis for axes in self.axes for axis in (axes.xaxis, axes.yaxis))
            for tick in axis.get_major_ticks()
            if not min(axis.get_view_interval()) <= tick.get_loc() <= max(axis.get_view_interval())
        }
        texts = [text for text in self._page.findobj(Text) if text.get_text().strip()]
        self._texts = [text for text in texts if text not in beyond and text.get_visible()]
        self.texts = [" ".join(text.get_text().split()) for text in self._texts]
        self.said = " ".join(self.texts)

    def assert_fits(self) -> None:
        """No text overlaps another, and fonts have 6 points where the figure is printed.

        A figure of one panel takes a column of 240 points there, others the text of 505.
        """
        boxes = [(text.get_text(), text.get_window_extent()) for text in self._texts]
        for number, (name, box) in enumerate(boxes):
            assert box.x0 >= -1 and box.x1 <= self._page.bbox.x1 + 1, name
            assert not any(box.overlaps(other) for _, other in boxes[number + 1 :]), name
        smallest = min(text.get_fontsize() for text in self._texts)
        width = 240 if len(self.axes) == 1 and self.axes[0].axison else 505
        assert smallest * width / (72 * self._page.get_figwidth()) >= 6
