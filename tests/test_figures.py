import copy
from pathlib import Path
from typing import Any

import made_up_run
import matplotlib as mpl
import pandas as pd
import pytest
from made_up_run import CORPUS, OTHER_TASK, PAPER, TASK
from matplotlib.text import Text
from test_training_runs import write_run

from nat.errors import UserError
from nat.files import write_json
from nat.reporting import figures, reports


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


@pytest.mark.parametrize("panels", [1, 3])
def test_no_text_overlaps_or_leaves_the_page(root: Path, panels: int) -> None:
    tasks = [{"label": f"panel {number}", "task": TASK} for number in range(panels)]
    figure, texts = drawn(figures.make(configuration(root, panels=tasks), "paper", "2"))
    page = figure.bbox
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts]
    for name, box in boxes:
        assert page.x0 <= box.x0 and box.x1 <= page.x1, name
        assert page.y0 <= box.y0 and box.y1 <= page.y1, name
    for number, (name, box) in enumerate(boxes):
        for other, second in boxes[number + 1 :]:
            assert not box.overlaps(second), (name, other)


def test_what_is_said_around_the_panels(root: Path) -> None:
    panels = [{"label": "En-De", "task": TASK}, {"label": "De-En", "task": OTHER_TASK}]
    _, texts = drawn(figures.make(configuration(root, panels=panels), "paper", "2"))
    text = " ".join(" ".join(text.get_text().split()) for text in texts)
    assert "scale demo: made-up test set" in text
    assert "En-De (stand-in: made-up)" in text
    assert "Not run: all of De-En." in text and "not run" in text
    assert "Bands: 95% bootstrap intervals" in text
    assert "Not comparable with the paper" in text
    assert "Hollow markers" not in text


def test_seeds_give_a_standard_deviation(root: Path) -> None:
    made_up_run.run(root, "dims-cmlm-kd", "mask-predict-1-lb5", 0.21, seed=2)
    plot = figures.make(configuration(root, [1, 2]), "paper", "2")
    _, texts = drawn(plot)
    assert any("standard deviation over seeds 1, 2" in text.get_text() for text in texts)


def test_nothing_run_at_all(tmp_path: Path, root: Path) -> None:
    (root / "results/demo/scores").rename(root / "results/elsewhere")
    figures.write(figures.make(configuration(root), "paper", "2"), root / "figure_2.pdf")
    assert (root / "figure_2.png").exists()


def bars(root: Path, **series: Any) -> Any:
    points = [
        {"category": f"{steps} steps", "decoding": f"mask-predict-{steps}-lb5"} for steps in (1, 4)
    ]
    figure = {
        "title": "bars",
        "kind": "bars",
        "cells": {"measure": "tokenised_bleu", "split": "test"},
        "x": {"label": "steps"},
        "panels": [{"label": "En-De", "task": TASK}],
        "series": [{"label": "CMLM", "system": "cmlm-kd", "points": points, **series}],
    }
    paper = {"title": "Paper", "figures": {"2": figure}}
    return made_up_run.configuration(root, {"paper": paper})


def test_bars_are_as_high_as_their_values(root: Path) -> None:
    plot = figures.make(bars(root), "paper", "2")
    figure, texts = drawn(plot)
    heights = [patch.get_height() for patch in figure.axes[0].patches]
    assert heights == [record["ours"] for record in plot.records]
    assert {"1 steps", "4 steps"} <= {text.get_text() for text in texts}


def test_bars_of_differences(root: Path) -> None:
    made_up_run.run(root, "dims-cmlm-kd", "mask-predict-4-lb5", 0.3)
    plain = bars(root, label="student", system="dims-cmlm-kd", over="cmlm-kd")
    files = reports.files(plain, ("paper", "figure", "2"))
    # scores of both with their statistics, and the record of a collapse
    assert len(files) == 9
    plot = figures.make(plain, "paper", "2")
    first, second = plot.records
    assert first["ours"] > 0 > second["ours"]
    assert first["low"] < first["ours"] < first["high"]
    figure, texts = drawn(plot)
    low, high = figure.axes[0].get_ylim()
    assert low < second["low"] and first["high"] < high
    assert any("gain in tokenised BLEU" in text.get_text() for text in texts)
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
    assert len(reports.files(plain, ("paper", "figure", "2"))) == 3
    plot = figures.make(plain, "paper", "2")
    points = [(r["x"], r["ours"]) for r in plot.records if r["status"] == "run"]
    assert points == [(20, 10), (40, 12), (60, 10), (80, 12)]
    _, texts = drawn(plot)
    said = " ".join(" ".join(text.get_text().split()) for text in texts)
    assert "one at dims-cmlm-kd (En-De)" in said and "all of De-En" in said
    figures.write(plot, root / "figure_2.pdf")


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
    names = ("median", "mean", "quartile_1", "quartile_3")
    for cell in reports.cells(plain, ("paper", "figure", "2")):
        if cell.source == "latency":
            time = milliseconds[cell.decoding]
            times = {"repeats": [time] * 5} | dict.fromkeys(names, time)
            content = {"milliseconds_per_sentence": times, "sentences_of_split": 60}
            write_json(Path(plain.root) / cell.score_path, content)


SCATTER: dict[str, Any] = {
    "title": "quality against speed",
    "kind": "scatter",
    "panels": [TASK],
    "x": {"measure": "latency", "setting": "cpu-1", "log": True, "column": "speed"},
    "y": {"measure": "sacrebleu", "column": "BLEU"},
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
    assert plot.records[0]["ours"] < plot.records[1]["ours"]
    assert len(reports.files(plain, ("paper", "figure", "2"))) >= 4
    figure, texts = drawn(plot)
    assert figure.axes[0].get_xscale() == "log"
    assert {*decodings, "latency (ms)", "CMLM"} <= {text.get_text() for text in texts}
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
    plain = drawn_paper(root, figure, tables=tables)
    write_latency(plain, {"mask-predict-1-lb5": 2.0})
    ours, quoted = figures.make(plain, "paper", "2").records
    assert (ours["published"], ours["x_published"]) == (20, 3)
    assert (quoted["published"], quoted["x_published"], quoted["category"]) == (25, 2, "GLAT")
    series = [row, {"label": "others", "quoted": ["GLATT"]}]
    wrong = drawn_paper(root, {**figure, "series": series}, tables=tables)
    with pytest.raises(UserError, match=r"figures.2.series: .*row 'GLATT', column 'BLEU'"):
        figures.make(wrong, "paper", "2")


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
    assert "Not run: NAT at 1, 4 (WMT14 En-De)." in said


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
    content = {"measures": {}, "map": {"labels": ["a", "a"], "cosines": cosines}}
    write_json(root / cell.score_path, {"splits": {"test": content}})
    plot = figures.make(plain, "paper", "2")
    page, texts = drawn(plot)
    assert page.axes[0].images[0].get_array().tolist() == cosines
    assert "not run" in {text.get_text() for text in texts}
    del content["map"]
    write_json(root / cell.score_path, {"splits": {"test": content}})
    with pytest.raises(UserError, match="has no 'map.labels' of the split test"):
        figures.make(plain, "paper", "2")
    both = {**figure, "series": [{"system": "x"}]}
    with pytest.raises(UserError, match="figures.2.*either series or matrix"):
        figures.make(drawn_paper(root, both), "paper", "2")
