"""The pages of systems: what they learn from, curves, scores and settings; and their list."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from nat.artifacts import Model, TrainingCurve
from nat.configuration import Configuration
from nat.configuration.systems import needed_systems
from nat.measures.known import MEASURES
from nat.papers.cells import training_of
from nat.papers.reports import snakemake
from nat.report import addresses, curves
from nat.report.details import versions
from nat.report.page import COMPLETE, NOTHING, OLDER, PART, Entry, Page, Section
from nat.report.results import Results
from nat.report.sentences import translated

TEST = "test"
MEASURED = ("sacrebleu", "tokenised_bleu", "multi_reference_bleu", "chrf", "repeated_tokens")
"""The measures that are shown of every score."""
FACTS = {
    "updates": "{:,} updates",
    "seconds": "{:,.0f} seconds",
    "tokens": "{:,} target tokens seen",
    "parameters": "{:,} parameters",
    "device": "on {}",
    "precision": "in {}",
}
"""What is said of a training, by the key of its record."""
WITH_TEACHER = (
    "In training the loss has terms of the teacher; in validation, without the teacher, it is that "
    "of the references alone. The two do not compare."
)
Place = tuple[str, str]
"""Corpus and system."""
_NEEDS = {"text": "text of", "init_from": "starts from", "teacher": "teacher"}


def places(results: Results) -> dict[Place, list[int]]:
    """Corpora and systems of all cells, with the seeds that are asked for."""
    found: dict[Place, set[int]] = {}
    for cells in results.cells.values():
        for cell in cells:
            if training_of(cell):
                found.setdefault((cell.corpus, cell.model), set()).add(cell.seed)
    for corpus, system in list(found):
        for name in ancestors(results.configuration.on(corpus), system):
            found.setdefault((corpus, name), {results.configuration.scale_settings.seeds[0]})
    return {place: sorted(seeds) for place, seeds in sorted(found.items())}


def ancestors(configuration: Configuration, system: str) -> dict[str, list[tuple[str, str]]]:
    """A system and all that it depends on, each after those of its references (system, key)."""
    found: dict[str, list[tuple[str, str]]] = {}
    references = list(dict.fromkeys(needed_systems(configuration, system)))
    for name, _ in references:
        found |= ancestors(configuration, name)
    return {**found, system: references}


def pages(results: Results) -> Iterator[Page]:
    """The list of systems, and a page for each."""
    browsed = {
        (score.corpus, score.split, score.system, score.decoding)
        for scores in translated(results).values()
        for score in scores
    }
    rows = []
    for (corpus, system), seeds in places(results).items():
        page, row = _page(results, corpus, system, seeds, browsed)
        rows.append(row)
        yield page
    columns = ["system", "corpus", "state", "proxy input", "proxy target", "best sacreBLEU"]
    columns += ["parameters", "minutes", "description"]
    lead = (
        "Every system that a table, figure or claim asks for, and those that it learns or starts "
        "from. The best sacreBLEU is the highest on the test set among the decodings of a system."
    )
    section = Section("systems", "On the corpora of this scale", columns=columns, rows=rows)
    yield Page(addresses.SYSTEMS, "Systems", lead, [section])


def _page(
    results: Results,
    corpus: str,
    system: str,
    seeds: list[int],
    browsed: set[tuple[str, str, str, str]],
) -> tuple[Page, list[Entry | str]]:
    """The page of a system, and its row in the list."""
    configuration = results.configuration
    there = configuration.on(corpus)
    path = addresses.system(corpus, system)
    described = configuration.files["systems"][system].get("description", "")
    records = {seed: record for seed in seeds if (record := results.training(corpus, system, seed))}
    older = [line for seed in records for line in results.changes(corpus, system, seed)]
    state = Entry("not run", look=NOTHING)
    if len(records) == len(seeds):
        state = Entry("trained", look=COMPLETE)
    elif records:
        state = Entry(f"{len(records)} of {len(seeds)} seeds", look=PART)
    state = replace(state, small=[OLDER] * bool(older))
    same = [
        name
        for name in configuration.systems
        if name != system and configuration.canonical(corpus, name) == system
    ]
    effective = configuration.training(corpus, system).as_json()
    sections = [_ancestors(there, corpus, system, addresses.root_of(path))]
    if older:
        title = "What has changed in the configuration since it was trained"
        sections.append(Section("older", title, notes=list(dict.fromkeys(older))))
    for seed, record in records.items():
        sections.append(_training(results, corpus, system, seed, record))
    if not records:
        sections.append(Section("training", "Training", "Not run."))
    scores = results.scores(corpus, system)
    sections.append(_scores(scores, browsed, addresses.root_of(path)))
    written = json.dumps(effective, indent=2)
    sections.append(Section("configuration", "Effective configuration", code=written))
    file = configuration.file_of("systems", system).partition(":")[0]
    facts = [f"On {corpus}, configured in {file}."]
    facts += [f"The same on this corpus, and trained once: {', '.join(same)}."] if same else []
    models = [Model(configuration.run, corpus, system, seed).path for seed in seeds]
    best = max(
        (each["numbers"]["sacrebleu"].value or 0.0 for each in scores if each["split"] == TEST),
        default=None,
    )
    first: dict[str, Any] = next(iter(records.values()), {})
    parameters, seconds = first.get("parameters"), first.get("seconds")
    row = [
        Entry(system, link=addresses.root_of(addresses.SYSTEMS) + path, look="label"),
        corpus,
        state,
        effective["input"]["method"],
        effective["target"]["method"],
        _number(best, ".2f"),
        _number(parameters, ",d"),
        _number(seconds and seconds / 60, ".1f"),
        described,
    ]
    page = Page(
        path,
        system,
        described,
        sections,
        facts=facts,
        state=state,
        command=snakemake(configuration, *models),
    )
    return page, row


def _number(value: float | None, how: str) -> Entry:
    shown = "" if value is None else format(value, how)
    return Entry(shown, "" if value is None else value, look="number")


def _ancestors(there: Configuration, corpus: str, system: str, root: str) -> Section:
    rows: list[list[Entry | str]] = []
    for name, references in ancestors(there, system).items():
        needs = ", ".join(f"{_NEEDS[key]} {other}" for other, key in references)
        link = "" if name == system else root + addresses.system(corpus, name)
        rows.append([Entry(name, link=link, look="label"), needs or "no other"])
    columns = ("system", "learns from")
    return Section("ancestors", "Ancestors, the oldest first", columns=columns, rows=rows)


def _training(
    results: Results, corpus: str, system: str, seed: int, record: dict[str, Any]
) -> Section:
    """What the record of a training says, and its curves."""
    facts = [said.format(record[key]) for key, said in FACTS.items() if record.get(key)]
    validation = record.get("validation") or {}
    if validation.get("best") is not None:
        metric = validation["metric"].replace("bleu", "BLEU")
        digits = MEASURES["best_validation_bleu"].digits if metric == "BLEU" else 3
        facts.append(f"best validation {metric} {validation['best']:.{digits}f}")
    curve = results.root / TrainingCurve(results.configuration.run, corpus, system, seed).path
    target = results.configuration.methods(system).target
    notes = [WITH_TEACHER] if target.distils or target.teacher else []
    return Section(
        f"training-{seed}",
        f"Training, seed {seed}",
        f"{', '.join(facts)}.",
        drawings=curves.of_training(curve) if curve.exists() else [],
        notes=notes + list(filter(None, [versions(record)])),
    )


def _scores(
    scores: list[dict[str, Any]], browsed: set[tuple[str, str, str, str]], root: str
) -> Section:
    """Every score, with its interval; a decoding leads to its sentences."""
    rows: list[list[Entry | str]] = []
    for score in scores:
        corpus, system, decoding = (score[name] for name in ("corpus", "system", "decoding"))
        test_set = f"{corpus}/{score['split']}"
        link = f"{root}{addresses.SENTENCES}#test-set={test_set}&b={system}/{decoding}"
        if (corpus, score["split"], system, decoding) not in browsed:
            link = ""
        row = [
            Entry(decoding, link=link, look="label"),
            score["split"],
            _number(score["seed"], "d"),
        ]
        for name in MEASURED:
            number = score["numbers"].get(name)
            entry = _number(number and number.value, ".2f")
            if number and number.low is not None:
                entry = replace(entry, small=[f"[{number.low:.1f}, {number.high:.1f}]"])
            row.append(entry)
        rows.append([*row, _number(score["passes"], ".2f")])
    columns = ["decoding", "split", "seed", *(MEASURES[name].label for name in MEASURED), "passes"]
    text = "With 95% intervals. A decoding leads to its translations." if rows else "Not run."
    columns = columns if rows else []
    return Section("scores", "Scores under every decoding", text, columns=columns, rows=rows)
