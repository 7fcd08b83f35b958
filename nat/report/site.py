"""The report of a run: a folder of pages that opens from disk, without a network.

`write` makes it from whatever exists. A page is a template of `templates/` with its content; the
modules `overview`, `papers`, `systems` and `sentences` yield them.
"""

import shutil
from collections.abc import Iterable
from pathlib import Path

import jinja2

from nat.configuration import Configuration
from nat.files import atomic_directory
from nat.papers.reports import snakemake
from nat.report import overview, papers, sentences, systems
from nat.report.page import OVERVIEW, SENTENCES, SYSTEMS, Page, of_paper, root_of
from nat.report.results import Results

ASSETS = ("report.css", "report.js", "sentences.js")
TEMPLATES = Path(__file__).parent / "templates"


def write(configuration: Configuration, folder: Path) -> None:
    """Make the report of a run; it takes the place of the one before.

    Raises:
        UserError: for damaged results.
    """
    results = Results(configuration)
    with atomic_directory(folder) as temporary:
        pages = [overview.page(results), sentences.page(results, temporary)]
        pages += [papers.page(results, paper, temporary) for paper in configuration.papers]
        pages += systems.pages(results, temporary)
        write_pages(results, temporary, pages)


def write_pages(results: Results, folder: Path, pages: Iterable[Page]) -> None:
    """Write pages into a folder, and the style sheet and scripts that they share."""
    (folder / "assets").mkdir(parents=True)
    for name in ASSETS:
        shutil.copyfile(TEMPLATES / name, folder / "assets" / name)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    configuration = results.configuration
    navigation = {OVERVIEW: "All papers", SENTENCES: "Sentences", SYSTEMS: "Systems"}
    for paper in (*results.papers, *results.others):
        navigation[of_paper(paper)] = configuration.paper(paper).title
    for page in pages:
        text = environment.get_template(page.template).render(
            page=page,
            root=root_of(page.path),
            navigation=navigation,
            run=configuration.run,
            made_by=snakemake(configuration, "report"),
            **page.content,
        )
        target = folder / page.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
