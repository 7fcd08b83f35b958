"""The page of a paper: its claims, tables and figures beside what the paper prints.

The page tells the origin of a number on demand.
"""

import json
import shlex
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from nat.artifacts import Latency, Score
from nat.configuration import Configuration
from nat.figures import figures, points
from nat.figures.claims import forest
from nat.papers import judgements, reports, table_formats, tables, values
from nat.papers.cells import Cell, ResolvedPart, training_of
from nat.papers.judgements import UNJUDGED
from nat.papers.reader import NOT_RUN
from nat.papers.relation import relation
from nat.papers.reports import Report, snakemake
from nat.papers.settings import deviations
from nat.papers.table_formats import TableText, given, heading
from nat.papers.values import Record
from nat.papers.verdicts import FAILS, HOLDS, UNDECIDED
from nat.report.page import NOTHING, OLDER, Entry, Page, Row, Section, of_paper, of_system
from nat.report.results import Results, stand_ins

MARKS = {HOLDS: "✓", FAILS: "✗", UNDECIDED: "≈", UNJUDGED: "?", NOT_RUN: "–"}
CODE = "code"
OF_PICTURE = "In the picture, a line is a 95% interval, and a black tick the bound of the claim."


def page(results: Results, paper: str, folder: Path) -> Page:
    """Make the page of a paper, and the files that it links to; damaged results are UserErrors."""
    configuration = results.configuration
    described = configuration.paper(paper)
    (folder / "downloads" / paper).mkdir(parents=True)
    own = (report for report in results.cells if report.paper == paper)
    claims_first = sorted(own, key=lambda report: report.form != "claims")
    sections = [SECTIONS[report.form](results, report, folder) for report in claims_first]
    if settings := deviations(configuration, paper):
        text = "Where the configuration at the scale of the papers differs from what is stated."
        title = "Deviations from the paper’s settings"
        sections.append(Section("deviations", title, text, notes=settings))
    return Page(
        of_paper(paper),
        described.title,
        described.description,
        sections,
        facts=[cost_text(results, [paper])],
        stand_ins=stand_ins(configuration, results.shown(paper)),
        command=snakemake(configuration, paper),
        contents=True,
    )


def cost_text(results: Results, papers: Collection[str]) -> str:
    """Say what the trainings behind papers took, in a sentence."""
    cost = results.cost(papers)
    devices = f" on {cost['devices']}" if cost["devices"] else ""
    hours, tokens = cost["device hours"], cost["target tokens"]
    return f"Trainings: {cost['trainings']}, {hours} device hours{devices}, {tokens} target tokens."


def label(report: Report) -> str:
    """Name a table or figure; those that no paper prints have a name, no number."""
    return (report.part if report.number.isdigit() else report.form).capitalize()


def titled(title: str) -> str:
    """Write a title with a capital letter."""
    return title[:1].upper() + title[1:]


def section_name(report: Report) -> str:
    """Name of the section of a table, figure or the claims on the page of its paper."""
    return report.part.replace(" ", "-")


def _section(results: Results, report: Report) -> Section:
    state = results.state(report)
    part = relation(results.configuration, report.paper).get(report.part)
    title = f": {titled(part.described.title)}" if part else ""
    files = map(Path, report.files if part and state.look != NOTHING else ())
    return Section(
        section_name(report),
        f"{label(report)}{title}",
        state=replace(state, small=[OLDER] * bool(results.older(results.cells[report]))),
        files={each.suffix[1:].upper(): f"downloads/{report.paper}/{each.name}" for each in files},
        command=snakemake(results.configuration, report.name),
    )


# Tables


def _table(results: Results, report: Report, folder: Path) -> Section:
    section = _section(results, report)
    resolved = reports.resolve_part(results.configuration, report.paper, report.part)
    made = reports.make_table(resolved, results.root)
    if section.files:
        table_formats.write(made, folder / section.files["CSV"])
    labels, notes = made.labels, made.notes
    numbers: Sequence[Row] = [row[labels:] for row in made.rows]
    if resolved.described.kind == "grid":
        numbers = _numbers(results, resolved, made)
        # a page shows the intervals of all columns
        ran = [each for each in made.records if each["status"] == "run" and given(each["low"])]
        others = [note for note in notes if not note.startswith(tables.INTERVAL)]
        notes = values.what_intervals_are(tables.INTERVAL, ran) + others
    rows: list[Row] = []
    group = ""
    for texts, own in zip(made.rows, numbers, strict=True):
        group = texts[0] or group
        of_group = [Entry(group, look="" if texts[0] else "again")] * (labels > 1)
        rows.append([*of_group, Entry(texts[labels - 1], look="label"), *own])
    columns = [heading(column) or "group" for column in made.columns]
    return replace(section, text=made.origin, columns=columns, rows=rows, notes=notes)


def _numbers(results: Results, resolved: ResolvedPart, table: TableText) -> list[list[Entry]]:
    """The numbers of each row: what they show, are sorted by, and where they come from."""
    groups = {(each.first.row, each.first.column): each for each in resolved.numbers}

    def behind(at: tuple[str, str]) -> list[Cell]:
        """The cells that a number rests on, those that it is compared with included."""
        cells = [cell for cell in groups[at].cells if cell.source is not None]
        derived = groups[at].first.derived
        for each in derived.of if derived is not None else ():
            cells += behind(each)
        return list(dict.fromkeys(cells))

    rows = []
    for texts, records in zip(table.rows, table.behind, strict=True):
        row = [Entry(text, look="number") for text in texts[table.labels :]]
        for column, record in enumerate(records):
            if record is not None:
                cells = behind((record["row"], record["column"]))
                row[column] = _ours(results, record, row[column].text, cells)
        rows.append(row)
    return rows


def _ours(results: Results, record: Record, text: str, cells: list[Cell]) -> Entry:
    """A number of ours, with its interval below it."""
    small = []
    if record["status"] == "run":
        if given(record["low"]):
            small.append(interval := tables.ends(record))
            text = text.replace(f" {interval}", "")
        if (seeds := len(str(record["seeds"]).split())) > 1:
            small.append(f"{seeds} seeds")
    older = bool(results.older(cells))
    return Entry(
        text,
        small=small + [OLDER] * older,
        look="number older" if older else "number",
        title=", ".join(filter(None, (record["row"], record["column"]))),
        details=_details(results, record, cells) if cells else (),
    )


# Figures


def _figure(results: Results, report: Report, folder: Path) -> Section:
    section = _section(results, report)
    if not section.files:
        return section
    resolved = reports.resolve_part(results.configuration, report.paper, report.part)
    figures.write(points.make(resolved, results.root), folder / section.files["PDF"])
    return replace(section, text=resolved.origin, picture=section.files["PNG"])


# Claims


def _claims(results: Results, report: Report, folder: Path) -> Section:
    judged = results.claims[report.paper]
    columns = (*judgements.COLUMNS[:2], "corpus", *judgements.COLUMNS[2:])
    rows: list[list[Entry]] = []
    for check, record in judged:
        texts = judgements.lines(record) | {"corpus": record["corpus"].replace(" ", ", ")}
        row = {name: Entry(text) for name, text in texts.items()}
        cells = list(dict.fromkeys(cell for cell in check.cells if cell.source is not None))
        title = f"{check.text} ({check.case})" if check.case else check.text
        row["ours"] = replace(row["ours"], title=title, details=_details(results, record, cells))
        verdict = f"{MARKS[record['verdict']]} {record['verdict']}"
        look = f"badge {record['verdict'].replace(' ', '-')}"
        row["verdict"] = Entry(verdict, small=[OLDER] * bool(results.older(cells)), look=look)
        if rows and rows[-1][0].text == row["claim"].text:
            row["claim"] = replace(row["claim"], look="again")
        rows.append([row[name] for name in columns])
    records = [record for _, record in judged]
    picture = f"downloads/{report.paper}/claims.svg"
    if not forest(judged, folder / picture):
        picture = ""
    return replace(
        _section(results, report),
        text=f"{judgements.summary(records)}.",
        picture=picture,
        columns=columns,
        rows=rows,
        notes=[*[OF_PICTURE] * bool(picture), *judgements.notes(records)],
    )


SECTIONS = {"table": _table, "figure": _figure, "claims": _claims}

# Origins of numbers


def _details(results: Results, record: Record, cells: Sequence[Cell]) -> list[tuple[str, str, str]]:
    """Collect what the page says of a number that rests on cells, first its line of the CSV.

    A line is a term, its text, and `CODE`, the address that it leads to, or nothing.
    """
    known = {key: value for key, value in record.items() if given(value) and value not in ("", 0)}
    lines = [(key.replace("_", " "), str(value), "") for key, value in known.items()]
    there = [cell for cell in cells if (results.root / cell.path).exists()]
    missing = [cell.path for cell in cells if cell not in there]
    for cell in there:
        if isinstance(cell.source, Score):
            lines.append(("translations", cell.source.translations.path, CODE))
    if missing:
        command = snakemake(results.configuration, *dict.fromkeys(cell.path for cell in cells))
        lines += [(NOT_RUN, "; ".join(missing), CODE), ("made by", command, CODE)]
    elif there:
        lines.append(("made again by", made_again(results.configuration, there), CODE))
    for cell in there:
        if training_of(cell):
            model = f"{cell.model} on {cell.corpus}, seed {cell.seed}"
            lines.append(("model", model, of_system(cell.corpus, cell.model)))
            if older := results.changes(cell.corpus, cell.model, cell.seed):
                lines.append((OLDER, "; ".join(older), ""))
        configured = results.configuration.on(cell.corpus)
        if cell.decoding:
            options = json.dumps(configured.decoding(cell.decoding).as_json())
            lines.append(("decoding", f"{cell.decoding}: {options}", CODE))
        if isinstance(cell.source, Latency):
            setting = json.dumps(configured.scale_settings.latency.model_dump(mode="json"))
            lines.append(("latency", f"{cell.setting}: {setting}", CODE))
    return list(dict.fromkeys(lines))


def made_again(configuration: Configuration, cells: Sequence[Cell]) -> str:
    """Command line that makes the numbers of cells again, and nothing else.

    A job that is forced keeps translations of the same model with the same options, so they are
    removed before.
    """
    files = dict.fromkeys(cell.path for cell in cells)
    command = snakemake(configuration, *files, "--forcerun", *files)
    scores = (cell.source for cell in cells if isinstance(cell.source, Score))
    kept = dict.fromkeys(score.translations.path for score in scores)
    return f"{shlex.join(['rm', '-f', *kept])} && {command}" if kept else command
