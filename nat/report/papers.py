"""The page of a paper: its claims, tables and figures beside what the paper prints."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from nat.figures import figures, points
from nat.measures.known import measure_of
from nat.papers import claim_formats, reports, table_formats, tables, values
from nat.papers.cells import Cell, shown, training_of
from nat.papers.judgements import UNJUDGED
from nat.papers.reader import NOT_RUN
from nat.papers.reports import Target, snakemake
from nat.papers.resolved import ResolvedPart
from nat.papers.settings import deviations
from nat.papers.table_formats import DIFFERENCE, PUBLISHED, given
from nat.papers.verdicts import FAILS, HOLDS, UNDECIDED
from nat.report import addresses
from nat.report.details import CODE, Details, Line
from nat.report.page import NOTHING, OLDER, Entry, Page, Section
from nat.report.results import Results, stand_ins

MARKS = {HOLDS: "✓", FAILS: "✗", UNDECIDED: "≈", UNJUDGED: "?", NOT_RUN: "–"}
SORTED_BY = {
    "ours": "ours",
    "95% interval": "low",
    "detectable": "detectable",
    "in the claim's measure": "in_own_measure",
    "paper": "published",
}
"""Columns of claims that are sorted by a number, and its key in the record of a judgement."""


def page(results: Results, paper: str, folder: Path) -> Page:
    """Make the page of a paper, and the files that it links to.

    Raises:
        UserError: for damaged results.
    """
    configuration = results.configuration
    described = configuration.paper(paper)
    details = Details(results, addresses.paper(paper))
    sections = [_claims(results, paper, details)] if described.claims else []
    sections += [_table(results, paper, number, details, folder) for number in described.tables]
    sections += [_figure(results, paper, number, folder) for number in described.figures]
    if settings := deviations(configuration, paper):
        text = "Where the configuration at the scale of the papers differs from what is stated."
        title = "Deviations from the paper’s settings"
        sections.append(Section("deviations", title, text, notes=settings))
    return Page(
        addresses.paper(paper),
        described.title,
        described.description,
        sections,
        facts=[cost_text(results, [paper])],
        warning=stand_ins(configuration),
        command=snakemake(configuration, paper),
        details={"numbers": details.numbers, "shared": details.shared},
    )


def label(kind: str, number: str) -> str:
    """What a table or figure is called; those that no paper prints have a name, no number."""
    return f"{kind} {number}".capitalize() if number.isdigit() else kind.capitalize()


def titled(title: str) -> str:
    """A title with a capital letter."""
    return title[:1].upper() + title[1:]


def _section(results: Results, target: Target, title: str) -> Section:
    paper, kind, number = target
    heading = f"{label(kind, number)}: {titled(title)}" if title else label(kind, "")
    command = snakemake(results.configuration, reports.name(target))
    older = [OLDER] * bool(results.older(results.cells[target]))
    state = replace(results.state(target), small=older)
    return Section(addresses.section(kind, number), heading, state=state, command=command)


def _files(folder: Path, paper: str, stem: str, formats: Sequence[str]) -> tuple[Path, Any]:
    """The first of the files of a report, and how its page links to all of them."""
    below = f"downloads/{paper}/{stem}"
    (folder / below).parent.mkdir(parents=True, exist_ok=True)
    links = {each.upper(): f"../{below}.{each}" for each in formats}
    return folder / f"{below}.{formats[0]}", links


# Tables


def _table(results: Results, paper: str, number: str, details: Details, folder: Path) -> Section:
    configuration = results.configuration
    described = configuration.paper(paper).tables[number]
    resolved = reports.resolve_part(configuration, paper, f"table {number}")
    table = reports.make_table(resolved, results.root)
    section = _section(results, (paper, "table", number), described.title)
    files: dict[str, str] = {}
    if results.state((paper, "table", number)).look != NOTHING:
        csv, files = _files(folder, paper, f"table_{number}", reports.FORMATS["table"])
        table_formats.write(table, csv)
    labels, group = table.labels, ""
    numbers = _numbers(results, resolved, table, details) if described.kind == "grid" else []
    body: list[list[Entry | str]] = []
    for place, texts in enumerate(table.rows):
        group = texts[0] or group
        row: list[Entry | str] = [Entry(texts[labels - 1], look="label")]
        if labels > 1:
            row.insert(0, Entry(group, look="" if texts[0] else "again"))
        body.append(row + (numbers[place] if numbers else list(texts[labels:])))
    parted = any(part for _, part in table.columns)
    columns = [name or "group" for name, _ in table.columns[:labels]]
    above: list[tuple[str, int]] = [("", labels)] if parted else []
    for name, part in table.columns[labels:]:
        columns.append(part or "ours" if parted else name)
        if parted and part in (PUBLISHED, DIFFERENCE):
            above[-1] = above[-1][0], above[-1][1] + 1
        elif parted:
            above.append((name, 1))
    return replace(
        section,
        text=table.origin,
        columns=columns,
        above=above,
        rows=body,
        notes=(notes(table) if numbers else table.notes) + table.signatures,
        files=files,
    )


def notes(table: table_formats.TableText) -> list[str]:
    """The notes of a table, of which a page shows the intervals of all columns."""
    ran = [each for each in table.records if each["status"] == "run" and given(each["low"])]
    others = [note for note in table.notes if not note.startswith(tables.INTERVAL)]
    return values.what_intervals_are(tables.INTERVAL, ran) + others


def _numbers(
    results: Results, resolved: ResolvedPart, table: table_formats.TableText, details: Details
) -> list[list[Entry | str]]:
    """The numbers of each row: what they show, are sorted by, and where they come from."""
    groups = {
        (own[0].row, own[0].column): (own, over) for own, over in shown(resolved.cells).values()
    }
    records = {(record["row"], record["column"]): record for record in table.records}
    found = []
    for row, texts in zip(dict.fromkeys(row for row, _ in records), table.rows, strict=True):
        entries: list[Entry | str] = []
        places = zip(table.names, table.columns, texts, strict=True)
        for column, (_, part), text in list(places)[table.labels :]:
            record = records[row, column]
            if part in (PUBLISHED, DIFFERENCE):
                value = record["published" if part == PUBLISHED else "difference"]
                entries.append(Entry(text, _sort(value), look="number"))
                continue
            entry = _ours(record, text)
            if cells := _behind((row, column), groups):
                title = ", ".join(filter(None, (row, column)))
                entry = replace(entry, details=details.add(title, _lines(record), cells))
                if results.older(cells):
                    entry = replace(entry, small=(*entry.small, OLDER), look="number older")
            entries.append(entry)
        found.append(entries)
    return found


def _behind(
    at: tuple[str, str], groups: Mapping[tuple[str, str], tuple[list[Cell], list[Cell]]]
) -> list[Cell]:
    """The cells that a number rests on, those that it is compared with included."""
    own, over = groups[at]
    found = [cell for cell in (*own, *over) if cell.source is not None]
    for each in own[0].derived.of if own[0].derived is not None else ():
        found += _behind(each, groups)
    return list(dict.fromkeys(found))


def _ours(record: Mapping[str, Any], text: str) -> Entry:
    """A number of ours, with its interval below it."""
    small = []
    if record["status"] == "run":
        if given(record["low"]):
            # also where other formats have it beside the number, before the mark of a footnote
            number, _, rest = text.partition(" [")
            text = number + rest.partition("]")[2]
            small.append(tables.ends(dict(record)))
        if (seeds := len(str(record["seeds"]).split())) > 1:
            small.append(f"{seeds} seeds")
    return Entry(text, _sort(record["ours"]), small, look="number")


def _sort(value: Any) -> float | str:
    """What a cell with a number is sorted by; empty where there is none."""
    return value if isinstance(value, float | int) and given(value) else ""


def _lines(record: Mapping[str, Any]) -> list[Line]:
    """The lines of details that the record of a place gives."""
    measure = measure_of(record["measure"])
    ran = record["status"] == "run"
    said = {
        "measure": ", ".join(filter(None, (measure.label, measure.definition))),
        "state": "" if ran else record["status"],
        "ours": f"{record['ours']:.{measure.digits + 2}f} {measure.unit}" if ran else "",
    }
    if ran and given(record["low"]):
        name = "quartiles" if values.shows_quartiles(record) else "95% interval"
        said[name] = f"{record['low']} to {record['high']}"
    if ran and given(record["spread"]):
        over = values.what_spreads_are_over([record])
        said["standard deviation"] = f"{record['spread']} over {over}"
    said["seeds"] = str(record["seeds"]) if ran else ""
    if given(record["published"]):
        said["published"] = f"{record['published']} {record['published_source']}".strip()
    said |= {"not comparable": record["stand_in"], "remark": record["remark"]}
    if record["baseline"] and given(record["p_value"]):
        test = f"{table_formats.p_value(record['p_value'])} ({record['test']})"
        said["baseline"] = f"{record['baseline']}: {record['baseline_difference']:+.2f}, {test}"
    lines = [(term, text, "") for term, text in said.items() if text]
    return lines + [("signature", record["signature"], CODE)] * bool(record["signature"])


# Figures


def _figure(results: Results, paper: str, number: str, folder: Path) -> Section:
    target: Target = (paper, "figure", number)
    described = results.configuration.paper(paper).figures[number]
    section = _section(results, target, described.title)
    if results.state(target).look == NOTHING:
        return section
    figure = reports.resolve_part(results.configuration, paper, f"figure {number}")
    plot = points.make(figure, results.root)
    pdf, files = _files(folder, paper, f"figure_{number}", reports.FORMATS["figure"])
    figures.write(plot, pdf)
    rows: list[list[Entry | str]] = []
    for record in plot.records:
        at = record["category"] or record["x"]
        numbers = [record[key] if given(record[key]) else "" for key in ("ours", "published")]
        texts = map(str, ("" if at is None else at, *numbers))
        rows.append([record["column"], record["row"], *texts, record["status"]])
    return replace(
        section,
        text=figure.origin,
        columns=("panel", "series", "at", "ours", "published", "state"),
        rows=rows,
        picture=files["PNG"],
        files=files,
    )


# Claims


def _claims(results: Results, paper: str, details: Details) -> Section:
    columns = (*claim_formats.COLUMNS[:2], "corpus", *claim_formats.COLUMNS[2:])
    rows: list[list[Entry]] = []
    for check, record in results.claims[paper]:
        texts = claim_formats.lines(record) | {"corpus": record["corpus"].replace(" ", ", ")}
        row = {
            name: Entry(text, _sort(record[SORTED_BY[name]]) if name in SORTED_BY else None)
            for name, text in texts.items()
        }
        cells = list(dict.fromkeys(cell for cell in check.cells if cell.source is not None))
        said = {
            "verdict": record["verdict"],
            "check": f"{check.kind} {check.relation}, margin {check.margin:g}",
            **{key: record[key] for key in ("numbers", "reason", "seeds")},
        }
        title = f"{check.text} ({check.case})" if check.case else check.text
        lines = [(term, str(text), "") for term, text in said.items() if text]
        row["ours"] = replace(row["ours"], details=details.add(title, lines, cells))
        verdict = f"{MARKS[record['verdict']]} {record['verdict']}"
        look = f"badge {record['verdict'].replace(' ', '-')}"
        row["verdict"] = Entry(verdict, small=[OLDER] * bool(results.older(cells)), look=look)
        if rows and rows[-1][0].text == row["claim"].text:
            row["claim"] = replace(row["claim"], look="again")
        rows.append([row[name] for name in columns])
    records = [record for _, record in results.claims[paper]]
    return replace(
        _section(results, (paper, "claims", ""), ""),
        text=f"{claim_formats.summary(records)}.",
        columns=columns,
        rows=rows,
        notes=claim_formats.notes(records),
    )


# Cost


def cost(results: Results, papers: Collection[str]) -> dict[str, str]:
    """What the trainings behind papers took, those of teachers included where they are shown."""
    models = {
        (cell.corpus, cell.model, cell.seed)
        for target, cells in results.cells.items()
        for cell in cells
        if target[0] in papers and training_of(cell)
    }
    records = [record for key in sorted(models) if (record := results.training(*key)) is not None]
    hours = sum(
        float(record.get("seconds") or 0) * int(record.get("devices") or 1) / 3600
        for record in records
    )
    devices = dict.fromkeys(str(record.get("device", "unknown device")) for record in records)
    return {
        "trainings": f"{len(records)} of {len(models)}",
        "device hours": f"{hours:,.2f}",
        "target tokens": f"{sum(int(record.get('tokens') or 0) for record in records):,}",
        "devices": ", ".join(devices),
    }


def cost_text(results: Results, papers: Collection[str]) -> str:
    """What the trainings behind papers took, in a sentence."""
    found = cost(results, papers)
    devices = f" on {found['devices']}" if found["devices"] else ""
    hours, tokens = found["device hours"], found["target tokens"]
    trainings = found["trainings"]
    return f"Trainings: {trainings}, {hours} device hours{devices}, {tokens} target tokens."
