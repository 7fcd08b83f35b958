"""The first page: what exists of the papers, what it says and cost; last, what was not run."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from nat.papers import judgements
from nat.papers.reader import NOT_RUN
from nat.papers.relation import relation
from nat.papers.reports import Report, snakemake
from nat.report import papers
from nat.report.page import COMPLETE, NOTHING, OVERVIEW, PART, Entry, Page, Row, Section, of_paper
from nat.report.results import Results, stand_ins

REPORTS = ("paper", "report", "title", "results")


def page(results: Results, of_papers: Mapping[str, Page]) -> Page:
    """Make the first page from those of the papers.

    It begins with the tables and figures of the paper of which most was run. Damaged results are
    UserErrors.
    """
    configuration = results.configuration
    lead = f"Scale {configuration.scale}: what was run, what it says, and what it cost."
    counted = "This counts those of all systems that tables, figures and claims show, each once."
    rows = {report: _row(results, report) for report in results.cells if report.form != "claims"}
    there = [report for report in rows if _share(results, report)]
    there.sort(key=lambda report: _share(results, report), reverse=True)
    text = "How many of the results of each exist at this scale."
    sections = [
        *_most_complete(results, of_papers),
        _papers(results),
        Section(
            "reports", "Tables and figures", text, None, REPORTS, [rows[each] for each in there]
        ),
        _not_run(results, [row for report, row in rows.items() if report not in there]),
    ]
    return Page(
        OVERVIEW,
        "Results",
        lead,
        [section for section in sections if section.rows or section.picture],
        facts=[f"{papers.cost_text(results, configuration.files['papers'])} {counted}"],
        stand_ins=stand_ins(configuration, results.shown()),
        command=snakemake(configuration, "all"),
    )


def _share(results: Results, report: Report) -> float:
    """How much was run of a table or a figure, from 0 to 1; settings are not run."""
    there, of = results.counted(report)
    return there / max(of, 1)


def _most_complete(results: Results, of_papers: Mapping[str, Page]) -> list[Section]:
    """The complete tables and figures of the paper with the greatest share of complete ones."""
    complete: dict[str, list[Section]] = {}
    for report in results.cells:
        if report.form != "claims" and _share(results, report) == 1:
            name = papers.section_name(report)
            sections = (each for each in of_papers[report.paper].sections if each.name == name)
            complete.setdefault(report.paper, []).extend(sections)
    counts = Counter(report.paper for report in results.cells)
    chosen = max(complete, key=lambda paper: len(complete[paper]) / counts[paper], default="")
    title = results.configuration.paper(chosen).title if chosen else ""
    return [
        replace(section, name=f"{chosen}-{section.name}", title=f"{title}, {section.title}")
        for section in complete.get(chosen, ())
    ]


def _papers(results: Results) -> Section:
    """Each paper of which something was run: how much, with which outcome, and its cost."""
    rows: list[Row] = []
    for paper in results.papers:
        states = [results.state(each).look for each in results.cells if each.paper == paper]
        if not results.shown(paper):
            continue
        judged = [record for _, record in results.claims.get(paper, [])]
        claims = f"{of_paper(paper)}#claims" if judged else ""
        cost = results.cost([paper])
        rows.append(
            [
                Entry(results.configuration.paper(paper).title, link=of_paper(paper), look="label"),
                f"{states.count(COMPLETE)} of {len(states)}",
                str(states.count(PART)),
                Entry(judgements.summary(judged), link=claims),
                cost["trainings"],
                cost["device hours"],
            ]
        )
    columns = ("paper", "complete", "in part", "claims", "trainings", "device hours")
    return Section("papers", "Papers", columns=columns, rows=rows)


def _row(results: Results, report: Report) -> Row:
    configuration = results.configuration
    part = relation(configuration, report.paper)[report.part]
    address = f"{of_paper(report.paper)}#{papers.section_name(report)}"
    label = Entry(papers.label(report), link=address, look="label")
    title, paper = papers.titled(part.described.title), configuration.paper(report.paper)
    return [paper.title, label, title, results.state(report)]


def _not_run(results: Results, rows: list[Row]) -> Section:
    """Tables and figures that were not run, and those that are not reproduced, folded."""
    folded = f"Tables and figures that were not run: {len(rows)}"
    claims = [record for judged in results.claims.values() for _, record in judged]
    without = sum(record["verdict"] == NOT_RUN for record in claims)
    folded += f"; claims that need more than was run: {without}" if without else ""
    for described in map(results.configuration.paper, results.papers):
        for name, what in described.diagrams.items():
            form = "in words" if name.startswith("table") else "a diagram"
            state = Entry(f"{form}, not reproduced", look=NOTHING)
            rows.append([described.title, name.capitalize(), papers.titled(what), state])
    return Section("not-run", "Not run", columns=REPORTS, rows=rows, folded=folded)
