"""The pages of systems: what they learn from, curves, scores and settings; and their list."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from nat.artifacts import Model, Score, TrainingCurve
from nat.configuration.configuration import needed_systems
from nat.measures.known import MEASURES
from nat.measures.results import read
from nat.papers.cells import training_of
from nat.papers.reports import snakemake
from nat.report.page import NOTHING, OLDER, SENTENCES, SYSTEMS, Entry, Page, Row, Section, of_system
from nat.report.results import Results
from nat.report.sentences import translated

TEST = "test"
COLUMNS = (
    *("system", "corpus", "state", "proxy input", "proxy target", "best sacreBLEU"),
    *("parameters", "minutes", "description"),
)
MEASURED = (
    *("sacrebleu", "tokenised_bleu", "multi_reference_bleu", "chrf", "repeated_tokens", "passes"),
)
"""The measures that are shown of every score."""
FACTS = ("updates", "seconds", "tokens", "parameters", "device", "precision")
"""The facts that are shown of every training, keys of its record."""
WITH_TEACHER = (
    "In training the loss has terms of the teacher; in validation, without the teacher, it is that "
    "of the references alone. The two do not compare."
)
LEAD = (
    "Every system that a table, figure or claim asks for, and those that it learns or starts from. "
    "The best sacreBLEU is the highest on the test set among the decodings of a system."
)
BLEU = "validation BLEU"
NEEDS = {"text": "translations", "init_from": "weights, to start from", "teacher": "distributions"}


def pages(results: Results) -> Iterator[Page]:
    """Make a page for each system, and their list."""
    shown: dict[tuple[str, str], set[int]] = {}
    for cell in (cell for cells in results.cells.values() for cell in cells):
        if training_of(cell):
            shown.setdefault((cell.corpus, cell.model), set()).add(cell.seed)
    waiting = list(shown)
    for corpus, system in waiting:
        for name, _ in needed_systems(results.configuration.on(corpus), system):
            if (corpus, name) not in shown:
                shown[corpus, name] = {results.configuration.scale_settings.seeds[0]}
                waiting.append((corpus, name))
    browsed = {score for scores in translated(results).values() for score in scores}
    rows: dict[bool, list[Row]] = {True: [], False: []}  # by whether it was trained
    best: dict[str, dict[str, Entry]] = {}
    curves: dict[str, dict[str, Any]] = {}
    for (corpus, system), seeds in sorted(shown.items()):
        page, row, bleu = _page(results, corpus, system, sorted(seeds), browsed)
        rows[page.state is not None and page.state.look != NOTHING].append(row)
        if bleu.text:
            best.setdefault(system, {})[corpus] = bleu
        for section in page.sections:
            for name, points in section.curves.get(BLEU, {}).items():
                curves.setdefault(corpus, {})[f"{system}, {name}"] = points
        yield page
    corpora = sorted({corpus for own in best.values() for corpus in own})
    matrix: list[Row] = [
        [Entry(system, look="label"), *(own.get(corpus, "") for corpus in corpora)]
        for system, own in best.items()
    ]
    title = "Best sacreBLEU on the test set, by corpus"
    folded = f"Systems that were not trained: {len(rows[False])}"
    sections = [
        Section("matrix", title, columns=["system", *corpora], rows=matrix),
        Section("curves", BLEU, curves=curves),
        Section("systems", "Trained systems", columns=COLUMNS, rows=rows[True]),
        Section("untrained", "Not trained", columns=COLUMNS, rows=rows[False], folded=folded),
    ]
    full = [section for section in sections if section.rows or section.curves]
    yield Page(SYSTEMS, "Systems", LEAD, full)


def _page(
    results: Results, corpus: str, system: str, seeds: list[int], browsed: set[Score]
) -> tuple[Page, Row, Entry]:
    """The page of a system, its row in the list, and its best sacreBLEU on the test set."""
    configuration, path = results.configuration, of_system(corpus, system)
    described = configuration.files["systems"][system].get("description", "")
    records = {seed: record for seed in seeds if (record := results.training(corpus, system, seed))}
    older = [line for seed in records for line in results.changes(corpus, system, seed)]
    state = Entry.share(len(records), len(seeds), "trained", " seeds")
    state = replace(state, small=[OLDER] * bool(older))
    parents: list[Row] = [
        [Entry(name, link=of_system(corpus, name), look="label"), NEEDS[key]]
        for name, key in dict.fromkeys(needed_systems(configuration.on(corpus), system))
    ]
    text = "" if parents else "No other system."
    columns: Sequence[str] = ("system", "its")
    sections = [Section("parents", "What it learns from", text, columns=columns, rows=parents)]
    if older:
        title = "What has changed in the configuration since it was trained"
        sections.append(Section("older", title, notes=list(dict.fromkeys(older))))
    text, columns = "" if records else "Not run.", ("seed", *FACTS, "best validation")
    trained = [_training(seed, record) for seed, record in records.items()]
    sections.append(Section("training", "Training", text, columns=columns, rows=trained))
    if curves := _curves(results, corpus, system, seeds):
        target = configuration.methods(system).target
        notes = [WITH_TEACHER] if target.distils or target.teacher else []
        sections.append(Section("curves", "Learning curves", curves=curves, notes=notes))
    scores, best = _scores(results, corpus, system, browsed)
    effective = configuration.training(corpus, system).as_json()
    code = json.dumps(effective, indent=2)
    sections += [scores, Section("configuration", "Effective configuration", code=code)]
    file = configuration.file_of("systems", system).partition(":")[0]
    facts = [f"On {corpus}, configured in {file}."]
    others = (name for name in configuration.systems if name != system)
    same = [name for name in others if configuration.canonical(corpus, name) == system]
    facts += [f"The same on this corpus, and trained once: {', '.join(same)}."] if same else []
    first: dict[str, Any] = next(iter(records.values()), {})
    minutes = first["seconds"] / 60 if "seconds" in first else None
    row = [
        Entry(system, link=path, look="label"),
        *(corpus, state, effective["input"]["method"], effective["target"]["method"], best),
        Entry.number(first.get("parameters"), ",d"),
        Entry.number(minutes, ".1f"),
        described,
    ]
    models = (Model(configuration.run, corpus, system, seed).path for seed in seeds)
    command = snakemake(configuration, *models)
    page = Page(path, system, described, sections, facts=facts, state=state, command=command)
    return page, row, best


def _training(seed: int, record: Mapping[str, Any]) -> Row:
    """The facts of a training, and the best number of its validations."""
    facts = (record.get(key) or "" for key in FACTS)
    written = (each if isinstance(each, str) else f"{each:,.0f}" for each in facts)
    validation, best = record.get("validation") or {}, ""
    if validation.get("best") is not None:
        is_bleu = validation["metric"] == "bleu"
        best = f"{validation['best']:.{2 if is_bleu else 3}f}"
        best += " BLEU" if is_bleu else f" ({validation['metric']})"
    return [str(seed), *written, best]


def _curves(results: Results, corpus: str, system: str, seeds: Sequence[int]) -> dict[str, Any]:
    """Validation BLEU and losses of trainings."""
    curves: dict[str, dict[str, list[list[float]]]] = {}
    for seed in seeds:
        csv = results.root / TrainingCurve(results.configuration.run, corpus, system, seed).path
        if not csv.exists():
            continue
        frame = pd.read_csv(csv)
        for column, title in (("bleu", BLEU), ("loss", "loss")):
            points = frame.reindex(columns=["split", "update", column]).dropna()
            for split, own in points.groupby("split"):
                name = f"seed {seed}, {split}" if column == "loss" else f"seed {seed}"
                values = own[["update", column]].to_numpy().tolist()
                curves.setdefault(title, {})[name] = values
    return curves


def _scores(
    results: Results, corpus: str, system: str, browsed: set[Score]
) -> tuple[Section, Entry]:
    """Every score of a system, whatever asked for it, and the best one on the test set."""
    run = results.configuration.run
    folder = Path(Score(run, corpus, system, 0, "decoding", "split").path).parents[2]
    rows: list[Row] = []
    of_test = []
    for path in sorted((results.root / folder).glob("seed*/*/*.json")):
        seed, decoding = int(path.parts[-3].removeprefix("seed")), path.parts[-2]
        score = Score(run, corpus, system, seed, decoding, path.stem)
        chosen = f"test-set={corpus}/{score.split}&b={system}/{decoding}"
        link = f"{SENTENCES}#{chosen}" if score in browsed else ""
        row: list[Entry | str] = [Entry(decoding, link=link, look="label"), score.split, str(seed)]
        numbers = read(path, path.stem)
        if score.split == TEST:
            of_test.append(numbers["sacrebleu"].value or 0.0)
        for own in map(numbers.get, MEASURED):
            entry = Entry.number(own.value if own else None, ".2f")
            if own and own.low is not None:
                entry = replace(entry, small=[f"[{own.low:.1f}, {own.high:.1f}]"])
            row.append(entry)
        rows.append(row)
    columns = ["decoding", "split", "seed", *(MEASURES[name].label for name in MEASURED)]
    text = "With 95% intervals. A decoding leads to its translations." if rows else "Not run."
    section = Section("scores", "Scores under every decoding", text, columns=columns, rows=rows)
    return section, Entry.number(max(of_test, default=None), ".2f")
