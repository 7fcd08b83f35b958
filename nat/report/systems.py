"""The pages of systems: curves, scores, samples, settings and ancestors; and their list."""

import csv
import itertools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nat.artifacts import Model, Score, TrainingCurve, step_of
from nat.checksums import verified
from nat.data.splits import sides
from nat.measures.known import MEASURES
from nat.nested import at
from nat.papers.reports import snakemake
from nat.papers.settings import CHECKED, DEVIATION, Stated, at_paper_scale
from nat.papers.settings_files import Row
from nat.registry import TargetTraits
from nat.report import addresses, ancestors, charts
from nat.report.page import Page, root_of
from nat.report.results import COMPLETE, MEASURED, NOTHING, PART, Results, State

SAMPLES = 8
TEST = "test"
WITH_TEACHER = (
    "In training the loss has terms of the teacher; in validation, without the teacher, it is that "
    "of the references alone. The two do not compare."
)
Place = tuple[str, str]
"""Corpus and system."""


def places(results: Results) -> dict[Place, list[int]]:
    """Corpora and systems of all cells, with the seeds that are asked for."""
    found: dict[Place, dict[int, None]] = {}
    for cells in results.cells.values():
        for cell in cells:
            if cell.of_training:
                found.setdefault((cell.corpus, cell.model), {})[cell.seed] = None
    for corpus, system in list(found):
        there = results.configuration.on(corpus)
        for name in ancestors.ancestors(there, system):
            seeds = found.setdefault((corpus, name), {})
            seeds.setdefault(results.configuration.teacher_seed)
    return {place: sorted(seeds) for place, seeds in sorted(found.items())}


def pages(results: Results) -> Iterator[Page]:
    """The list of systems, and a page for each."""
    asked = places(results)
    stated = _stated(results, asked)
    rows = []
    for (corpus, system), seeds in asked.items():
        page, row = _page(results, corpus, system, seeds, asked, stated.get((corpus, system), []))
        rows.append(row)
        yield page
    yield Page(addresses.SYSTEMS, "Systems", "systems.html", {"rows": rows})


def _page(
    results: Results,
    corpus: str,
    system: str,
    seeds: list[int],
    asked: dict[Place, list[int]],
    settings: list[list[str]],
) -> tuple[Page, dict[str, Any]]:
    configuration = results.configuration
    there = configuration.on(corpus)
    path = addresses.system(corpus, system)
    described = configuration.files["systems"][system]
    models = [Model(configuration.run, corpus, system, seed) for seed in seeds]
    trained = [seed for seed in seeds if results.training(corpus, system, seed) is not None]
    found = results.scores(corpus, system)
    effective = configuration.training(corpus, system).as_json()
    older = [line for seed in trained for line in results.changes(corpus, system, seed)]
    state = State(NOTHING, "not run")
    if trained:
        complete = len(trained) == len(seeds)
        text = "trained" if complete else f"{len(trained)} of {len(seeds)} seeds"
        state = State(COMPLETE if complete else PART, text)
    root = root_of(path)
    links = {name: root + addresses.system(corpus, name) for its, name in asked if its == corpus}
    trainings = [_training(results, corpus, system, seed) for seed in trained]
    test = [each for each in found if each["split"] == TEST]
    best = max(test, key=lambda each: each["sacrebleu"] or 0.0, default=None)
    record = results.training(corpus, system, trained[0]) if trained else None
    content = {
        "corpus": corpus,
        "description": described.get("description", ""),
        "file": configuration.file_of("systems", system).partition(":")[0],
        "state": state,
        "older": list(dict.fromkeys(older)),
        "command": snakemake(configuration, *(model.path for model in models)),
        "names": [
            name
            for name in configuration.systems
            if name != system and configuration.canonical(corpus, name) == system
        ],
        "ancestors": ancestors.draw(there, system, links),
        "trainings": trainings,
        "score_columns": [
            *("decoding", "split", "seed"),
            *(MEASURES[name].label for name in MEASURED),
            "passes",
        ],
        "scores": [_shown(each) for each in found],
        "samples": _samples(results, corpus, system, best) if best else None,
        "settings": settings,
        "configuration": json.dumps(effective, indent=2),
    }
    row = {
        "path": path,
        "system": system,
        "corpus": corpus,
        "state": state,
        "older": bool(older),
        "input": effective["input"]["method"],
        "target": effective["target"]["method"],
        "best": best["sacrebleu"] if best else None,
        "parameters": (record or {}).get("parameters") or "",
        "minutes": f"{record['seconds'] / 60:.1f}" if record and record.get("seconds") else "",
        "description": content["description"],
    }
    return Page(path, system, "system.html", content), row


def _training(results: Results, corpus: str, system: str, seed: int) -> dict[str, Any]:
    """What the record of a training says, and its curves."""
    record = results.training(corpus, system, seed)
    assert record is not None
    facts = [("updates", f"{record['updates']:,}")]
    if record.get("seconds"):
        facts.append(("minutes", f"{record['seconds'] / 60:,.1f}"))
    if record.get("tokens"):
        facts.append(("target tokens seen", f"{record['tokens']:,}"))
    if record.get("parameters"):
        facts.append(("parameters", f"{record['parameters']:,}"))
    if record.get("device"):
        facts.append((f"device, {record.get('precision', '')}", record["device"]))
    validation = record.get("validation") or {}
    if validation.get("best") is not None:
        metric = validation["metric"].replace("bleu", "BLEU")
        digits = MEASURES["best_validation_bleu"].digits if metric == "BLEU" else 3
        facts.append((f"best validation {metric}", f"{validation['best']:.{digits}f}"))
    curve = results.root / TrainingCurve(results.configuration.run, corpus, system, seed).path
    return {
        "seed": seed,
        "facts": facts,
        "versions": addresses.listed(record.get("versions", {})),
        "charts": _charts(curve, system, results.configuration.target_traits(system)),
    }


def _charts(path: Path, system: str, target: TargetTraits) -> list[dict[str, Any]]:
    """Loss and validation BLEU over the updates."""
    if not path.exists():
        return []
    with verified(path).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    found = []
    for column, title in (("loss", "loss"), ("bleu", "validation BLEU")):
        points = [
            {
                "update": int(row["update"]),
                "value": float(f"{float(row[column]):.4g}"),
                "series": row["split"],
            }
            for row in rows
            if row.get(column)
        ]
        if not points:
            continue
        last = points[-1]
        with_teacher = title == "loss" and (target.distils or target.teacher)
        found.append(
            {
                "note": WITH_TEACHER if with_teacher else "",
                "title": title.capitalize() if title == "loss" else "Validation BLEU",
                "specification": charts.curve(points, title),
                "alternative": (
                    f"{title} of {system} over its updates, from {points[0]['value']:g} at "
                    f"{points[0]['update']} to {last['value']:g} at {last['update']}"
                ),
            }
        )
    return found


def _shown(score: dict[str, Any]) -> list[str]:
    """A score as texts, with the 95% interval behind a number that has one."""
    texts = [str(score[name]) for name in ("decoding", "split", "seed")]
    for name in (*MEASURED, "passes"):
        text = "" if score[name] is None else f"{score[name]:.2f}"
        if name in score["intervals"]:
            text += " [{:.1f},\N{NO-BREAK SPACE}{:.1f}]".format(*score["intervals"][name])
        texts.append(text)
    return texts


def _samples(
    results: Results, corpus: str, system: str, best: dict[str, Any]
) -> dict[str, Any] | None:
    """The first sentences of the test set under a decoding."""
    score = Score(results.configuration.run, corpus, system, best["seed"], best["decoding"], TEST)
    translations = results.root / score.translations.path
    folder = results.root / step_of(corpus, TEST, "tokens").path
    texts = [folder / f"{TEST}.{side}" for side in sides(results.configuration.corpus(corpus))]
    if not all(path.exists() for path in (translations, *texts)):
        return None
    with verified(translations).open(encoding="utf-8") as file:
        made = [json.loads(each)["text"] for each in itertools.islice(file, SAMPLES)]
    columns = []
    for path in texts:
        with verified(path).open(encoding="utf-8") as file:
            columns.append([each.strip() for each in itertools.islice(file, SAMPLES)])
    return {
        "decoding": best["decoding"],
        "seed": best["seed"],
        "rows": list(zip(*columns, made, strict=False)),
    }


def _as_text(value: Any) -> str:
    return json.dumps(value) if isinstance(value, dict | list | bool | None) else str(value)


def _used(here: Stated, row: Row, task: str, name: str, record: Mapping[str, Any] | None) -> Any:
    """A setting of this run: as the record of the training has it, otherwise as it is today."""
    path = here.path(row)
    found = None if record is None or path == "text" else at(record["training"], path)
    return here.value(row, task, name) if found is None or isinstance(found, Mapping) else found


def _stated(results: Results, asked: Mapping[Place, list[int]]) -> dict[Place, list[list[str]]]:
    """The settings that papers state, by the corpus and system that stand for theirs here.

    Args:
        results: of the run.
        asked: places and their seeds, the first of which is shown.
    """
    configuration = results.configuration
    found: dict[Place, list[list[str]]] = {}
    stated = at_paper_scale(configuration)
    here = Stated(configuration)
    for row in stated.rows:
        verdict = stated.verdict(row)
        if row.of_decoding or verdict.kind not in (CHECKED, DEVIATION):
            continue
        for task, name in itertools.product(stated.tasks(row), stated.named(row)):
            corpus = configuration.tasks.get(task)
            if corpus is None or name not in configuration.systems:
                continue
            place = corpus, configuration.canonical(corpus, name)
            if place not in asked:
                continue
            ours = verdict.ours.get(f"{name} on {task}", "")
            record = results.training(*place, asked[place][0])
            line = [
                row.paper,
                f"{row.system}, {task}",
                row.key,
                f"{row.value} ({row.source})",
                _as_text(ours),
                _as_text(_used(here, row, task, name, record)),
                verdict.kind + (f": {verdict.reason}" if verdict.reason else ""),
            ]
            known = found.setdefault(place, [])
            if line not in known:
                known.append(line)
    return found
