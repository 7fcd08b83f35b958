"""Interactive charts, as specifications of Vega-Lite that the pages draw themselves."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from nat.figures.drawing import COLOURS

HEIGHT = 360
SHAPES = (
    *("circle", "diamond", "square", "triangle-up", "cross", "triangle-down"),
    *("triangle-right", "triangle-left", "wedge", "arrow"),
)


def quality(
    points: Sequence[Mapping[str, Any]],
    settings: Sequence[str],
    corpora: Sequence[str],
    papers: Sequence[str],
    passes: str,
) -> Any:
    """BLEU against the time of a sentence, one point for each decoding of each system.

    Vega's axes have no title that follows a choice, so that of the horizontal one is the title of
    the chart, placed below it.

    Args:
        points: with `setting`, `time`, `bleu`, `measure`, `paper`, `papers`, `system`, `decoding`
            and `corpus`.
        settings: those that can be chosen, the first of which is shown at first.
        corpora: likewise; BLEU of different corpora does not compare.
        papers: that colours and shapes stand for; the legend has those with a point of the choice.
        passes: the setting whose times are passes of the decoder; those of others are milliseconds.
    """
    setting, corpus = (
        alt.param(
            name=name,
            value=options[0],
            bind=alt.binding_select(options=list(options), name=f"{label} "),
        )
        for name, label, options in (
            ("setting", "Latency", settings),
            ("shown", "Corpus", corpora),
        )
    )
    chosen = alt.selection_point(fields=["paper"], bind="legend")
    colours = alt.Scale(domain=list(papers), range=list(COLOURS[: len(papers)]))
    shapes = alt.Scale(domain=list(papers), range=list(SHAPES[: len(papers)]))
    with_points: dict[str, list[str]] = {}
    for point in points:
        there = with_points.setdefault(f"{point['setting']} {point['corpus']}", [])
        if point["paper"] not in there:
            there.append(point["paper"])
    legend = alt.Legend(values=alt.ExprRef(f"{json.dumps(with_points)}[setting + ' ' + shown]"))
    below = alt.Title(
        text=alt.ExprRef(
            f"setting == {json.dumps(passes)} ? 'decoder passes a sentence' : 'ms a sentence'"
        ),
        orient="bottom",
        fontSize=11,
    )
    chart = (
        alt.Chart(alt.Data(values=list(points)))
        .mark_point(filled=True, size=90)
        .encode(
            x=alt.X("time:Q", title=None).scale(type="log", nice=False, padding=15),
            y=alt.Y("bleu:Q", title="sacreBLEU").scale(zero=False),
            color=alt.Color("paper:N", title="paper", scale=colours, legend=legend),
            shape=alt.Shape("paper:N", title="paper", scale=shapes, legend=legend),
            opacity=alt.condition(chosen, alt.value(0.9), alt.value(0.12)),
            tooltip=[
                alt.Tooltip(f"{name}:{kind}", title=title)
                for name, kind, title in (
                    ("system", "N", "system"),
                    ("decoding", "N", "decoding"),
                    ("corpus", "N", "corpus"),
                    ("bleu", "Q", "sacreBLEU"),
                    ("measure", "N", "of"),
                    ("time", "Q", "time"),
                    ("papers", "N", "papers"),
                )
            ],
        )
        .transform_filter("datum.setting == setting && datum.corpus == shown")
        .add_params(setting, corpus, chosen)
        .properties(width="container", height=HEIGHT, title=below)
        .interactive()
    )
    return chart.to_dict()


def curve(points: Sequence[Mapping[str, Any]], title: str) -> Any:
    """A number over the updates of a training.

    Args:
        points: with `update`, `value` and `series`.
        title: of the vertical axis.
    """
    # as text, which takes a third of the space of the same points as objects
    keys = ("update", "value", "series")
    lines = [keys, *([point[key] for key in keys] for point in points)]
    text = "\n".join(",".join(map(str, line)) for line in lines)
    numbers = alt.CsvDataFormat(type="csv", parse={"update": "number", "value": "number"})
    base = alt.Chart(alt.InlineData(values=text, format=numbers)).encode(
        x=alt.X("update:Q", title="updates"),
        y=alt.Y("value:Q", title=title).scale(zero=False),
        color=alt.Color("series:N", title=None, scale=alt.Scale(range=list(COLOURS))),
        shape=alt.Shape("series:N", scale=alt.Scale(range=list(SHAPES)), legend=None),
        tooltip=["series:N", "update:Q", "value:Q"],
    )
    layers = base.mark_line(strokeWidth=1.5) + base.mark_point(size=30, filled=True)
    return layers.properties(width="container", height=220).to_dict()
