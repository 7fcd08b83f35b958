"""The page of a paper: its tables, figures and claims beside what the paper prints."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from nat.figures import figures
from nat.figures.points import Plot
from nat.files import copy
from nat.measures.known import measure_of
from nat.papers import claim_formats, reports, table_formats, tables, values
from nat.papers.cells import Cell, shown
from nat.papers.relation import report
from nat.papers.reports import snakemake
from nat.papers.settings import deviations
from nat.papers.table_formats import given
from nat.report import addresses
from nat.report.details import Details, Line, line
from nat.report.page import Page
from nat.report.results import NOTHING, Results

FOLDER = "downloads"
CORPUS = "corpus"
"""A column of claims."""

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
    files = folder / FOLDER / paper
    content = {
        "description": described.description,
        "paper": paper,
        "command": snakemake(configuration, paper),
        "tables": [_table(results, paper, number, details, files) for number in described.tables],
        "figures": [_figure(results, paper, number, files) for number in described.figures],
        "claims": _claims(results, paper, details) if described.claims else None,
        "conflicts": _conflicts(results, paper),
        "deviations": deviations(configuration, paper),
        "cost": cost(results, [paper]),
        "stand_ins": results.stand_ins,
        "folder": f"../{FOLDER}/{paper}",
    }
    content["numbers"] = details.as_json()
    return Page(addresses.paper(paper), described.title, "paper.html", content)


def _section(results: Results, paper: str, kind: Any, number: str) -> dict[str, Any]:
    target = (paper, kind, number)
    name = reports.name(target)
    return {
        "id": addresses.section(kind, number),
        "label": label(kind, number),
        "name": name,
        "state": results.states[target],
        "command": snakemake(results.configuration, name),
    }


def label(kind: str, number: str) -> str:
    """What a table or figure is called; those that no paper prints have a name, no number."""
    return f"{kind} {number}".capitalize() if number.isdigit() else kind.capitalize()


def titled(title: str) -> str:
    """A title with a capital letter."""
    return title[:1].upper() + title[1:]


# Tables


def _table(
    results: Results, paper: str, number: str, details: Details, files: Path
) -> dict[str, Any]:
    table = results.table(paper, number)
    section = _section(results, paper, "table", number)
    written = section["state"].kind != NOTHING
    if written:
        files.mkdir(parents=True, exist_ok=True)
        table_formats.write(table, files / f"table_{number}.csv")
    described = results.configuration.paper(paper).tables[number]
    cells_ = shown(report(results.configuration, paper, f"table {number}")).values()
    groups = {(own[0].row, own[0].column): (own, over) for own, over in cells_}
    labels = table.labels
    numeric = described.kind == "grid"
    records = table.records if numeric else []
    rows = list(dict.fromkeys(record["row"] for record in records))
    by_place = {(record["row"], record["column"]): record for record in records}
    body, group = [], ""
    indices: dict[tuple[str, str], int] = {}
    for row, texts in zip(rows, table.rows, strict=True) if numeric else ():
        again = labels > 1 and not texts[0]
        group = texts[0] or group if labels > 1 else ""
        texts_: list[dict[str, Any]] = []
        if labels > 1:
            texts_.append({"kind": "group", "text": group, "again": again})
        texts_.append({"kind": "label", "text": texts[labels - 1]})
        places_of_row = zip(table.names, table.columns, texts, strict=True)
        for column, (_, part), text in list(places_of_row)[labels:]:
            record = by_place[row, column]
            cells = _behind((row, column), groups)
            texts_.append(_number(results, record, cells, part, text, details, indices))
        body.append(texts_)
    if not numeric:
        for texts in table.rows:
            group = texts[0] or group if labels > 1 else ""
            start = [{"kind": "group", "text": group, "again": not texts[0]}] if labels > 1 else []
            start.append({"kind": "label", "text": texts[labels - 1]})
            body.append(start + [{"kind": "text", "text": text} for text in texts[labels:]])
    return section | {
        "written": written,
        "title": titled(described.title),
        "origin": table.origin,
        "head": _head(table.columns, labels),
        "body": body,
        "notes": (_notes(table) if numeric else table.notes) + table.signatures,
        "older": any(cell.get("older") for row in body for cell in row),
        "stem": f"table_{number}",
    }


def _notes(table: table_formats.TableText) -> list[str]:
    """The notes of a table, of which a page shows the intervals of all columns."""
    ran = [each for each in table.records if each["status"] == "run" and given(each["low"])]
    others = [note for note in table.notes if not note.startswith(tables.INTERVAL)]
    return values.what_intervals_are(tables.INTERVAL, ran) + others


def _head(columns: Sequence[tuple[str, str]], labels: int) -> list[list[dict[str, Any]]]:
    """Two rows of headings where columns are divided, otherwise one."""
    start = [{"text": name or "group", "at": at} for at, (name, _) in enumerate(columns[:labels])]
    if not any(part for _, part in columns):
        rest = [{"text": name, "at": at} for at, (name, _) in enumerate(columns)][labels:]
        return [[*start, *rest]]
    above: list[dict[str, Any]] = [{"text": "", "span": 1} for _ in start]
    below: list[dict[str, Any]] = list(start)
    for at, (name, part) in enumerate(columns[labels:], labels):
        if part != table_formats.PUBLISHED and part != table_formats.DIFFERENCE:
            above.append({"text": name, "span": 0})
        above[-1]["span"] += 1
        below.append({"text": part or "ours", "at": at})
    return [above, below]


def _behind(
    at: tuple[str, str], groups: Mapping[tuple[str, str], tuple[list[Cell], list[Cell]]]
) -> list[Cell]:
    """The cells that a number rests on, those that it is compared with included."""
    own, over = groups[at]
    found = [cell for cell in (*own, *over) if cell.source is not None]
    for each in own[0].derived.of if own[0].derived is not None else ():
        found += _behind(each, groups)
    return list(dict.fromkeys(found))


def _number(
    results: Results,
    record: Mapping[str, Any],
    cells: Sequence[Cell],
    part: str,
    text: str,
    details: Details,
    indices: dict[tuple[str, str], int],
) -> dict[str, Any]:
    """A cell of a table: what it shows, what it is sorted by, and where it comes from."""
    key = {table_formats.PUBLISHED: "published", table_formats.DIFFERENCE: "difference"}.get(
        part, "ours"
    )
    value = record[key]
    found: dict[str, Any] = {"kind": "number", "text": text, "older": False, "small": ""}
    found["sort"] = _sort(value)
    if part in (table_formats.PUBLISHED, table_formats.DIFFERENCE):
        return found
    if record["status"] == "run":
        small = []
        if given(record["low"]):
            # also where other formats have it beside the number, before the mark of a footnote
            number, _, rest = text.partition(" [")
            found["text"] = number + rest.partition("]")[2]
            small.append(tables.ends(dict(record)))
        if len(str(record["seeds"]).split()) > 1:
            small.append(f"{len(str(record['seeds']).split())} seeds")
        found["small"] = " ".join(small)
    elif not cells:
        return found | {"kind": "nothing"}
    else:
        found["kind"] = "nothing"
    found["older"] = bool(results.older(cells))
    place = record["row"], record["column"]
    if place not in indices:
        title = ", ".join(each for each in place if each)
        indices[place] = details.add(title, _lines(record), cells)
    return found | {"details": indices[place]}


def _sort(value: Any) -> float | str:
    """What a cell with a number is sorted by; empty where there is none."""
    return value if isinstance(value, float | int) and given(value) else ""


def _lines(record: Mapping[str, Any]) -> list[Line]:
    """The lines of details that the record of a place gives."""
    measure = measure_of(record["measure"])
    found = [line("measure", ", ".join(filter(None, (measure.label, measure.definition))))]
    if record["status"] != "run":
        found.append(line("state", record["status"]))
    else:
        found.append(line("ours", f"{record['ours']:.{measure.digits + 2}f} {measure.unit}"))
        if given(record["low"]):
            name = "quartiles" if values.shows_quartiles(record) else "95% interval"
            found.append(line(name, f"{record['low']} to {record['high']}"))
        if given(record["spread"]):
            over = values.what_spreads_are_over([record])
            found.append(line("standard deviation", f"{record['spread']} over {over}"))
        found.append(line("seeds", record["seeds"]))
    if given(record["published"]) and record["published"] != "":
        found.append(line("published", f"{record['published']} {record['published_source']}"))
    for term, key in (("not comparable", "stand_in"), ("remark", "remark")):
        if record.get(key):
            found.append(line(term, record[key]))
    if record.get("baseline") and given(record.get("p_value")):
        found.append(
            line(
                "baseline",
                f"{record['baseline']}: {record['baseline_difference']:+.2f}, "
                f"{table_formats.p_value(record['p_value'])} ({record['test']})",
            )
        )
    if record.get("signature"):
        found.append(line("signature", record["signature"], code=True))
    return found


# Figures


def _figure(results: Results, paper: str, number: str, files: Path) -> dict[str, Any]:
    target = reports.report(results.configuration, (paper, "figure", number))
    section = _section(results, paper, "figure", number)
    found = section | {
        "title": titled(results.configuration.paper(paper).figures[number].title),
        "stem": f"figure_{number}",
        "shown": section["state"].kind != NOTHING,
        "origin": "",
        "alternative": "",
        "points": [],
        "older": False,
    }
    if not found["shown"]:
        return found
    plot = results.plot(paper, number)
    files.mkdir(parents=True, exist_ok=True)
    drawn = results.drawn(paper, number, plot)
    pdf = files / f"figure_{number}.pdf"
    if drawn is not None:
        for suffix in (".pdf", ".png", ".csv"):
            copy(drawn.with_suffix(suffix), pdf.with_suffix(suffix))
    else:
        figures.write(plot, pdf)
    assert target.path.endswith(pdf.name)
    return found | {
        "origin": plot.origin,
        "alternative": _alternative(plot),
        "points": _points(plot),
        "older": bool(results.older(results.cells[paper, "figure", number])),
    }


def _alternative(plot: Plot) -> str:
    """A figure in words: its title, and the numbers of each series."""
    parts = [f"{plot.title} ({plot.origin})."]
    series: dict[tuple[str, str], list[str]] = {}
    for record in plot.records:
        if given(record.get("ours")) and isinstance(record["ours"], float | int):
            at = record["category"] or record["x"]
            where = "" if at is None or at == "" else f"{at:g}: " if _is_number(at) else f"{at}: "
            series.setdefault((record["column"], record["row"]), []).append(
                f"{where}{record['ours']:g}"
            )
    for (panel, name), points in list(series.items())[:24]:
        shown = points if len(points) <= 12 else [*points[:6], "…", *points[-3:]]
        parts.append(f"{', '.join(filter(None, (panel, name)))}: {'; '.join(shown)}.")
    return " ".join(parts)


def _is_number(value: Any) -> bool:
    return isinstance(value, float | int)


def _points(plot: Plot) -> list[list[Any]]:
    """The points of a figure: panel, series, place, ours, published, state."""
    found = []
    for record in plot.records:
        at = record["category"] or record["x"]
        found.append(
            [
                record["column"],
                record["row"],
                "" if at is None else at,
                *("" if not given(record[key]) else record[key] for key in ("ours", "published")),
                record["status"],
            ]
        )
    return found


# Claims


def _claims(results: Results, paper: str, details: Details) -> dict[str, Any]:
    records = results.claims[paper]
    rows: list[dict[str, Any]] = []
    for record, check in zip(records, results.checks[paper], strict=True):
        texts = claim_formats.lines(record) | {CORPUS: record["corpus"].replace(" ", ", ")}
        cells = [cell for cell in check.cells if cell.source is not None]
        older = results.older(cells)
        index = details.add(
            " ".join(filter(None, (check.text, f"({check.case})" if check.case else ""))),
            [
                line("verdict", record["verdict"]),
                line("check", f"{check.kind} {check.relation}, margin {check.margin:g}"),
                *([line("numbers", record["numbers"])] if record["numbers"] else []),
                *([line("reason", record["reason"])] if record["reason"] else []),
                *([line("seeds", record["seeds"])] if record["seeds"] else []),
            ],
            list(dict.fromkeys(cells)),
        )
        rows.append(
            {
                "id": anchor(record),
                "texts": texts,
                "sort": {column: _sort(record[key]) for column, key in SORTED_BY.items()},
                "verdict": record["verdict"],
                "details": index,
                "older": bool(older),
                "again": bool(rows) and rows[-1]["texts"]["claim"] == texts["claim"],
            }
        )
    return _section(results, paper, "claims", "") | {
        "rows": rows,
        "summary": claim_formats.summary(records),
        "notes": claim_formats.notes(records),
        "columns": (*claim_formats.COLUMNS[:2], CORPUS, *claim_formats.COLUMNS[2:]),
    }


def anchor(record: Mapping[str, Any]) -> str:
    """Where the judgement of a claim stands on the page of its paper."""
    words = f"claim {record['claim']} {record['case']}".lower()
    return "-".join("".join(each if each.isalnum() else " " for each in words).split())


# Conflicts


def _conflicts(results: Results, paper: str) -> dict[str, list[str]]:
    """What the paper prints that does not agree with itself or another, by kind."""
    found: dict[str, list[str]] = {}
    for conflict in results.conflicts:
        if paper in conflict.papers:
            found.setdefault(conflict.kind, []).append(conflict.text)
    return found


# Cost

TRAININGS, HOURS = "trainings", "device hours"


def cost(results: Results, papers: Collection[str]) -> list[tuple[str, str]]:
    """What the trainings behind papers took, those of teachers included where they are shown."""
    cells = {
        (cell.corpus, cell.model, cell.seed)
        for target in results.targets
        if target[0] in papers
        for cell in results.cells[target]
        if cell.of_training
    }
    records = [record for key in sorted(cells) if (record := results.training(*key)) is not None]
    found = [(TRAININGS, f"{len(records)} of {len(cells)}")]
    if not records:
        return found
    seconds = sum(float(record.get("seconds") or 0) * _devices(record) for record in records)
    tokens = sum(int(record.get("tokens") or 0) for record in records)
    devices = dict.fromkeys(str(record.get("device", "unknown device")) for record in records)
    return [
        *found,
        (HOURS, f"{seconds / 3600:,.2f}"),
        ("target tokens seen", f"{tokens:,}"),
        ("devices", ", ".join(devices)),
    ]


def _devices(record: Mapping[str, Any]) -> int:
    return int(record.get("devices") or 1)
