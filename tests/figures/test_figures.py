"""Figures of numbers: lines, bars, curves of trainings, and scatter plots."""

import shutil
import tarfile
from pathlib import Path
from typing import Any

import made_up_run
import pandas as pd
import pytest
from drawn import Drawn, configuration, described, plot_of
from made_up_run import HEADER, OTHER_TASK, PAPER, PUBLISHED, TASK, publish, run, write_training
from repository import ROOT

from nat.configuration import at_scale as module
from nat.configuration import load
from nat.configuration.overrides import Choice
from nat.figures import drawing, figures
from nat.figures.points import Plot, make
from nat.measures.latency_setting import NO_GPU
from nat.papers import reports, values
from nat.papers.description import FIGURES
from nat.papers.relation import relation
from nat.transformer.fairseq_models import NEEDS_COMPILED
from tests.messages import must_name, told

ONE, FOUR = "mask-predict-1-lb5", "mask-predict-4-lb5"
TIMES = {f"cmlm-kd/{ONE}": [2.0] * 5, f"cmlm-kd/{FOUR}": [8.0] * 5}
"""Milliseconds a sentence, of each repeat."""


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scored")
    made_up_run.write_corpus(folder, several=False)
    for names, errors in (
        (("cmlm-kd", ONE), 0.4),
        (("cmlm-kd", FOUR), 0.2),
        (("dims-cmlm-kd", ONE), 0.21),
        (("dims-cmlm-kd", FOUR), 0.3),
    ):
        run(folder, *names, errors)
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
    timed = [each for each in reports.cells(plain, ("paper", "figure", "2")) if each.setting]
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
    with tarfile.open(ROOT / "tests/golden/results.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    found = load(Choice("micro"), root=tmp_path, checked=False)
    kinds = set()
    for paper, kind, number in reports.targets(found):
        if kind == "figure":
            shown = make(found, paper, number)
            kinds.add(shown.description.kind)
            Drawn(shown).assert_fits()
    assert kinds == {*FIGURES}


def test_a_level_has_no_marker(root: Path) -> None:
    found = Drawn(lines(root)).axes[0].lines
    [curve, *_] = [line for line in found if len(line.get_xdata()) == 2]
    marked = [line for line in found if line.get_marker() not in ("None", "")]
    assert {line.get_color() for line in marked} == {curve.get_color()}


def test_curves_on_a_logarithmic_axis(root: Path) -> None:
    found = lines(root, log=True)
    drawn = Drawn(found)
    assert drawn.axes[0].get_yscale() == "log"
    found.records[0]["ours"], found.records[1]["ours"] = 0.0, 0.000075
    shown = [list(line.get_ydata()) for line in Drawn(found).axes[0].lines]
    assert [0.000075] in shown  # zero has no place there


def test_curves_that_coincide_are_named(root: Path) -> None:
    one = described(LINES)["series"][0]
    found = lines(root, series=[{**one, "label": "one"}, {**one, "label": "other"}])
    assert "Curves that coincide: one, other (En-De)." in Drawn(found).said
    found.records[0]["ours"] += 1
    assert "coincide" not in Drawn(found).said


def test_what_is_said_around_the_panels(root: Path) -> None:
    tasks = [{"label": "En-De", "task": TASK}, {"label": "De-En", "task": OTHER_TASK}]
    said = Drawn(lines(root, panels=tasks)).said
    must_name(
        said,
        *("scale demo: made-up test set", "En-De (stand-in: made-up)", "all of De-En."),
        "Bands, one seed: 95% bootstrap interval over sentences",
        "Not comparable with published results",
    )
    assert "Hollow markers" not in said


def test_nothing_run_at_all(root: Path) -> None:
    (root / "results/demo/scores").rename(root / "results/elsewhere")
    found = lines(root)
    figures.write(found, root / "figure_2.pdf")
    assert "Nothing of this figure was run." in Drawn(found).said


@pytest.mark.parametrize(
    ("draws", "seeds", "said"),
    [
        (1, [1, 2], ["Bands: one standard deviation over seeds 1, 2."]),
        (2, [1], ["over draws of a random decoding.", "Other bands: 95% bootstrap interval"]),
        (2, [1, 2], ["over seeds 1, 2, of a random decoding also over its draws."]),
    ],
)
def test_a_band_says_what_it_is_over(
    root: Path, draws: int, seeds: list[int], said: list[str]
) -> None:
    name = "masked-at-random-0.5-seed"
    for seed in seeds:
        run(root, "dims-cmlm-kd", ONE, 0.21, seed=seed)
        for draw in (1, 2):
            run(root, "cmlm-kd", f"{name}{draw}", 0.2 * draw, seed=seed)
    random: dict[str, Any] = {"system": "cmlm-kd", "decoding": f"{name}1"}
    if draws > 1:
        random |= {"decoding": name + "{draw}", "draws": [1, 2]}
    points = [{"x": 1, "system": "RANDOM"}, {"x": 4, "system": "dims-cmlm-kd", "decoding": ONE}]
    figure = described(LINES, quotes=[], series=[{"label": "s", "points": points}])
    must_name(Drawn(plot(root, figure, seeds=seeds, systems={"RANDOM": random})).said, *said)


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


def bars(root: Path, **series: Any) -> tuple[Plot, Any]:
    """Bars with a level, and the axes of their panel."""
    figure = described(BARS)
    figure["series"][0] |= series
    point = {"category": "student", "decoding": ONE}
    level = {"label": "student", "system": "dims-cmlm-kd", "style": "level", "points": [point]}
    figure["series"].insert(0, level)
    found = plot(root, figure)
    drawn = Drawn(found)
    assert "student" in drawn.said
    return found, drawn.axes[0]


def test_bars_are_as_high_as_their_values(root: Path) -> None:
    found, axes = bars(root)
    heights = [patch.get_height() for patch in axes.patches if patch.get_y() == 0]
    assert [each["ours"] for each in found.records[1:]] == heights[-2:]
    # a level across bars has no place among them
    assert [each.get_text() for each in axes.get_xticklabels()] == ["1 step", "4 steps"]
    assert axes.get_xlim() == (-0.5, 1.5)


@pytest.mark.parametrize(("over", "zeros"), [("cmlm-kd", 2), ("dims-cmlm-kd", 0)])
def test_bars_of_differences(root: Path, over: str, zeros: int) -> None:
    found, axes = bars(root, over=over)
    first, second = found.records[1:]
    written = [text.get_text() for text in axes.texts].count("0")
    assert written == zeros  # a bar of no height says so
    if not zeros:
        assert first["ours"] < 0 < second["ours"] and first["low"] < first["ours"] < first["high"]
        low, high = axes.get_ylim()
        assert low < first["low"] and second["high"] < high
        (root / second["sources"].split()[1]).unlink()
        assert [each["status"] for each in bars(root, over=over)[0].records] == [
            *("run", "run", "not run")
        ]


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
        write_training(root, system, [(20, 10.0), (40, 12.0)])
    found = plot(root, described(CURVES))
    ran = [(each["x"], each["ours"]) for each in found.records if each["status"] == "run"]
    assert ran == [(20, 10), (40, 12), (60, 10), (80, 12)]
    drawn = Drawn(found)
    must_name(drawn.said, "one at dims-cmlm-kd (En-De)", "all of De-En")


def test_curves_need_validation_bleu(root: Path) -> None:
    figure = described(CURVES, series=[{"label": "AT", "chain": ["at-base"]}])
    with told("config/papers/paper.yaml", "figures.2.series", "at-base", "loss"):
        relation(configuration(root, figure), "paper")


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
SPEED_UP = {"measure": "speed_up", "setting": "cpu-1", "over": "slow"}


def quoted(*rows: str) -> str:
    """Published values, each `row,column,value,source,use`."""
    parts = (row.split(",") for row in rows)
    return HEADER + "".join(f"table1,{r},{c},,,,,,{v},,source={s},{u}\n" for r, c, v, s, u in parts)


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
    figures.write(found, root / "figure_2.pdf")
    frame = pd.read_csv(root / "figure_2.csv")
    assert frame["x"].tolist() == [2.0, 8.0] and "cpu-1" in frame["x_sources"][0]


def test_a_scatter_plot_shows_quoted_rows_beside_ours(root: Path) -> None:
    ours = ("CMLM,BLEU,20,authors,ours", "CMLM,speed,3,authors,ours")
    publish(root, quoted(*ours, "GLAT,BLEU,25,cited,quoted", "GLAT,speed,2,cited,quoted"))
    axes: dict[str, Any] = {
        "x": {"measure": "latency", "column": "speed"},
        "y": {"measure": "sacrebleu", "column": "BLEU"},
    }
    columns = [
        {"label": "BLEU", "measure": "sacrebleu"},
        {"label": "speed", "measure": "latency", "setting": "cpu-1"},
    ]
    row = {"label": "CMLM", "system": "cmlm-kd", "decoding": ONE}
    tables = {"1": {"title": "t", "columns": columns, "rows": [row]}}
    settings = [{"label": each, "setting": each} for each in ("cpu-1", "cuda-1")]
    # the quoted values are of the setting of one panel
    others = {"label": "others", "quoted": ["GLAT"], "setting": "cpu-1"}
    figure = described(SCATTER, quotes=[1], panels=settings, series=[row, others], **axes)
    found = plot(root, figure, tables=tables)
    shown = [
        (each["category"], each["column"], each["published"], each["x_published"])
        for each in found.records
    ]
    assert shown == [("", "cpu-1", 20, 3), ("", "cuda-1", 20, None), ("GLAT", "cpu-1", 25, 2)]
    assert "Hollow" not in Drawn(found).said  # beside a stand-in
    others["quoted"] = ["GLATT"]
    with told("config/papers/paper.yaml", "figures.2.series", "GLATT", "GLAT"):
        plot(root, figure, tables=tables)


def test_a_published_speed_up_is_drawn_as_it_is(root: Path) -> None:
    publish(root, quoted("slow,speed-up,1,authors,ours", "fast,speed-up,3,authors,ours"))
    column = {"label": "speed-up", **SPEED_UP}
    tables = {"1": {"title": "t", "columns": [column], "rows": [{"system": [*SPEEDS]}]}}
    series = [{"label": "CMLM", "system": "fast"}]
    figure = described(SCATTER, quotes=[1], x=SPEED_UP, series=series)
    found = plot(root, figure, tables=tables, systems=SPEEDS)
    (record,) = found.records
    assert (record["x"], record["x_published"]) == (4.0, 3)
    must_name(
        Drawn(found).said,
        "of speed-up: 95% bootstrap interval over the repeats (1,000 samples)",
        "sacreBLEU: 95% bootstrap interval over sentences",
    )


@pytest.mark.parametrize("measure", ["latency", "speed_up"])
def test_a_panel_without_a_gpu_says_so(
    root: Path, measure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "has_compiled_parts", lambda: False)
    systems = {**SPEEDS, "LevT": {"system": "levt-kd", "decoding": "refinement-10"}}
    figure = described(
        SCATTER,
        x={"measure": measure} | ({"over": "slow"} if measure == "speed_up" else {}),
        panels=[{"label": each, "setting": each} for each in ("cpu-1", "cuda-1")],
        series=[{"label": "CMLM", "system": [*SPEEDS]}, {"label": "LevT", "system": "LevT"}],
    )
    found = plot(root, figure, systems=systems)
    status = [(each["row"], each["status"]) for each in found.records]
    for expected in (("CMLM", NO_GPU), ("CMLM", "run"), ("LevT", NEEDS_COMPILED)):
        assert status.count(expected) == 2
    drawn = Drawn(found)
    assert NO_GPU in drawn.texts and not any(text.startswith("not run") for text in drawn.texts)
    _, _, why = NEEDS_COMPILED.partition(": ")
    must_name(drawn.said, "No GPU: all of cuda-1.", f"LevT (cpu-1): {why}")


def test_points_that_a_reader_should_not_rely_on_are_named(root: Path) -> None:
    times = {**TIMES, f"cmlm-kd/{ONE}": [2.0, 2.0, 2.0, 6.0, 6.0]}
    run(root, "cmlm-kd", FOUR, 0.2, seed=2)
    said = Drawn(plot(root, described(SCATTER), times=times, seeds=[1, 2])).said
    # each is about all that was run of its point, so no panel is named
    assert f"CMLM, {ONE}: without seed 2" in said and f"CMLM, {FOUR}: " not in said
    assert f"CMLM, {ONE}: {values.NOT_STEADY}" in said


# Names and looks


def test_no_two_series_look_the_same() -> None:
    assert len({drawing.look(number) for number in range(64)}) == 64
