"""The first page: what was run at which scale, all claims, all systems, and the field as a map."""

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from nat import registry
from nat.artifacts import Latency
from nat.configuration import choice, load
from nat.papers import claim_formats, judgements, reports, values
from nat.papers.cells import Cell
from nat.papers.coordinates import heading
from nat.papers.reader import Reader
from nat.papers.reports import Target, snakemake
from nat.report import addresses, charts, papers, systems
from nat.report.page import Page
from nat.report.results import (
    COMPLETE,
    CONFIGURED,
    NOTHING,
    PART,
    Results,
    State,
    state,
)

BLEU = "sacrebleu"
DIAGRAM, WORDS = "a diagram, not reproduced", "in words, not reproduced"
BEYOND = "Beyond the papers"
SEVERAL = "several papers"
OTHER_CORPORA = "on other corpora"
TIMED = "timed in"
"""Column with the table or figure in whose job a time was measured."""
PASSES = "decoder passes"
"""A setting of the plot besides those of latencies, known for all that was translated."""


def page(results: Results) -> Page:
    """Make the overview.

    Raises:
        UserError: for damaged results.
    """
    configuration = results.configuration
    scales, experiments = _experiments(results)
    content = {
        "all": snakemake(configuration, "all"),
        "stand_ins": results.stand_ins,
        "tiles": [_tile(results, paper) for paper in results.papers],
        "other_tiles": [_tile(results, paper) for paper in results.others],
        "beyond": BEYOND,
        "cost": papers.cost(results, configuration.papers),
        "quality": _quality(results),
        "board": _board(results),
        "scales": scales,
        "experiments": experiments,
        "map": _map(results),
    }
    return Page(addresses.OVERVIEW, "All papers", "overview.html", content)


def _tile(results: Results, paper: str) -> dict[str, str]:
    """A paper in four lines."""
    kinds = [found.kind for target, found in results.states.items() if target[0] == paper]
    judged = results.claims.get(paper)
    cost = dict(papers.cost(results, [paper]))
    hours = f", {cost[papers.HOURS]} {papers.HOURS}" if papers.HOURS in cost else ""
    return {
        "path": addresses.paper(paper),
        "title": results.configuration.paper(paper).title,
        "reports": f"{kinds.count(COMPLETE)} of {len(kinds)} complete, {kinds.count(PART)} in part",
        "claims": f"claims: {claim_formats.summary(judged)}" if judged else "",
        "cost": f"{papers.TRAININGS}: {cost[papers.TRAININGS]}{hours}",
    }


# Experiments


def _experiments(results: Results) -> tuple[list[str], list[dict[str, Any]]]:
    """The scales, and every table and figure with its state at each of them."""
    own = results.configuration
    shown = [target for target in results.targets if target[1] != "claims"]
    others = {
        scale: _states_at(results, scale, shown)
        for scale in own.files["scales"]
        if scale != own.run
    }
    rows = []
    for target in shown:
        paper, kind, number = target
        rows.append(
            {
                "paper": own.paper(paper).title,
                "name": papers.label(kind, number),
                "title": papers.titled(reports.title(own, target).partition(", ")[2]),
                "address": f"{addresses.paper(paper)}#{addresses.section(kind, number)}",
                "states": [results.states[target], *(found[target] for found in others.values())],
                "command": snakemake(own, reports.name(target)),
            }
        )
    scales = [own.run, *others]
    for paper in results.papers:
        rows += [
            {
                "paper": own.paper(paper).title,
                "name": name.capitalize(),
                "title": papers.titled(shown_there),
                "address": addresses.paper(paper),
                "states": [
                    State(NOTHING, WORDS if name.startswith("table") else DIAGRAM),
                    *[None] * len(others),
                ],
                "command": "",
            }
            for name, shown_there in own.paper(paper).diagrams.items()
        ]
    return scales, rows


def _states_at(results: Results, scale: str, shown: list[Target]) -> dict[Target, State]:
    """The states at another scale; its configuration is read only where there are results."""
    if not (results.root / "results" / scale).exists():
        configured = {each: CONFIGURED for each in shown if results.states[each] == CONFIGURED}
        return dict.fromkeys(shown, State(NOTHING, "not run")) | configured
    there = load(choice({"scale": scale}), root=results.root, checked=False)
    return {target: state(there, target, reports.cells(there, target)) for target in shown}


# Claims


def _board(results: Results) -> list[dict[str, Any]]:
    """All judgements by verdict."""
    columns: dict[str, list[dict[str, str]]] = {verdict: [] for verdict in claim_formats.VERDICTS}
    for paper, records in results.claims.items():
        title = results.configuration.paper(paper).title
        for record in records:
            columns[record["verdict"]].append(
                {
                    "text": record["text"],
                    "case": record["case"],
                    "paper": title,
                    "corpus": record["corpus"],
                    "numbers": claim_formats.lines(record)["ours"],
                    "address": f"{addresses.paper(paper)}#{papers.anchor(record)}",
                }
            )
    return [
        {"verdict": verdict, "cards": cards}
        for verdict, cards in columns.items()
        if cards or verdict not in judgements.WITHOUT_NUMBER
    ]


# Quality against latency


def _quality(results: Results) -> dict[str, Any] | None:
    """The chart of quality against latency; None where no system was scored."""
    points = list(_points(results))
    if not points:
        return None
    settings = _most_first(point["setting"] for point in points)
    corpora = _most_first(point["corpus"] for point in points if point["setting"] == settings[0])
    corpora += sorted({point["corpus"] for point in points}.difference(corpora))
    shown = list(dict.fromkeys(point["paper"] for point in points))
    columns = ["papers", "system", "decoding", "corpus"]
    columns += ["setting", "time", TIMED, "bleu", "measure"]
    latencies = [name for name in settings if name != PASSES]
    return {
        "text": (
            "Every system that was translated and scored, by sacreBLEU on the test set. "
            + (
                "Times are medians a sentence, each of the job of one table or figure, which the "
                "table below names."
                if latencies
                else "No latency has been measured at this scale, so the passes of the decoder for "
                "a sentence stand for time."
            )
        ),
        "specification": charts.quality(points, settings, corpora, shown, PASSES),
        "alternative": (
            f"BLEU of {len({point['system'] for point in points})} systems against the time of a "
            "sentence; the table below has the points"
        ),
        "columns": columns,
        "rows": [[point[name] for name in columns] for point in points],
    }


def _most_first(names: Iterable[str]) -> list[str]:
    """Different names, the most frequent first."""
    return [name for name, _ in sorted(Counter(names).items(), key=lambda each: (-each[1], each))]


def _points(results: Results) -> Iterator[dict[str, Any]]:
    """A point for each decoding of each system on a corpus, and each setting of a latency."""
    reader = Reader(results.root)
    asked: dict[tuple[str, str, str], dict[str, None]] = {}
    latencies: dict[tuple[str, str, str, str], dict[str, dict[Cell, None]]] = {}
    for (paper, _, _), cells in results.cells.items():
        title = results.configuration.paper(paper).title
        for cell in cells:
            if not cell.decoding:
                continue
            asked.setdefault((cell.corpus, cell.model, cell.decoding), {})[title] = None
            if cell.measure in ("latency", "speed_up"):  # which are made of latencies
                key = cell.corpus, cell.model, cell.decoding, cell.setting
                each = cell._replace(measure="latency")
                assert isinstance(cell.source, Latency)
                latencies.setdefault(key, {}).setdefault(cell.source.group, {})[each] = None
    for (corpus, system, decoding), titles in asked.items():
        scores = [
            score
            for score in results.scores(corpus, system)
            if score["decoding"] == decoding and score["split"] == systems.TEST
        ]
        if not scores:
            continue
        point = {
            "paper": SEVERAL if len(titles) > 1 else next(iter(titles)),
            "papers": ", ".join(titles),
            "system": system,
            "decoding": decoding,
            "corpus": corpus,
            "bleu": round(statistics.mean(score[BLEU] for score in scores), 2),
            "measure": f"sacreBLEU, {len(scores)} seeds" if len(scores) > 1 else "sacreBLEU",
        }
        passes = [score["passes"] for score in scores if score["passes"] is not None]
        if passes:
            time = round(statistics.mean(passes), 2)
            yield point | {"setting": PASSES, "time": time, TIMED: ""}
        for key, jobs in latencies.items():
            if key[:3] != (corpus, system, decoding):
                continue
            # other jobs may have run on other machines
            for group, timed in jobs.items():
                there = [cell for cell in timed if reader.ran(cell)]
                found = [reader.number(cell).value for cell in there]
                times = [value for value in found if value is not None]
                if times:
                    time = round(statistics.mean(times), 3)
                    yield point | {"setting": key[3], "time": time, TIMED: group}
                    break


# The field


def _map(results: Results) -> dict[str, Any]:
    """Proxy inputs x proxy targets: the systems that combine them, with their best BLEU.

    BLEU of different corpora does not compare, so it is that of the corpus with most systems.
    """
    configuration = results.configuration
    found_on: dict[str, dict[str, float]] = {}
    for corpus, system in systems.places(results):
        for score in results.scores(corpus, system):
            if score["split"] == systems.TEST and score[BLEU] is not None:
                on_corpus = found_on.setdefault(corpus, {})
                on_corpus[system] = max(on_corpus.get(system, 0.0), score[BLEU])
    shown = max(found_on, key=lambda corpus: len(found_on[corpus]), default="")
    best = found_on.get(shown, {})
    elsewhere = {system for found in found_on.values() for system in found}
    pages = {system: corpus for corpus, system in systems.places(results)}
    pages |= {system: corpus for corpus, system in systems.places(results) if corpus == shown}
    tasks = [heading(task) for task, corpus in configuration.tasks.items() if corpus == shown]
    inputs, targets = registry.names("inputs"), registry.names("targets")
    cells: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for name in configuration.systems:
        described = configuration.system(name)
        number = OTHER_CORPORA if name in elsewhere else ""
        cells.setdefault((described.input.method, described.target.method), []).append(
            {
                "name": name,
                "number": f"{best[name]:.2f}" if name in best else number,
                "value": best.get(name, -1.0),
                "file": configuration.file_of("systems", name).partition(":")[0],
                "address": addresses.system(pages[name], name) if name in pages else "",
            }
        )
    rows = []
    for its_input in inputs:
        row = []
        for target in targets:
            found = sorted(
                cells.get((its_input, target), []),
                key=lambda each: (-each["value"], not each["number"]),
            )
            row.append(found and _map_cell(found))
        rows.append({"input": its_input, "cells": row})
    return {"targets": targets, "rows": rows, "corpus": shown, "tasks": tasks}


def _map_cell(found: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "systems": found,
        "measured": found[0]["value"] >= 0,
        "best": found[0]["number"] or values.NOT_RUN,
        "count": f"{len(found)} system" + ("s" if len(found) > 1 else ""),
    }
