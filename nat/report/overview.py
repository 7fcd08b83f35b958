"""The first page: the papers, what was run of each table and figure, and what it cost."""

from collections.abc import Sequence

from nat.papers import claim_formats, reports
from nat.papers.reports import snakemake
from nat.report import addresses, papers
from nat.report.page import COMPLETE, NOTHING, PART, Entry, Page, Section
from nat.report.results import Results, stand_ins

DIAGRAM, WORDS = "a diagram, not reproduced", "in words, not reproduced"


def page(results: Results) -> Page:
    """Make the overview.

    Raises:
        UserError: for damaged results.
    """
    configuration = results.configuration
    sections = [_papers(results, "papers", "Papers", results.papers)]
    if results.others:
        sections.append(_papers(results, "beyond", "Beyond the papers", results.others))
    sections.append(_reports(results))
    lead = (
        f"Papers on non-autoregressive machine translation, at scale {configuration.scale}: what "
        "was run, what held, and what it cost."
    )
    cost = papers.cost_text(results, configuration.papers)
    counted = "This counts those of all systems that tables, figures and claims show, each once."
    return Page(
        addresses.OVERVIEW,
        "All papers",
        lead,
        sections,
        facts=[f"{cost} {counted}"],
        warning=stand_ins(configuration),
        command=snakemake(configuration, "all"),
    )


def _papers(results: Results, name: str, title: str, shown: Sequence[str]) -> Section:
    rows: list[list[Entry | str]] = []
    for paper in shown:
        kinds = [results.state(target).look for target in results.cells if target[0] == paper]
        judged = [record for _, record in results.claims.get(paper, [])]
        cost = papers.cost(results, [paper])
        address = addresses.paper(paper)
        rows.append(
            [
                Entry(results.configuration.paper(paper).title, link=address, look="label"),
                f"{kinds.count(COMPLETE)} of {len(kinds)}",
                str(kinds.count(PART)),
                Entry(claim_formats.summary(judged), link=f"{address}#claims" if judged else ""),
                cost["trainings"],
                cost["device hours"],
            ]
        )
    columns = ("paper", "complete", "in part", "claims", "trainings", "device hours")
    return Section(name, title, columns=columns, rows=rows)


def _reports(results: Results) -> Section:
    """Every table and figure with how much of it exists, and those that are not reproduced."""
    configuration = results.configuration
    rows: list[list[Entry | str]] = []
    for target in results.cells:
        paper, kind, number = target
        if kind == "claims":
            continue
        title = reports.title(configuration, target).partition(", ")[2]
        address = f"{addresses.paper(paper)}#{addresses.section(kind, number)}"
        rows.append(
            [
                configuration.paper(paper).title,
                Entry(papers.label(kind, number), link=address, look="label"),
                papers.titled(title),
                results.state(target),
            ]
        )
    for paper in results.papers:
        described = configuration.paper(paper)
        for name, what in described.diagrams.items():
            state = Entry(WORDS if name.startswith("table") else DIAGRAM, look=NOTHING)
            rows.append([described.title, name.capitalize(), papers.titled(what), state])
    columns = ("paper", "report", "title", "results")
    text = "How many of the results of each table and figure exist at this scale."
    return Section("reports", "Tables and figures", text, columns=columns, rows=rows)
