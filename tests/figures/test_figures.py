"""Figures of numbers: lines, bars, curves of trainings, and scatter plots."""

import shutil
from pathlib import Path
from typing import Any, get_args

import pandas as pd
import pytest
from drawn import Drawn, configuration, described, plot_of

import tests.made_up_run as made_up_run
from nat.configuration import read
from nat.configuration import runnable as module
from nat.configuration.overrides import RunChoice
from nat.figures import drawing, figures
from nat.figures.points import Plot, make
from nat.measures.latency_setting import NO_GPU
from nat.papers import reports
from nat.papers.cells import QUOTED
from nat.papers.description import FigurePart
from nat.transformer.fairseq_models import NEEDS_COMPILED
from tests.golden import freeze
from tests.made_up_run import OTHER_TASK, PAPER, PUBLISHED, TASK, publish, run, write_training
from tests.repository import ROOT

ONE, FOUR = "mask-predict-1-lb5", "mask-predict-4-lb5"
TIMES = {f"cmlm-kd/{ONE}": [2.0] * 5, f"cmlm-kd/{FOUR}": [8.0] * 5}
"""Milliseconds a sentence, of each repeat."""


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scored")
    made_up_run.write_corpus(folder, several=False)
    for system, one, four in (("cmlm-kd", 0.4, 0.2), ("dims-cmlm-kd", 0.21, 0.3)):
        run(folder, system, ONE, one)
        run(folder, system, FOUR, four)
    line = f"table1,DiMS,En-De,,DiMS,,{TASK},bleu,20.5,BLEU,source=authors,ours\n"
    publish(folder, PUBLISHED + line)
    return folder


@pytest.fixture
def root(scored: Path, tmp_path: Path) -> Path:
    return shutil.copytree(scored, tmp_path / "run")


def plot(
    root: Path, figure: dict[str, Any], times: dict[str, list[float]] = TIMES, **content: Any
) -> Plot:
    """A figure, of whose latencies those on a GPU have not been measured."""
    plain = configuration(root, figure, **content)
    timed = [each for each in reports.cells(plain, made_up_run.FIGURE) if each.setting]
    repeats = {each: NO_GPU if "cuda" in each.setting else times[each.part] for each in timed}
    made_up_run.write_latencies(root, repeats)
    return plot_of(plain)


# Lines

LINES = f"""
kind: lines
cells: {{measure: sacrebleu}}
x: {{label: steps, log: true}}
quotes: [1]
panels: [{{label: En-De, task: {TASK}}}]
series:
- {{label: CMLM, system: cmlm-kd, decoding: 'mask-predict-{{steps}}-lb5', steps: [1, 4]}}
- label: student
  style: level
  system: dims-cmlm-kd
  points: [{{x: 1, decoding: {ONE}}}]
"""


def lines(root: Path, **changes: Any) -> Plot:
    tables = {"1": {**PAPER["tables"]["1"]}}
    tables["1"]["rows"] = [each | {"ours_only": False} for each in tables["1"]["rows"]]
    return plot(root, described(LINES, **changes), tables=tables)


def test_the_csv_has_every_point_and_the_same_points_give_the_same_bytes(root: Path) -> None:
    for name in ("a", "b"):
        figures.write(lines(root), root / f"{name}.pdf")
    frame = pd.read_csv(root / "a.csv")
    assert frame["series"].tolist() == ["CMLM", "CMLM", "student"]
    assert frame["x"].tolist() == [1, 4, 1] and frame["published"].tolist()[2] == 20.5
    assert (frame["low"] < frame["ours"]).all() and (frame["ours"] < frame["high"]).all()
    assert all((root / path).exists() for path in frame["sources"])
    for suffix in ("pdf", "png", "csv"):
        assert (root / f"a.{suffix}").read_bytes() == (root / f"b.{suffix}").read_bytes()


def test_figures_of_real_results_fit_on_their_pages(tmp_path: Path) -> None:
    (tmp_path / "config").symlink_to(ROOT / "config")
    freeze.restore(tmp_path)
    found = read(RunChoice("micro"), root=tmp_path)
    kinds = set()
    for report in reports.every(found):
        if report.form == "figure":
            shown = make(reports.resolve_part(found, report.paper, report.part), tmp_path)
            kinds.add(shown.figure.described.kind)
            if any(record["status"] in ("run", QUOTED) for record in shown.records):
                Drawn(shown).assert_fits()
    assert kinds == {*get_args(FigurePart.model_fields["kind"].annotation)}


# Bars

BARS = f"""
kind: bars
cells: {{measure: tokenised_bleu}}
x: {{label: steps}}
panels: [{TASK}]
series:
- label: CMLM
  system: cmlm-kd
  points: [{{category: 1 step, decoding: {ONE}}}, {{category: 4 steps, decoding: {FOUR}}}]
"""


@pytest.mark.parametrize("over", [None, "dims-cmlm-kd"])
def test_bars_of_values_and_of_differences(root: Path, over: str | None) -> None:
    figure = described(BARS)
    figure["series"][0] |= {"over": over} if over else {}
    point = {"category": "student", "decoding": ONE}
    level = {"label": "student", "system": "dims-cmlm-kd", "style": "level", "points": [point]}
    figure["series"].insert(0, level)
    found = plot(root, figure)
    drawn = Drawn(found)
    axes, (first, second) = drawn.axes[0], found.records[1:]
    assert "student" in drawn.said
    heights = [patch.get_height() for patch in axes.patches[-2:]]
    assert heights == [first["ours"], second["ours"]]
    # a level across bars has no place among them
    assert [each.get_text() for each in axes.get_xticklabels()] == ["1 step", "4 steps"]
    assert axes.get_xlim() == (-0.5, 1.5)
    if over == "dims-cmlm-kd":
        assert first["ours"] < 0 < second["ours"] and first["low"] < first["ours"] < first["high"]
        low, high = axes.get_ylim()
        assert low < first["low"] and second["high"] < high
        (root / second["sources"].split()[1]).unlink()
        assert [each["status"] for each in plot(root, figure).records[1:]] == ["run", "not run"]


# Curves

CURVES = f"""
kind: curves
x: {{label: updates}}
panels: [{{label: En-De, task: {TASK}}}, {{label: De-En, task: {OTHER_TASK}}}]
series: [{{label: one, chain: [dims-cmlm-kd]}}, {{label: two, chain: [cmlm-kd, nat-kd]}}]
"""


def test_curves_follow_each_other(root: Path) -> None:
    figures.write(plot(root, described(CURVES)), root / "nothing.pdf")
    for system in ("cmlm-kd", "nat-kd"):
        write_training(root, system, [(0, 5.0), (20, 10.0), (40, 12.0)])
    found = plot(root, described(CURVES))
    ran = [(each["x"], each["ours"]) for each in found.records if each["status"] == "run"]
    assert ran == [(0, 5), (20, 10), (40, 12), (60, 10), (80, 12)]
    drawn = Drawn(found)
    assert "Not run: De-En. Not run: one (En-De)." in drawn.said


@pytest.mark.parametrize("figure", [CURVES, LINES])
def test_a_collapse_is_drawn_and_said(root: Path, figure: str) -> None:
    write_training(root, "cmlm-kd", [(20, 30.0), (40, 0.1)])
    drawn = Drawn(plot(root, described(figure, **({} if figure == CURVES else {"quotes": []}))))
    assert "Black cross: the training collapsed." in drawn.said
    assert "X" in [line.get_marker() for line in drawn.axes[0].lines]


# Scatter plots

SCATTER = f"""
kind: scatter
panels: [{TASK}]
x: {{measure: latency, setting: cpu-1, log: true, ticks: [2, 4, 8]}}
y: {{measure: sacrebleu}}
series:
- {{label: CMLM, system: cmlm-kd, decoding: [{ONE}, {FOUR}], point: '{{decoding}}', joined: true}}
"""
SPEEDS: dict[str, Any] = {
    "slow": {"system": "cmlm-kd", "decoding": FOUR},
    "fast": {"system": "cmlm-kd", "decoding": ONE},
}


@pytest.mark.parametrize(("one", "four", "front"), [(2.0, 8.0, 2), (8.0, 2.0, 1), (2.0, 2.0, 1)])
def test_the_front_joins_points_that_no_other_beats(
    root: Path, one: float, four: float, front: int
) -> None:
    times = {f"cmlm-kd/{ONE}": [one] * 5, f"cmlm-kd/{FOUR}": [four] * 5}
    drawn = Drawn(plot(root, described(SCATTER, front=True), times))
    (line,) = (line for line in drawn.axes[0].lines if line.get_linestyle() == "--")
    assert len(line.get_xdata()) == front


def test_points_of_a_scatter_plot_are_measured_on_both_axes(root: Path) -> None:
    found = plot(root, described(SCATTER))
    first, second = found.records
    assert (first["x"], second["x"]) == (2.0, 8.0) and first["ours"] < second["ours"]
    assert [second[end] for end in ("x_low", "x_high")] == [8.0, 8.0]  # the quartiles
    drawn = Drawn(found)
    assert drawn.axes[0].get_xscale() == "log"
    assert [each.get_text() for each in drawn.axes[0].get_xticklabels()] == ["2", "4", "8"]
    assert {ONE, FOUR, "latency (ms)", "CMLM"} <= {*drawn.texts}
    assert "Thin lines, one seed of latency: quartiles of the repeats." in drawn.said
    assert "cpu-1" in first["x_sources"]


def test_a_panel_without_a_gpu_is_left_out(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "has_compiled_parts", lambda: False)
    systems = {**SPEEDS, "LevT": {"system": "levt-kd", "decoding": "refinement-10"}}
    figure = described(
        SCATTER,
        x={"measure": "speed_up", "over": "slow"},
        front=True,
        panels=[{"label": each, "setting": each} for each in ("cpu-1", "cuda-1")],
        series=[{"label": "CMLM", "system": [*SPEEDS]}, {"label": "LevT", "system": "LevT"}],
    )
    found = plot(root, figure, systems=systems)
    status = [(each["row"], each["status"]) for each in found.records]
    for expected in (("CMLM", NO_GPU), ("CMLM", "run"), ("LevT", NEEDS_COMPILED)):
        assert status.count(expected) == 2
    drawn = Drawn(found)
    assert len(drawn.axes) == 1 and "No GPU: cuda-1." in drawn.said
    _, _, why = NEEDS_COMPILED.partition(": ")
    assert f"Not run: {why}: LevT (cpu-1)." in drawn.said


def test_no_two_series_look_the_same() -> None:
    assert len({drawing.look(number) for number in range(64)}) == 64
