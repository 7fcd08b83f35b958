"""The report of a run: a folder of pages that opens from disk, without a network.

`write` makes it from whatever exists. A page is a template of `templates/` with its content; the
modules `overview`, `papers`, `systems` and `sentences` yield them.
"""

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

import jinja2
import vl_convert

from nat.checksums import is_intact
from nat.configuration import Configuration
from nat.files import atomic_directory
from nat.papers.reports import snakemake
from nat.report import addresses, overview, papers, sentences, systems
from nat.report.page import Page
from nat.report.results import Results

HEADING = "NAT, reproduced"
ASSETS = ("report.css", "report.js", "theme.js", "sentences.css", "sentences.js")
TEMPLATES = Path(__file__).parent / "templates"
CHARTS = f"vega-{version('vl-convert-python')}.js"
"""The libraries that draw charts, by the version of the package that bundles them."""


@dataclass(frozen=True)
class Link:
    """An entry of the navigation; entries of a group follow each other below its name."""

    path: str
    label: str
    group: str = ""


@dataclass
class Site:
    """A folder that pages are written to.

    Attributes:
        configuration: of the run.
        folder: of the report.
        navigation: what stands at the head of each page.
    """

    configuration: Configuration
    folder: Path
    navigation: list[Link]
    _environment: jinja2.Environment = field(init=False)

    def __post_init__(self) -> None:
        self._environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(TEMPLATES),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )

    def add(self, page: Page) -> None:
        """Write a page."""
        template = self._environment.get_template(page.template)
        text = template.render(
            title=page.title,
            path=page.path,
            root="../" * page.path.count("/"),
            heading=HEADING,
            navigation=self.navigation,
            run=self.configuration.run,
            charts=CHARTS,
            made_by=snakemake(self.configuration, "report"),
            **page.content,
        )
        target = self.folder / page.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def write(configuration: Configuration, folder: Path) -> None:
    """Make the report of a run; it takes the place of the one before.

    Args:
        configuration: of the run, whose results lie below its root.
        folder: to make.

    Raises:
        UserError: for damaged results.
    """
    results = Results(configuration)
    with atomic_directory(folder) as temporary:
        site = Site(configuration, temporary, _navigation(results))
        _write_assets(temporary / "assets", before=folder / "assets")
        for page in _pages(results, temporary):
            site.add(page)


def _navigation(results: Results) -> list[Link]:
    def links(papers: Iterable[str], group: str = "") -> list[Link]:
        titles = {name: results.configuration.paper(name).title for name in papers}
        return [Link(addresses.paper(name), title, group) for name, title in titles.items()]

    return [
        Link(addresses.OVERVIEW, "All papers"),
        Link(addresses.SENTENCES, "Sentences"),
        Link(addresses.SYSTEMS, "Systems"),
        *links(results.papers),
        *links(results.others, overview.BEYOND),
    ]


def _pages(results: Results, folder: Path) -> Iterator[Page]:
    yield overview.page(results)
    for paper in results.configuration.papers:
        yield papers.page(results, paper, folder)
    yield from systems.pages(results)
    yield sentences.page(results, folder)


def _write_assets(folder: Path, before: Path) -> None:
    """Style, scripts, and the libraries that draw charts; bundling these takes some seconds."""
    folder.mkdir()
    for name in ASSETS:
        shutil.copyfile(TEMPLATES / name, folder / name)
    if (before / CHARTS).exists() and is_intact(before / CHARTS):
        shutil.copyfile(before / CHARTS, folder / CHARTS)
    else:
        bundle = vl_convert.javascript_bundle()  # type: ignore[call-arg]
        (folder / CHARTS).write_text(bundle, encoding="utf-8")
