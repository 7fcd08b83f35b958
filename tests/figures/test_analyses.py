"""Figures of planes and of texts: heat maps, contours, alignments, and decodings pass by pass."""

from pathlib import Path
from typing import Any

import pytest
from drawn import Drawn, configuration, described, plot_of

from nat.configuration import Configuration
from nat.figures.points import Plot
from nat.files import write_json
from nat.papers import coordinates, reports
from tests.made_up_run import FIGURE
from tests.messages import told


@pytest.fixture(autouse=True)
def several_references(monkeypatch: pytest.MonkeyPatch) -> None:
    """The corpus has several references of a sentence, without which no latent is aligned."""
    monkeypatch.setattr(coordinates, "has_references", lambda corpus, split: True)


def write(plain: Configuration, *contents: dict[str, Any]) -> Path:
    """Write what the analyses of the test set found, in order; returns the first file."""
    cells = reports.cells(plain, FIGURE)
    paths = list(dict.fromkeys(Path(plain.root) / cell.path for cell in cells))
    for path, content in zip(paths, contents, strict=False):
        numbers = {"test": content.pop("measures", {})}
        write_json(path, {"measures": numbers, "splits": {"test": content}})
    return paths[0]


def record(plot: Plot, panel: str, row: str, x: int) -> dict[str, Any]:
    places = {(each["column"], each["row"], each["x"]): each for each in plot.records}
    return places[panel, row, x]


# Planes

MAP = """
kind: heat_map
cells: {measure: state_cosine}
panels: [{label: NAT, system: nat-kd}, {label: CMLM, system: cmlm-kd}]
x: {label: position}
analysis: {values: map.cosines, rows: map.labels, columns: map.labels}
"""


def similar(cosine: float) -> dict[str, Any]:
    return {"map": {"labels": ["a", "b"], "cosines": [[1.0, cosine], [cosine, 1.0]]}}


def test_a_heat_map_of_an_analysis(tmp_path: Path) -> None:
    plain = configuration(tmp_path, described(MAP))
    path = write(plain, similar(0.25))
    drawn = Drawn(plot_of(plain))
    assert drawn.axes[0].images[0].get_array().tolist() == [[1.0, 0.25], [0.25, 1.0]]
    assert "Not run: CMLM." in drawn.said
    write(plain, similar(0.25), similar(-0.5))
    images = [axes.images for axes in Drawn(plot_of(plain)).axes if axes.images]
    assert [each[0].get_clim() for each in images] == [(-0.5, 1.0)] * 2
    write(plain, {"map": {"label": ["a", "b"], "cosines": []}})
    with told("config/papers/paper.yaml", "figures.2", path.name, "map.labels", "test", "label"):
        plot_of(plain)


CONTOUR = """
kind: contour
cells: {system: nat-kd}
panels: [{label: NLL, measure: nll}, {label: bits, measure: nll_bits}]
x: {label: towards GLAT + KD}
y: {label: towards MLE}
analysis: {values: 'plane.{measure}', rows: plane.y, columns: plane.x, points: plane.points}
"""
PLANE: dict[str, Any] = {
    "x": [-0.5, 0.0, 0.5, 1.0],
    "y": [-0.5, 0.0, 1.0],
    "points": [{"label": "start", "x": 0, "y": 0}, {"label": "MLE", "x": 0, "y": 1}],
}


def test_a_contour_map_of_an_analysis(tmp_path: Path) -> None:
    plain = configuration(tmp_path, described(CONTOUR))
    assert Drawn(plot_of(plain)).texts.count("not run") == 2
    nll: list[list[float | None]] = [[10 * x + y for x in PLANE["x"]] for y in PLANE["y"]]
    bits = [[None, *nll[0][1:]], *nll[1:]]
    plane = {**PLANE, "nll": nll, "nll_bits": bits}
    path = write(plain, {"plane": plane})
    plot = plot_of(plain)
    heights = {(r["column"], r["x"], r["y"]): r["ours"] for r in plot.records if not r["point"]}
    assert len(heights) == 23 and heights["bits", 1.0, -0.5] == 9.5
    drawn = Drawn(plot)
    assert {"start", "MLE"} <= {*drawn.texts}
    marks = [line.get_xydata().tolist() for line in drawn.axes[0].lines]
    assert marks == [[[0, 0]], [[0, 1]]]
    assert [each["point"] for each in plot.records if each["point"]] == ["start", "MLE"] * 2
    for x in (["a", "b"], [0, 1]):
        write(plain, {"plane": {**plane, "x": x}})
        with told("figures.2", path.name, "plane.x"):
            plot_of(plain)


# Texts

WORDS = ["the", "lights", "in", "the", "house", "were", "all", "switched", "off", "at", "night"]
LONG = [f"unpronounceable{number}" for number in range(30)]
ALIGNMENT = described(
    """
    kind: alignment
    cells: {measure: latent_moved, system: vae-kd}
    panels: [{label: 'sentence {example}', with: {example: [0, 1]}}]
    analysis:
      first: examples.{example}.source
      second: examples.{example}.source
      links: examples.{example}.assignment
      captions: examples.{example}.references
    """
)


def aligned(*second: Any) -> dict[str, Any]:
    """Two examples; in the first one two words change places, the second has other links."""
    order = [0, 9, *range(2, 9), 1, 10, 11]
    captions = {"references": ["in the first reference", "in the other one"]}
    first = {"source": WORDS, "assignment": order, **captions}
    return {"examples": [first, {"source": ["a", "word"], "assignment": second, **captions}]}


def test_an_alignment_leads_from_position_to_position(tmp_path: Path) -> None:
    plain = configuration(tmp_path, ALIGNMENT)
    # one analysis, and no record of the training: the figure shows no number
    assert len(FIGURE.inputs(plain).results) == 1
    assert Drawn(plot_of(plain)).texts.count("not run") == 2
    write(plain, aligned(0, 1, 2))
    plot = plot_of(plain)
    drawn = Drawn(plot)
    lines = drawn.axes[0].lines
    ends = [line.get_xdata().tolist() for line in lines]
    assert ends[1][1] == ends[9][0] and ends[9][1] == ends[1][0] and ends[3][0] == ends[3][1]
    assert lines[1].get_color() != lines[0].get_color() == lines[11].get_color()
    assert drawn.texts.count("</s>") == 4 and drawn.texts.count("in the other one") == 2
    assert "Coloured lines: to another position." in drawn.said
    link = record(plot, "sentence 0", "lights", 1)
    assert (link["category"], link["y"]) == ("at", 9)


STEPS = described(
    """
    kind: steps
    cells: {measure: shown_tokens, system: cmlm-kd, steps: 10}
    panels: [{label: 'sentence {example}', with: {example: [0, 1]}}]
    analysis:
      passes: examples.{example}.passes.{steps}
      source: examples.{example}.source
      reference: examples.{example}.reference
    """
)


def decoded(**first_pass: Any) -> dict[str, Any]:
    """Decodings of two sentences in two passes; the second one may have another first pass."""
    found = []
    for words in (WORDS, LONG):
        masked = [None, *words[1:]]
        first = {"tokens": masked, "predicted": list(range(1, len(words)))}
        passes = {"10": [first, {"tokens": words, "predicted": [0]}]}
        found.append({"source": WORDS, "reference": words, "passes": passes})
    found[1]["passes"]["10"][0] |= first_pass
    return {"examples": found}


def test_a_decoding_is_shown_pass_by_pass(tmp_path: Path) -> None:
    plain = configuration(tmp_path, STEPS)
    write(plain, decoded())
    plot = plot_of(plain)
    drawn = Drawn(plot)
    # the long sentence is broken into blocks, each with its passes
    assert drawn.texts.count("pass 1") == drawn.texts.count("pass 2") > 2
    tinted = [text for text in drawn.axes[0].texts if text.get_bbox_patch()]
    assert len(tinted) == len(WORDS)  # each was chosen once
    assert drawn.texts.count("\N{BULLET}") == 2
    token = record(plot, "sentence 0", "pass 2", 0)
    assert (token["category"], token["predicted"]) == ("the", True)


@pytest.mark.parametrize(
    ("figure", "content"),
    [
        (ALIGNMENT, aligned(0, 7)),
        (ALIGNMENT, aligned(0, 1, 2, 0)),
        (ALIGNMENT, aligned(0, "x")),
        (STEPS, decoded(predicted=None)),
    ],
)
def test_texts_that_do_not_fit_are_refused(
    tmp_path: Path, figure: dict[str, Any], content: dict[str, Any]
) -> None:
    plain = configuration(tmp_path, figure)
    path = write(plain, content)
    with told("config/papers/paper.yaml", "figures.2", path.name, "sentence 1", "examples.1"):
        plot_of(plain)
