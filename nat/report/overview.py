"""The first page: the papers, what was run of each table and figure, and what it cost."""

from collections.abc import Sequence

from nat.papers import claim_formats
from nat.papers.reports import snakemake
from nat.report import papers
from nat.report.page import COMPLETE, NOTHING, OVERVIEW, PART, Entry, Page, Row, Section, of_paper
from nat.report.results import Results, stand_ins


def page(results: Results) -> Page:
    """Make the overview.

    Raises:
        UserError: for damaged results.
    """
    configuration = results.configuration
    lead = (
        f"Papers on non-autoregressive machine translation, at scale {configuration.scale}: what "
        "was run, what held, and what it cost."
    )
    counted = "This counts those of all systems that tables, figures and claims show, each once."
    return Page(
        OVERVIEW,
        "All papers",
        lead,
        [
            _papers(results, "papers", "Papers", results.papers),
            _papers(results, "beyond", "Beyond the papers", results.others),
            _reports(results),
        ],
        facts=[f"{papers.cost_text(results, configuration.papers)} {counted}"],
        warning=stand_ins(configuration),
        command=snakemake(configuration, "all"),
    )


def _papers(results: Results, name: str, title: str, shown: Sequence[str]) -> Section:
    rows: list[Row] = []
    for paper in shown:
        states = [results.state(target).look for target in results.cells if target[0] == paper]
        judged = [record for _, record in results.claims.get(paper, [])]
        claims = f"{of_paper(paper)}#claims" if judged else ""
        cost = results.cost([paper])
        rows.append(
            [
                Entry(results.configuration.paper(paper).title, link=of_paper(paper), look="label"),
                f"{states.count(COMPLETE)} of {len(states)}",
                str(states.count(PART)),
                Entry(claim_formats.summary(judged), link=claims),
                cost["trainings"],
                cost["device hours"],
            ]
        )
    columns = ("paper", "complete", "in part", "claims", "trainings", "device hours")
    return Section(name, title, columns=columns, rows=rows)


def _reports(results: Results) -> Section:
    """Every table and figure with how much of it exists, and those that are not reproduced."""
    configuration = results.configuration
    rows: list[Row] = []
    for target in results.cells:
        paper, kind, number = target
        if kind == "claims":
            continue
        described = configuration.paper(paper)
        address = f"{of_paper(paper)}#{papers.section_name(target)}"
        label = Entry(papers.label(kind, number), link=address, look="label")
        title = papers.titled(described.parts[f"{kind} {number}"].title)
        rows.append([described.title, label, title, results.state(target)])
    for described in map(configuration.paper, results.papers):
        for name, what in described.diagrams.items():
            form = "in words" if name.startswith("table") else "a diagram"
            state = Entry(f"{form}, not reproduced", look=NOTHING)
            rows.append([described.title, name.capitalize(), papers.titled(what), state])
    columns = ("paper", "report", "title", "results")
    text = "How many of the results of each table and figure exist at this scale."
    return Section("reports", "Tables and figures", text, columns=columns, rows=rows)
