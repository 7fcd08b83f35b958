"""The pages in docs/ say what the files say."""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from nat.papers import reports
from tests.repository import ROOT, configured


@pytest.mark.parametrize(
    "file",
    ["nat/inputs/fixed_mask.py", "config/systems/cmlm-fixed-kd.yaml"],
)
def test_the_page_on_methods_shows_the_files_as_they_are(file: str) -> None:
    page = (ROOT / "docs/adding-a-method.md").read_text(encoding="utf-8")
    language = {".py": "python", ".yaml": "yaml"}[Path(file).suffix]
    code = (ROOT / file).read_text(encoding="utf-8")
    assert f"`{file}`:\n\n```{language}\n{code}```\n" in page


def test_the_table_that_the_page_on_methods_adds_compares_systems_that_differ_in_the_input() -> (
    None
):
    page = (ROOT / "docs/adding-a-method.md").read_text(encoding="utf-8")
    paper = yaml.safe_load("title: Masking" + page.split("title: Masking")[1].split("```")[0])
    demo = configured("demo")
    found = replace(demo, files={**demo.files, "papers": {"masking": paper}})
    table = reports.Report("demo", "masking", "table", "1")
    shown = {cell.system for cell in reports.cells(found, table)}
    uniform, fixed = (found.system(each) for each in sorted(shown, reverse=True))
    assert fixed.input != uniform.input
    but = {"input": None, "description": ""}
    assert fixed.model_copy(update=but) == uniform.model_copy(update=but)


def test_the_page_on_sweeps_names_the_programs_that_have_no_scale() -> None:
    page = (ROOT / "docs/sweeps.md").read_text(encoding="utf-8")
    listed = page.split("programs that do not depend on them:")[1].split(".\n\n")[0]
    without = {
        program.name
        for program in ROOT.glob("workflow_scripts/*.py")
        if not re.search(r"configuration_arguments|run_job", program.read_text("utf-8"))
    }
    assert set(re.findall(r"\w+\.py", listed)) == without


def test_make_help_names_the_variables_that_can_be_set() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    shown = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    variables = re.findall(r"^(\w+) \?=", text, re.MULTILINE)
    assert variables
    for variable in set(variables) - {"SLURM_PROGRAMS"}:
        assert f"{variable}=" in shown.stdout


PAGES = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/*.md"))]


def parsed(page: Path) -> Iterator[Token]:
    """The headings and the contents of texts of a page."""
    yield from MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """What links can name in a page, as GitHub makes it of the headings."""
    tokens = list(parsed(page))
    headings = [
        inline.content.replace("`", "")
        for opening, inline in pairwise(tokens)
        if opening.type == "heading_open"
    ]
    return {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = [
        str(child.attrs.get("href", child.attrs.get("src")))
        for token in parsed(page)
        for child in token.children or ()
        if child.type in ("link_open", "image")
    ]
    broken = []
    for link in links:
        path, _, anchor = link.partition("#")
        if "://" in path:
            continue
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert links and broken == []


RULES = [ROOT / "Snakefile", *ROOT.glob("rules/*.smk")]
"""Whose comments snakefmt does not look at."""


@pytest.mark.parametrize("page", [*PAGES, *RULES], ids=lambda page: page.name)
def test_lines_are_wrapped_at_100_columns(page: Path) -> None:
    in_code, too_long = False, []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        # a link or an inline code that fills the line cannot be broken
        elif not in_code and not line.startswith(("|", "![", "[")) and len(line) > 100:
            too_long.append(number)
    assert not in_code and too_long == []
