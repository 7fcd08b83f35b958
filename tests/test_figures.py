import copy
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import made_up_run
import matplotlib as mpl
import pandas as pd
import pytest
from made_up_run import CORPUS, OTHER_TASK, PAPER, TASK, write_numbers
from matplotlib.figure import Figure
from matplotlib.text import Text
from repository import configured
from test_training_runs import write_run

from nat.cells import times
from nat.cells.paper import entries
from nat.configuration import configuration as module
from nat.errors import UserError
from nat.figures import drawing, figures, panels, point_names, word_panels
from nat.files import write_json
from nat.jobs.analyse import with_measures
from nat.measures.latency_setting import NO_GPU
from nat.measures.results import missing
from nat.papers import reports
from nat.transformer.fairseq_models import NEEDS_COMPILED


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made_up_run.write_corpus(tmp_path, several=False)
    for steps, errors in ((1, 0.4), (4, 0.2)):
        made_up_run.run(tmp_path, "cmlm-kd", f"mask-predict-{steps}-lb5", errors)
    made_up_run.run(tmp_path, "dims-cmlm-kd", "mask-predict-1-lb5", 0.21)
    return tmp_path


def configuration(root: Path, seeds: list[int] | None = None, **changes: Any) -> Any:
    paper = copy.deepcopy(PAPER)
    figure = paper["figures"]["2"]
    del paper["tables"]["1"]["rows"][1]["ours_only"]
    line = f"table1,DiMS,En-De,,DiMS,,{TASK},bleu,20.5,BLEU,source=authors,ours\n"
    made_up_run.publish(root, made_up_run.PUBLISHED + line)
    point = {"x": 1, "decoding": "mask-predict-1-lb5"}
    student = {"label": "student", "system": "dims-cmlm-kd", "style": "level", "points": [point]}
    figure["series"].append(student)
    figure["x"]["log"] = True
    figure["quotes"] = [1]
    figure |= changes
    return made_up_run.configuration(root, {"paper": paper}, seeds)


def test_points_are_in_the_csv_with_their_files(root: Path) -> None:
    figures.write(figures.make(configuration(root), "paper", "2"), root / "figure_2.pdf")
    frame = pd.read_csv(root / "figure_2.csv")
    assert list(zip(frame["series"], frame["x"], strict=True)) == [
        ("CMLM", 1),
        ("CMLM", 4),
        ("student", 1),
    ]
    assert (frame["low"] < frame["ours"]).all() and (frame["ours"] < frame["high"]).all()
    assert all((root / path).exists() for path in frame["sources"])
    assert frame["published"].tolist()[2] == 20.5


def test_the_same_points_give_the_same_bytes(root: Path) -> None:
    plot = figures.make(configuration(root), "paper", "2")
    for name in ("a", "b"):
        figures.write(plot, root / f"{name}.pdf")
    for suffix in ("pdf", "png", "csv"):
        assert (root / f"a.{suffix}").read_bytes() == (root / f"b.{suffix}").read_bytes()
    assert b"CreationDate" not in (root / "a.pdf").read_bytes()


def drawn(plot: figures.Plot) -> tuple[Any, list[Text]]:
    with mpl.rc_context(figures.STYLE):
        figure = figures.draw(plot)
        figure.draw_without_rendering()
    # Matplotlib keeps ticks beyond the limits of an axis, which it does not draw.
    beyond = set()
    for axes in figure.axes:
        low, high = axes.get_ylim()
        ticks = axes.yaxis.get_major_ticks()
        beyond |= {tick.label1 for tick in ticks if not low <= tick.get_loc() <= high}
    texts = [text for text in figure.findobj(Text) if text.get_text().strip()]
    return figure, [text for text in texts if text not in beyond and text.get_visible()]


def apart(figure: Any, texts: list[Text]) -> None:
    """Assert that no text overlaps another or leaves the page."""
    page = figure.bbox
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts]
    for name, box in boxes:
        assert page.x0 <= box.x0 and box.x1 <= page.x1, name
        assert page.y0 <= box.y0 and box.y1 <= page.y1, name
    for number, (name, box) in enumerate(boxes):
        for other, second in boxes[number + 1 :]:
            assert not box.overlaps(second), (name, other)


def readable(figure: Any, texts: list[Text], page: int = 240) -> None:
    """Assert that no font is smaller than 6 points on a column (240 points) or a text (505)."""
    smallest = min(text.get_fontsize() for text in texts)
    assert smallest * page / (72 * figure.get_figwidth()) >= 6


@pytest.mark.parametrize("panels", [1, 2, 3])
def test_no_text_overlaps_or_leaves_the_page(root: Path, panels: int) -> None:
    tasks = [{"label": f"panel {number}", "task": TASK} for number in range(panels)]
    figure, texts = drawn(figures.make(configuration(root, panels=tasks), "paper", "2"))
    apart(figure, texts)
    readable(figure, texts, 240 if panels == 1 else 505)


def test_a_level_has_no_marker(root: Path) -> None:
    figure, _ = drawn(figures.make(configuration(root), "paper", "2"))
    [curve, *_] = [line for line in figure.axes[0].lines if len(line.get_xdata()) == 2]
    marked = [line for line in figure.axes[0].lines if line.get_marker() not in ("None", "")]
    assert {line.get_color() for line in marked} == {curve.get_color()}


def test_curves_on_a_logarithmic_axis(root: Path) -> None:
    plot = figures.make(configuration(root, log=True), "paper", "2")
    figure, texts = drawn(plot)
    assert figure.axes[0].get_yscale() == "log"
    apart(figure, texts)
    plot.records[0]["ours"], plot.records[1]["ours"] = 0.0, 0.000075
    _, texts = drawn(plot)
    assert "CMLM\n0.000075" in {text.get_text() for text in texts}


def test_curves_that_coincide_are_named(root: Path) -> None:
    points = [{"x": steps, "decoding": f"mask-predict-{steps}-lb5"} for steps in (1, 4)]
    one = {"label": "one", "system": "cmlm-kd", "points": points}
    series = [one, {**one, "label": "other"}]
    plot = figures.make(configuration(root, series=series, quotes=[]), "paper", "2")
    _, texts = drawn(plot)
    said = " ".join(" ".join(text.get_text().split()) for text in texts)
    assert "Curves that coincide: one, other (En-De)." in said
    plot.records[0]["ours"] += 1
    _, texts = drawn(plot)
    assert not any("coincide" in text.get_text() for text in texts)


def test_what_is_said_around_the_panels(root: Path) -> None:
    panels = [{"label": "En-De", "task": TASK}, {"label": "De-En", "task": OTHER_TASK}]
    _, texts = drawn(figures.make(configuration(root, panels=panels), "paper", "2"))
    text = " ".join(" ".join(text.get_text().split()) for text in texts)
    assert "scale demo: made-up test set" in text
    assert "En-De (stand-in: made-up)" in text
    assert "Not run: all of De-En." in text and "not run" in text
    assert "Bands, one seed: 95% bootstrap interval over sentences" in text
    assert "Not comparable with published results" in text
    assert "Hollow markers" not in text
    plot = figures.make(configuration(root, panels=panels[1:], quotes=[]), "paper", "2")
    text = " ".join(" ".join(text.get_text().split()) for text in drawn(plot)[1])
    assert "Nothing of this figure was run." in text and "all of" not in text


def test_seeds_give_a_standard_deviation(root: Path) -> None:
    made_up_run.run(root, "dims-cmlm-kd", "mask-predict-1-lb5", 0.21, seed=2)
    plot = figures.make(configuration(root, [1, 2]), "paper", "2")
    _, texts = drawn(plot)
    assert any("standard deviation over seeds 1, 2" in text.get_text() for text in texts)


@pytest.mark.parametrize(
    ("seeds", "said"),
    [
        (
            [1],
            "Bands: one standard deviation over draws of a random decoding. Other bands: 95% "
            "bootstrap interval over sentences",
        ),
        (
            [1, 2],
            "Bands: one standard deviation over seeds 1, 2, of a random decoding also over its "
            "draws.",
        ),
    ],
)
def test_a_band_says_whether_it_is_over_draws(root: Path, seeds: list[int], said: str) -> None:
    share = {"system": "cmlm-kd", "decoding": "masked-at-random-0.5-seed{draw}", "draws": [1, 2]}
    points = [{"x": 1}, {"x": 4, "system": "dims-cmlm-kd", "decoding": "mask-predict-1-lb5"}]
    figure = {**PAPER["figures"]["2"], "series": [{"label": "s", "points": points}]}
    figure["cells"] = {**figure["cells"], "system": "RANDOM"}
    paper = {"title": "Paper", "systems": {"RANDOM": share}, "figures": {"2": figure}}
    for seed in seeds:
        for draw in (1, 2):
            decoding = f"masked-at-random-0.5-seed{draw}"
            made_up_run.run(root, "cmlm-kd", decoding, 0.2 * draw, seed=seed)
        made_up_run.run(root, "dims-cmlm-kd", "mask-predict-1-lb5", 0.21, seed=seed)
    plain = made_up_run.configuration(root, {"paper": paper}, seeds)
    _, texts = drawn(figures.make(plain, "paper", "2"))
    assert said in " ".join(" ".join(text.get_text().split()) for text in texts)


def test_nothing_run_at_all(tmp_path: Path, root: Path) -> None:
    (root / "results/demo/scores").rename(root / "results/elsewhere")
    figures.write(figures.make(configuration(root), "paper", "2"), root / "figure_2.pdf")
    assert (root / "figure_2.png").exists()


def bars(root: Path, before: Sequence[dict[str, Any]] = (), **series: Any) -> Any:
    points = [
        {"category": f"{steps} steps", "decoding": f"mask-predict-{steps}-lb5"} for steps in (1, 4)
    ]
    figure = {
        "title": "bars",
        "kind": "bars",
        "cells": {"measure": "tokenised_bleu", "split": "test"},
        "x": {"label": "steps"},
        "panels": [{"label": "En-De", "task": TASK}],
        "series": [
            *before,
            {"label": "CMLM", "system": "cmlm-kd", "points": points, **series},
        ],
    }
    paper = {"title": "Paper", "figures": {"2": figure}}
    return made_up_run.configuration(root, {"paper": paper})


def test_bars_are_as_high_as_their_values(root: Path) -> None:
    plot = figures.make(bars(root), "paper", "2")
    figure, texts = drawn(plot)
    heights = [patch.get_height() for patch in figure.axes[0].patches]
    assert heights == [record["ours"] for record in plot.records]
    assert {"1 steps", "4 steps", "CMLM"} <= {text.get_text() for text in texts}


def test_a_level_across_bars_has_no_place_among_them(root: Path) -> None:
    point = {"category": "student", "decoding": "mask-predict-1-lb5"}
    level = {"label": "student", "system": "dims-cmlm-kd", "style": "level", "points": [point]}
    figure, texts = drawn(figures.make(bars(root, before=[level]), "paper", "2"))
    ticks = [each.get_text() for each in figure.axes[0].get_xticklabels()]
    assert ticks == ["1 steps", "4 steps"]
    assert figure.axes[0].get_xlim() == (-0.5, 1.5)
    assert any("student" in text.get_text() for text in texts)


def test_a_bar_of_no_height_says_so(root: Path) -> None:
    plot = figures.make(bars(root, over="cmlm-kd"), "paper", "2")  # no gain over itself
    assert [record["ours"] for record in plot.records] == [0, 0]
    figure, _ = drawn(plot)
    assert [text.get_text() for text in figure.axes[0].texts].count("0") == 2
    low, high = figure.axes[0].get_ylim()
    assert low == 0 < high
    figure, _ = drawn(figures.make(bars(root), "paper", "2"))
    assert "0" not in [text.get_text() for text in figure.axes[0].texts]


def test_bars_of_differences(root: Path) -> None:
    made_up_run.run(root, "dims-cmlm-kd", "mask-predict-4-lb5", 0.3)
    plain = bars(root, label="student", system="dims-cmlm-kd", over="cmlm-kd")
    files = reports.files(plain, ("paper", "figure", "2"))
    # scores of both with their statistics, and the record and the curve that tell of a collapse
    assert len(files) == 10
    plot = figures.make(plain, "paper", "2")
    first, second = plot.records
    assert first["ours"] > 0 > second["ours"]
    assert first["low"] < first["ours"] < first["high"]
    figure, texts = drawn(plot)
    low, high = figure.axes[0].get_ylim()
    assert low < second["low"] and first["high"] < high
    assert any("gain in tokenised BLEU" in text.get_text() for text in texts)
    readable(figure, texts)
    (root / made_up_score(root, 4)).unlink()
    assert [record["status"] for record in figures.make(plain, "paper", "2").records] == [
        "run",
        "not run",
    ]


def made_up_score(root: Path, steps: int) -> str:
    return f"results/demo/scores/{CORPUS}/cmlm-kd/seed1/mask-predict-{steps}-lb5/test.json"


def curves(root: Path) -> Any:
    figure = {
        "title": "curves",
        "kind": "curves",
        "x": {"label": "updates"},
        "panels": [{"label": "En-De", "task": TASK}, {"label": "De-En", "task": OTHER_TASK}],
        "series": [
            {"label": "one", "chain": ["dims-cmlm-kd"]},
            {"label": "two", "chain": ["cmlm-kd", "nat-kd"]},
        ],
    }
    return made_up_run.configuration(root, {"paper": {"title": "Paper", "figures": {"2": figure}}})


def test_curves_follow_each_other(root: Path) -> None:
    folder = root / "results/demo/models" / CORPUS
    for system in ("cmlm-kd", "nat-kd"):
        write_run(folder / system / "seed1/training.json", [(20, 10.0), (40, 12.0)])
    plain = curves(root)
    # of each training its record and its curve
    assert len(reports.files(plain, ("paper", "figure", "2"))) == 6
    plot = figures.make(plain, "paper", "2")
    points = [(r["x"], r["ours"]) for r in plot.records if r["status"] == "run"]
    assert points == [(20, 10), (40, 12), (60, 10), (80, 12)]
    figure, texts = drawn(plot)
    said = " ".join(" ".join(text.get_text().split()) for text in texts)
    assert "one at dims-cmlm-kd (En-De)" in said and "all of De-En" in said
    readable(figure, texts, 505)
    figures.write(plot, root / "figure_2.pdf")


def test_curves_need_validation_bleu(root: Path) -> None:
    figure = curves(root).files["papers"]["paper"]["figures"]["2"]
    figure = {**figure, "series": [{"label": "AT", "chain": ["at-base"]}]}
    paper = {"title": "Paper", "figures": {"2": figure}}
    plain = made_up_run.configuration(root, {"paper": paper})
    with pytest.raises(UserError, match="figures.2.series: 'at-base' validates by loss"):
        entries(plain, "paper", "figure", "2")


def test_curves_without_a_validation_are_written(root: Path) -> None:
    plot = replace(figures.make(curves(root), "paper", "2"), records=[])
    figures.write(plot, root / "figure_2.pdf")


def test_labels_that_are_not_mathematics_are_refused_before_anything_runs(root: Path) -> None:
    for text in (r"$\alpha$", "5$"):
        assert entries(configuration(root, title=text), "paper", "figure", "2")
    with pytest.raises(UserError, match=r"figures.2: '\$\\alpa\$' is not valid mathematics"):
        entries(configuration(root, title=r"$\alpa$"), "paper", "figure", "2")


def test_a_collapse_is_drawn_and_said(root: Path) -> None:
    folder = root / "results/demo/models" / CORPUS
    write_run(folder / "cmlm-kd/seed1/training.json", [(20, 30.0), (40, 0.1)])
    for plain in (curves(root), configuration(root)):
        plot = figures.make(plain, "paper", "2")
        _, texts = drawn(plot)
        said = " ".join(" ".join(text.get_text().split()) for text in texts)
        assert "Black cross: the training collapsed." in said


def drawn_paper(root: Path, figure: dict[str, Any], **content: Any) -> Any:
    paper = {"title": "Paper", "cells": {"task": TASK, "split": "test"}, **content}
    return made_up_run.configuration(root, {"paper": {**paper, "figures": {"2": figure}}})


def write_latency(plain: Any, milliseconds: dict[str, float]) -> None:
    cells = reports.cells(plain, ("paper", "figure", "2"))
    found = {cell: [milliseconds[cell.decoding]] * 5 for cell in cells if cell.source == "latency"}
    made_up_run.write_latencies(Path(plain.root), found)


SCATTER: dict[str, Any] = {
    "title": "quality against speed",
    "kind": "scatter",
    "panels": [TASK],
    "x": {"measure": "latency", "setting": "cpu-1", "log": True},
    "y": {"measure": "sacrebleu"},
    "series": [
        {"label": "CMLM", "system": "cmlm-kd", "decoding": ["x"], "joined": True},
    ],
}


def test_points_of_a_scatter_plot_are_measured_on_both_axes(root: Path) -> None:
    decodings = [f"mask-predict-{steps}-lb5" for steps in (1, 4)]
    series = {**SCATTER["series"][0], "decoding": decodings, "point": "{decoding}"}
    plain = drawn_paper(root, {**SCATTER, "series": [series]})
    write_latency(plain, dict(zip(decodings, (2.0, 8.0), strict=True)))
    plot = figures.make(plain, "paper", "2")
    assert [record["x"] for record in plot.records] == [2.0, 8.0]
    assert [plot.records[1][end] for end in ("x_low", "x_high")] == [8.0, 8.0]  # the quartiles
    assert plot.records[0]["ours"] < plot.records[1]["ours"]
    assert len(reports.files(plain, ("paper", "figure", "2"))) >= 4
    figure, texts = drawn(plot)
    assert figure.axes[0].get_xscale() == "log"
    assert {*decodings, "latency (ms)", "● CMLM"} <= {text.get_text() for text in texts}
    said = " ".join(" ".join(text.get_text().split()) for text in texts)
    assert "Thin lines, one seed of latency: quartiles of the repeats." in said
    readable(figure, texts)
    ticks = {**SCATTER["x"], "ticks": [2, 4, 8]}
    plain = drawn_paper(root, {**SCATTER, "series": [series], "x": ticks})
    axes = drawn(figures.make(plain, "paper", "2"))[0].axes[0]
    assert [each.get_text() for each in axes.get_xticklabels()] == ["2", "4", "8"]
    figures.write(plot, root / "figure_2.pdf")
    frame = pd.read_csv(root / "figure_2.csv")
    assert frame["x"].tolist() == [2.0, 8.0] and "cpu-1" in frame["x_sources"][0]


def test_a_scatter_plot_shows_quoted_rows_beside_ours(root: Path) -> None:
    lines = "".join(
        f"table1,{row},{column},,,,,,{value},,source={source},{use}\n"
        for row, column, value, source, use in (
            ("CMLM", "BLEU", 20, "authors", "ours"),
            ("CMLM", "speed", 3, "authors", "ours"),
            ("GLAT", "BLEU", 25, "cited", "quoted"),
            ("GLAT", "speed", 2, "cited", "quoted"),
        )
    )
    made_up_run.publish(root, made_up_run.HEADER + lines)
    columns = [
        {"label": "BLEU", "measure": "sacrebleu"},
        {"label": "speed", "measure": "latency", "setting": "cpu-1"},
    ]
    row = {"label": "CMLM", "system": "cmlm-kd", "decoding": "mask-predict-1-lb5"}
    tables = {"1": {"title": "t", "columns": columns, "rows": [row]}}
    figure = {**SCATTER, "quotes": [1], "series": [row, {"label": "others", "quoted": ["GLAT"]}]}
    for axis, name in (("x", "speed"), ("y", "BLEU")):
        figure[axis] = {**figure[axis], "column": name}
    plain = drawn_paper(root, figure, tables=tables)
    _, texts = drawn(figures.make(plain, "paper", "2"))
    assert not any("Hollow" in text.get_text() for text in texts)  # beside a stand-in
    write_latency(plain, {"mask-predict-1-lb5": 2.0})
    ours, quoted = figures.make(plain, "paper", "2").records
    assert (ours["published"], ours["x_published"]) == (20, 3)
    assert (quoted["published"], quoted["x_published"], quoted["category"]) == (25, 2, "GLAT")
    elsewhere = {"label": "others", "quoted": ["GLAT"], "setting": "cuda-1"}
    panels = [
        {"label": setting, "task": TASK, "setting": setting} for setting in ("cpu-1", "cuda-1")
    ]
    x = {"measure": "latency", "column": "speed"}
    two = {**figure, "panels": panels, "x": x, "series": [row, elsewhere]}
    records = figures.make(drawn_paper(root, two, tables=tables), "paper", "2").records
    assert [each["column"] for each in records if each["row"] == "others"] == ["cuda-1"]
    idle = {**figure, "series": [row, {**elsewhere, "split": "valid"}]}
    with pytest.raises(UserError, match="'split' of the quoted row 'GLAT' changes nothing"):
        figures.make(drawn_paper(root, idle, tables=tables), "paper", "2")
    second = {**tables["1"], "rows": [{**row, "decoding": "mask-predict-2-lb5"}]}
    unused = drawn_paper(root, {**figure, "quotes": [1, 2]}, tables={**tables, "2": second})
    with pytest.raises(UserError, match="figures.2.quotes: table 2 has no published value of a p"):
        figures.make(unused, "paper", "2")
    series = [row, {"label": "others", "quoted": ["GLATT"]}]
    wrong = drawn_paper(root, {**figure, "series": series}, tables=tables)
    with pytest.raises(UserError, match=r"figures.2.series: .*row 'GLATT', column 'BLEU'"):
        figures.make(wrong, "paper", "2")


def test_a_published_speed_up_is_drawn_as_it_is(root: Path) -> None:
    lines = "".join(
        f"table1,{row},speed-up,,,,,,{value},,source=authors,ours\n"
        for row, value in (("4 steps", 1), ("1 step", 3))
    )
    made_up_run.publish(root, made_up_run.HEADER + lines)
    rows = [
        {"label": label, "system": "cmlm-kd", "decoding": f"mask-predict-{label[0]}-lb5"}
        for label in ("4 steps", "1 step")
    ]
    column = {"label": "speed-up", "measure": "speed_up", "setting": "cpu-1", "over": "4 steps"}
    tables = {"1": {"title": "t", "columns": [column], "rows": rows}}
    systems = {"slow": {"system": "cmlm-kd", "decoding": "mask-predict-4-lb5"}}
    systems["fast"] = {"system": "cmlm-kd", "decoding": "mask-predict-1-lb5"}
    x = {"measure": "speed_up", "setting": "cpu-1", "over": "slow"}
    figure = {**SCATTER, "quotes": [1], "x": x, "series": [{"label": "CMLM", "system": "fast"}]}
    plain = drawn_paper(root, figure, tables=tables, systems=systems)
    write_latency(plain, {"mask-predict-1-lb5": 2.0, "mask-predict-4-lb5": 8.0})
    plot = figures.make(plain, "paper", "2")
    (record,) = plot.records
    assert (record["x"], record["x_published"]) == (4.0, 3)
    _, texts = drawn(plot)
    said = " ".join(" ".join(text.get_text().split()) for text in texts)
    assert "of speed-up: 95% bootstrap interval over the repeats (1,000 samples)" in said
    assert "BLEU: 95% bootstrap interval over sentences" in said


@pytest.mark.parametrize("measure", ["latency", "speed_up"])
def test_a_panel_without_a_gpu_says_so(
    root: Path, measure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "has_compiled_parts", lambda: False)
    x = {"measure": measure} | ({"over": "slow"} if measure == "speed_up" else {})
    systems = {
        name: {"system": "cmlm-kd", "decoding": f"mask-predict-{steps}-lb5"}
        for name, steps in (("slow", 4), ("fast", 1))
    }
    systems["LevT"] = {"system": "levt-kd", "decoding": "refinement-10"}
    series = [{"label": "CMLM", "system": ["slow", "fast"]}, {"label": "LevT", "system": "LevT"}]
    panels = [{"label": setting, "setting": setting} for setting in ("cpu-1", "cuda-1")]
    figure = {**SCATTER, "x": x, "panels": panels, "series": series}
    plain = drawn_paper(root, figure, systems=systems)
    write_latency(plain, {"mask-predict-1-lb5": 2.0, "mask-predict-4-lb5": 8.0})
    for cell in reports.cells(plain, ("paper", "figure", "2")):
        if cell.setting == "cuda-1":
            write_numbers(root / cell.score_path, cell.timed_name, missing(["latency"], NO_GPU))
    plot = figures.make(plain, "paper", "2")
    found = [record["status"] for record in plot.records if record["row"] == "CMLM"]
    assert sorted(found) == [NO_GPU, NO_GPU, "run", "run"]
    assert {each["status"] for each in plot.records if each["row"] == "LevT"} == {NEEDS_COMPILED}
    _, texts = drawn(plot)
    said = [" ".join(text.get_text().split()) for text in texts]
    assert NO_GPU in said and not any(text.startswith("not run") for text in said)
    notes = " ".join(said)
    assert "No GPU: all of cuda-1." in notes
    assert "Not run: LevT (cpu-1): needs fairseq's compiled parts." in notes


def test_no_two_series_look_the_same() -> None:
    looks = [drawing.look(number) for number in range(64)]
    assert len(set(looks)) == 64


def named(
    points: list[point_names.Named], thin: Sequence[point_names.Segment] = ()
) -> tuple[Any, dict[str, Any]]:
    """Axes in which points are named, and where each name stands, in pixels."""
    axes = Figure().add_axes((0, 0, 1, 1))
    axes.scatter(*zip(*((x, y) for x, y, *_ in points), strict=True))
    axes.set(xlim=(0, 1), ylim=(0, 1))
    point_names.name_points(axes, points, thin)
    return axes, {text.get_text(): text.get_window_extent() for text in axes.texts}


def test_names_of_points_do_not_cover_each_other() -> None:
    alone = [(0.1, 0.1, "alone", "black"), (0.9, 0.9, "at the edge", "black")]
    crowd = [(0.5, 0.5, f"number {number} of a crowd", "black") for number in range(40)]
    axes, places = named(alone + crowd)
    assert {"alone", "at the edge"} < set(places) and len(places) < 42
    # names beside the place of the crowd, and lines to those that found room further off
    assert len(places) > 5 and axes.lines
    boxes = list(places.values())
    for number, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[number + 1 :])


def test_no_point_of_a_series_is_nearer_to_a_name_than_its_own() -> None:
    x = {"32": 0.2, "16": 0.213, "8": 0.23, "1": 0.4}
    points = [(place, 0.5, name, "black") for name, place in x.items()]
    thin = [((place, 0.4), (place, 0.6)) for place in x.values()]
    axes, places = named(points, thin)
    assert set(places) == set(x)
    led = [line.get_xdata()[0] for line in axes.lines]
    for name, box in places.items():
        pixels = {each: axes.transData.transform((at, 0.5)) for each, at in x.items()}
        away = {
            each: math.dist((min(max(at[0], box.x0), box.x1), min(max(at[1], box.y0), box.y1)), at)
            for each, at in pixels.items()
        }
        assert x[name] in led or min(away, key=away.__getitem__) == name


def test_names_are_not_written_on_thin_lines() -> None:
    points = [(0.5, 0.5, "a name", "black")]
    _, plain = named(points)
    across = [((0.3, y / 100), (0.9, y / 100)) for y in range(49, 56)]
    axes, places = named(points, across)
    assert plain["a name"].bounds != places["a name"].bounds
    lines = [axes.transData.transform(line)[0][1] for line in across]
    assert not any(places["a name"].y0 < y < places["a name"].y1 for y in lines)


def test_a_heat_map_of_cells(root: Path) -> None:
    figure = {
        "title": "map",
        "kind": "heat_map",
        "cells": {"measure": "sacrebleu", "decoding": "mask-predict-{steps}-lb5"},
        "panels": [TASK],
        "x": {"label": "steps", "values": [1, 4]},
        "series": [{"label": "CMLM", "system": "cmlm-kd"}, {"label": "NAT", "system": "cmlm-raw"}],
    }
    plot = figures.make(drawn_paper(root, figure), "paper", "2")
    page, texts = drawn(plot)
    image = page.axes[0].images[0].get_array()
    assert image.tolist() == [[record["ours"] for record in plot.records[:2]]]
    said = " ".join(" ".join(text.get_text().split()) for text in texts)
    assert "Not run: NAT at steps 1, 4 (WMT14 En-De)." in said


def test_a_heat_map_of_an_analysis(root: Path) -> None:
    figure = {
        "title": "map",
        "kind": "heat_map",
        "cells": {"measure": "state_cosine"},
        "panels": [{"label": "NAT", "system": "nat-kd"}, {"label": "CMLM", "system": "cmlm-kd"}],
        "x": {"label": "position"},
        "matrix": {"values": "map.cosines", "rows": "map.labels", "columns": "map.labels"},
    }
    plain = drawn_paper(root, figure)
    cell = reports.cells(plain, ("paper", "figure", "2"))[0]
    cosines = [[1.0, 0.25], [0.25, 1.0]]
    content = {"map": {"labels": ["a", "a"], "cosines": cosines}}
    write_of_test(root / cell.score_path, content)
    plot = figures.make(plain, "paper", "2")
    page, texts = drawn(plot)
    assert page.axes[0].images[0].get_array().tolist() == cosines
    assert "not run" in {text.get_text() for text in texts}
    other = reports.cells(plain, ("paper", "figure", "2"))[1]
    wider = {**content, "map": {**content["map"], "cosines": [[1.0, -0.5], [-0.5, 1.0]]}}
    write_of_test(root / other.score_path, wider)
    page, _ = drawn(figures.make(plain, "paper", "2"))
    assert [axes.images[0].get_clim() for axes in page.axes if axes.images] == [(-0.5, 1.0)] * 2
    content["map"]["label"] = content["map"].pop("labels")
    write_of_test(root / cell.score_path, content)
    words = "^config/papers/paper.yaml: figures.2: .* has no 'map.labels' of the split test; "
    with pytest.raises(UserError, match=words + "did you mean 'label'"):
        figures.make(plain, "paper", "2")
    both = {**figure, "series": [{"system": "x"}]}
    with pytest.raises(UserError, match="figures.2.*either series or matrix"):
        figures.make(drawn_paper(root, both), "paper", "2")


def test_upright_names_of_a_heat_map_cover_nothing(root: Path) -> None:
    figure = {
        "title": "map",
        "kind": "heat_map",
        "cells": {"measure": "state_cosine"},
        "panels": [{"label": "NAT", "system": "nat-kd"}, {"label": "CMLM", "system": "cmlm-kd"}],
        "x": {"label": "position"},
        "matrix": {"values": "map.cosines", "rows": "map.labels", "columns": "map.labels"},
        "notes": ["What is said below the panels."],
    }
    plain = drawn_paper(root, figure)
    words = [f"aratherlongword{number}" for number in range(12)]
    cosines = [[float(row == column) for column in words] for row in words]
    content = {"map": {"labels": words, "cosines": cosines}}
    for cell in reports.cells(plain, ("paper", "figure", "2")):
        write_of_test(root / cell.score_path, content)
    page, texts = drawn(figures.make(plain, "paper", "2"))
    names = {each.get_text() for axes in page.axes for each in axes.get_xticklabels()}
    assert set(words) <= names
    apart(page, texts)
    readable(page, texts, 505)
    path = root / reports.cells(plain, ("paper", "figure", "2"))[1].score_path
    short = {"labels": ["a", "b"], "cosines": [[1.0, 0.0], [0.0, 1.0]]}
    write_of_test(path, {"map": short})
    page, _ = drawn(figures.make(plain, "paper", "2"))
    turned = {each.get_rotation() for axes in page.axes[:2] for each in axes.get_xticklabels()}
    assert turned == {90}


def test_a_heat_map_of_a_long_sentence_names_every_position(root: Path) -> None:
    panels = [{"label": "NAT", "system": "nat-kd"}, {"label": "CMLM", "system": "cmlm-kd"}]
    figure = {
        "title": "map",
        "kind": "heat_map",
        "cells": {"measure": "state_cosine"},
        "panels": panels,
        "x": {"label": "position"},
        "matrix": {"values": "map.cosines", "rows": "map.labels", "columns": "map.labels"},
    }
    plain = drawn_paper(root, figure)
    words = [f"word{number}" for number in range(30)]
    cosines = [[float(row == column) for column in words] for row in words]
    content = {"map": {"labels": words, "cosines": cosines}}
    for cell in reports.cells(plain, ("paper", "figure", "2")):
        write_of_test(root / cell.score_path, content)
    page, texts = drawn(figures.make(plain, "paper", "2"))
    axes = page.axes[0]
    names = axes.get_yticklabels()
    assert [each.get_text() for each in axes.get_xticklabels()] == words
    assert [each.get_text() for each in names] == words
    edges = [each.get_window_extent() for each in names]
    assert all(above.y0 >= below.y1 for above, below in zip(edges, edges[1:], strict=False))
    apart(page, texts)
    readable(page, texts, 505)


def write_of_test(path: Path, content: dict[str, Any]) -> None:
    """Write an analysis of the test set."""
    write_json(path, with_measures({"splits": {"test": content}}))


def write_analysis(plain: Any, content: dict[str, Any]) -> Path:
    """Write what an analysis found on the test set; returns its file."""
    [cell] = dict.fromkeys(reports.cells(plain, ("paper", "figure", "2")))
    path = Path(plain.root) / cell.score_path
    write_of_test(path, content)
    return path


PLANE: dict[str, Any] = {
    "x": [-0.5, 0.0, 0.5, 1.0, 1.5],
    "y": [-0.5, 0.0, 0.5, 1.0],
    "points": [
        {"label": "start", "x": 0, "y": 0},
        {"label": "GLAT + KD", "x": 1, "y": 0},
        {"label": "MLE", "x": 0, "y": 1},
    ],
}
CONTOUR = {
    "title": "plane",
    "kind": "contour",
    "cells": {"system": "nat-kd"},
    "panels": [{"label": "NLL", "measure": "nll"}, {"label": "bits", "measure": "nll_bits"}],
    "x": {"label": "towards GLAT + KD"},
    "y": {"label": "towards MLE"},
    "matrix": {"values": "plane.{measure}", "rows": "plane.y", "columns": "plane.x"},
    "points": "plane.points",
}


def test_a_contour_map_of_an_analysis(root: Path) -> None:
    plain = drawn_paper(root, CONTOUR)
    nll = [[(x - 1) ** 2 + 2 * (y - 0.3) ** 2 for x in PLANE["x"]] for y in PLANE["y"]]
    bits: list[list[float | None]] = [[10 * x + y for x in PLANE["x"]] for y in PLANE["y"]]
    bits[0][0] = None
    cell = reports.cells(plain, ("paper", "figure", "2"))[0]
    content = {"plane": {**PLANE, "nll": nll, "nll_bits": bits}}
    write_of_test(root / cell.score_path, content)
    plot = figures.make(plain, "paper", "2")
    heights = {(r["column"], r["x"], r["y"]): r["ours"] for r in plot.records if not r["point"]}
    assert len(heights) == 39 and heights["NLL", 1.5, 0.5] == nll[2][4]
    assert heights["bits", 1.0, -0.5] == 9.5
    page, texts = drawn(plot)
    assert {"start", "GLAT + KD", "MLE"} <= {text.get_text() for text in texts}
    apart(page, texts)
    readable(page, texts, 505)
    places = [line.get_xydata().tolist() for line in page.axes[0].lines]
    assert places == [[[0, 0]], [[1, 0]], [[0, 1]]]
    figures.write(plot, root / "figure_2.pdf")
    frame = pd.read_csv(root / "figure_2.csv", keep_default_na=False)
    assert [point for point in frame["point"] if point][:3] == ["start", "GLAT + KD", "MLE"]
    content["plane"]["x"] = ["a", "b"]
    write_of_test(root / cell.score_path, content)
    with pytest.raises(UserError, match=r"likelihood.json: 'plane.x', 0"):
        figures.make(plain, "paper", "2")
    content["plane"]["x"] = [0, 1]
    write_of_test(root / cell.score_path, content)
    with pytest.raises(UserError, match=r"likelihood.json: split test, panel 'NLL': 'values'"):
        figures.make(plain, "paper", "2")


def test_a_contour_map_of_cells(root: Path) -> None:
    for lengths in (1, 3):
        for steps in (1, 4):
            decoding = f"mask-predict-{steps}-lb{lengths}"
            made_up_run.run(root, "cmlm-kd", decoding, 0.5 - 0.02 * lengths * steps)
    figure = {
        "title": "plane",
        "kind": "contour",
        "cells": {"measure": "sacrebleu", "decoding": "mask-predict-{steps}-lb{lengths}"},
        "panels": [TASK],
        "x": {"label": "steps", "values": [1, 4]},
        "y": {"label": "lengths", "of": "lengths"},
        "series": [{"system": "cmlm-kd", "with": {"lengths": [1, 3]}}],
        "points": [{"label": "fastest", "x": 1, "y": 1}],
    }
    plot = figures.make(drawn_paper(root, figure), "paper", "2")
    places = [(record["x"], record["y"]) for record in plot.records if not record["point"]]
    assert sorted(places) == [(1, 1), (1, 3), (4, 1), (4, 3)]
    page, texts = drawn(plot)
    assert {"fastest", "sacreBLEU"} <= {text.get_text() for text in texts}
    assert len(page.axes[0].collections) == 2
    without = {**figure, "series": [{"system": "cmlm-kd", "with": {"other": [1, 3]}}]}
    with pytest.raises(UserError, match=r"figures.2.*missing key 'lengths'"):
        figures.make(drawn_paper(root, without), "paper", "2")
    with pytest.raises(UserError, match=r"figures.2.*points: a key in an analysis needs a matrix"):
        figures.make(drawn_paper(root, {**figure, "points": "plane.points"}), "paper", "2")


def test_contours_of_what_was_not_run(root: Path) -> None:
    _, texts = drawn(figures.make(drawn_paper(root, CONTOUR), "paper", "2"))
    assert sum(text.get_text() == "not run" for text in texts) == 2


SOURCES = [
    ["the", "lights", "in", "the", "house", "were", "all", "switched", "off", "at", "night"],
    ["a", "word"],
    [f"unpronounceable{number}" for number in range(30)],
]
ALIGNMENT = {
    "title": "alignment",
    "kind": "alignment",
    "cells": {"measure": "latent_moved", "system": "vae-kd"},
    "panels": [{"label": "sentence {example}", "with": {"example": [0, 1, 2]}}],
    "first": "examples.{example}.source",
    "second": "examples.{example}.source",
    "links": "examples.{example}.assignment",
    "captions": "examples.{example}.references",
}


def aligned_examples() -> list[dict[str, Any]]:
    orders = [[0, 9, *range(2, 9), 1, 10, 11], [1, 0, 2], list(range(31))]
    captions = ["in the first reference", "in the other one"]
    return [
        {"source": source, "references": captions, "assignment": order}
        for source, order in zip(SOURCES, orders, strict=True)
    ]


def test_an_alignment_leads_from_position_to_position(root: Path) -> None:
    plain = drawn_paper(root, ALIGNMENT)
    examples = aligned_examples()
    path = write_analysis(plain, {"examples": examples})
    plot = figures.make(plain, "paper", "2")
    page, texts = drawn(plot)
    first = page.axes[0].lines
    ends = [line.get_xdata().tolist() for line in first]
    assert ends[1][1] == ends[9][0] and ends[9][1] == ends[1][0] and ends[3][0] == ends[3][1]
    assert first[1].get_color() != first[0].get_color() == first[11].get_color()
    said = [text.get_text() for text in texts]
    assert said.count("</s>") == 6 and said.count("in the other one") == 3
    assert any("Coloured lines: to another position." in text for text in said)
    apart(page, texts)
    readable(page, texts, 505)
    figures.write(plot, root / "figure_2.pdf")
    frame = pd.read_csv(root / "figure_2.csv", keep_default_na=False)
    line = frame[(frame["panel"] == "sentence 0") & (frame["x"] == 1)].iloc[0]
    assert (line["series"], line["category"], line["y"]) == ("lights", "at", 9)
    straight = [{**each, "assignment": sorted(each["assignment"])} for each in examples]
    write_analysis(plain, {"examples": straight})
    _, texts = drawn(figures.make(plain, "paper", "2"))
    assert any("to another position; none here." in text.get_text() for text in texts)
    examples[1]["assignment"] = [0, 7]
    write_analysis(plain, {"examples": examples})
    with pytest.raises(UserError, match=f"{path}.*panel 'sentence 1'.*position 7"):
        figures.make(plain, "paper", "2")
    examples[1]["assignment"] = [0, "x"]
    write_analysis(plain, {"examples": examples})
    with pytest.raises(UserError, match=r"'examples.1.assignment', 1"):
        figures.make(plain, "paper", "2")


def test_an_alignment_that_was_not_run(root: Path) -> None:
    plain = drawn_paper(root, ALIGNMENT)
    # one analysis, and no record of the training: the figure shows no number
    assert len(reports.files(plain, ("paper", "figure", "2"))) == 1
    _, texts = drawn(figures.make(plain, "paper", "2"))
    assert [text.get_text() for text in texts].count("not run") == 3


STEPS = {
    "title": "passes",
    "kind": "steps",
    "cells": {"measure": "changed_tokens_10", "system": "cmlm-kd", "steps": 10},
    "panels": [{"label": "CMLM, sentence {example}", "with": {"example": [0, 1]}}],
    "passes": "examples.{example}.passes.{steps}",
    "source": "examples.{example}.source",
    "reference": "examples.{example}.reference",
}


def passes_of(words: list[str]) -> list[dict[str, Any]]:
    third = [position for position in range(len(words)) if position % 3 == 1]
    last = third[: len(third) // 2]
    middle = [None if position in last else word for position, word in enumerate(words)]
    return [
        {"tokens": [words[0]] * len(words), "predicted": list(range(len(words)))},
        {"tokens": middle, "predicted": sorted(set(third) - set(last))},
        {"tokens": words, "predicted": last},
    ]


def test_a_decoding_is_shown_pass_by_pass(root: Path) -> None:
    plain = drawn_paper(root, STEPS)
    examples: list[dict[str, Any]] = [
        {"source": SOURCES[0], "reference": words, "passes": {"10": passes_of(words)}}
        for words in (SOURCES[0], SOURCES[2])
    ]
    path = write_analysis(plain, {"examples": examples})
    plot = figures.make(plain, "paper", "2")
    page, texts = drawn(plot)
    said = [text.get_text() for text in texts]
    # the long sentence is broken into blocks, each with its three passes
    assert said.count("pass 1") == said.count("pass 3") > 2
    shown = [position for each in examples[0]["passes"]["10"] for position in each["predicted"]]
    assert len(page.axes[0].patches) == len(shown)
    assert said.count("\N{BULLET}") == sum(
        token is None for each in examples for token in each["passes"]["10"][1]["tokens"]
    )
    apart(page, texts)
    readable(page, texts, 505)
    figures.write(plot, root / "figure_2.pdf")
    frame = pd.read_csv(root / "figure_2.csv", keep_default_na=False)
    line = frame[(frame["series"] == "pass 3") & (frame["x"] == 1)].iloc[0]
    assert (line["category"], line["predicted"]) == ("lights", True)
    examples[1]["passes"]["10"][0]["predicted"] = [30]
    write_analysis(plain, {"examples": examples})
    with pytest.raises(UserError, match=f"{path}.*pass 1 .*position 30"):
        figures.make(plain, "paper", "2")
    del examples[1]["passes"]["10"][0]["predicted"]
    write_analysis(plain, {"examples": examples})
    with pytest.raises(UserError, match=r"'examples.1.passes.10', 0.predicted"):
        figures.make(plain, "paper", "2")


def test_a_pass_that_has_not_reached_a_block_is_not_drawn_there() -> None:
    words = ["word"] * 60
    tokens = [words[:1], words]
    passes = [SimpleNamespace(tokens=each, predicted=[0]) for each in tokens]
    found = word_panels.Unfolded({"passes": passes})
    assert len(found.blocks) > 1
    assert [each.passes for each in found.blocks] == [[0, 1]] + [[1]] * (len(found.blocks) - 1)


@pytest.mark.parametrize(
    ("label", "lines"),
    [
        ("CMLM", ["CMLM"]),
        ("CMLM + DiMS, 1 step", ["CMLM + DiMS,", "1 step"]),
        ("a one-pass student of it", ["a one-pass", "student of it"]),
    ],
)
def test_a_label_of_two_lines_is_broken_at_its_comma(label: str, lines: list[str]) -> None:
    assert panels.wrapped(label).split("\n") == lines


def test_points_that_a_reader_should_not_rely_on_are_named() -> None:
    plot = figures.make(configured("micro"), "deployment", "1")
    first, second = plot.records[0], plot.records[1]
    measured = {"status": "run", "ours": 30.0, "x": 5.0, "remark": ""}
    unsteady = {**first, **measured, times.UNSTEADY: "2.25"}
    partial = {**second, **measured, "remark": "without seed 2, which was not run"}
    elsewhere = {**first, "column": "a panel without a GPU"}
    found = figures._notes(replace(plot, records=[unsteady, partial, elsewhere]))
    for record, words in ((first, "do not rely on it"), (second, "without seed 2")):
        (note,) = [each for each in found if words in each]
        # it is about all that was run of this point, so no panel is named
        assert note.startswith(f"{record['row']}, {record['category']}: ")
    assert not [note for note in figures._notes(plot) if "rely" in note]
