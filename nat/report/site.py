"""The report of a run: a folder of pages that opens from disk, without a network.

`write` makes it from whatever exists. A page is a template of `templates/` with its content; the
modules `overview`, `papers`, `systems` and `sentences` yield them.
"""

import shutil
from pathlib import Path

import jinja2

from nat.configuration import Configuration
from nat.files import atomic_directory
from nat.papers.reports import snakemake
from nat.report import overview, papers, sentences, systems
from nat.report.page import OVERVIEW, SENTENCES, SYSTEMS, of_paper, ticks
from nat.report.results import Results

ASSETS = ("report.css", "report.js", "sentences.js")
TEMPLATES = Path(__file__).parent / "templates"


def write(configuration: Configuration, folder: Path) -> None:
    """Make the report of a run in place of the one before; damaged results are UserErrors."""
    results = Results(configuration)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    navigation = {OVERVIEW: "Results", SENTENCES: "Sentences", SYSTEMS: "Systems"}
    for paper in results.papers:
        navigation[of_paper(paper)] = configuration.paper(paper).title
    with atomic_directory(folder) as temporary:
        of_papers = {
            paper: papers.page(results, paper, temporary) for paper in configuration.files["papers"]
        }
        pages = [overview.page(results, of_papers), sentences.page(results, temporary)]
        pages += [*of_papers.values(), *systems.pages(results)]
        for page in pages:
            text = environment.get_template(page.template).render(
                page=page,
                root="../" * page.path.count("/"),
                navigation=navigation,
                run=configuration.run,
                made_by=snakemake(configuration, "report"),
                ticks=ticks,
                **page.content,
            )
            path = temporary / page.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        (temporary / "assets").mkdir()
        for name in ASSETS:
            shutil.copyfile(TEMPLATES / name, temporary / "assets" / name)
