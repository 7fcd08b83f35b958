"""The tables of the pages are as the files say; a system that has no line yet is no mistake."""

import re
from pathlib import Path

import pytest
from repository import configured

from nat.measures.known import MEASURES
from nat.documentation import BEGIN, PAGES, decodings, row, with_tables

ROOT = Path(__file__).resolve().parents[1]
TEXTS = {name: (ROOT / f"docs/{name}.md").read_text(encoding="utf-8") for name in PAGES}


def test_each_system_on_the_page_is_as_its_file_says() -> None:
    configuration = configured()
    lines = {
        found[1]: line + "\n"
        for line in TEXTS["methods"].splitlines()
        if (found := re.match(r"\| `([^`]+)` \| .* \| `[^`]+\.yaml` \| ", line))
    }
    assert len(lines) > 100
    stale = [name for name, line in lines.items() if line != row(configuration, name)]
    assert stale == [], "run workflow_scripts/write_pages.py"


def test_each_decoding_on_the_page_is_as_its_file_and_its_code_say() -> None:
    table = TEXTS["methods"].partition("## Decodings\n\n")[2].partition("\n\n")[0]
    lines = table.splitlines()
    assert len(lines) > 15
    stale = set(lines) - set(decodings(configured()).splitlines())
    assert stale == set(), "run workflow_scripts/write_pages.py"


@pytest.mark.parametrize("name", ["measures", "configuration"])
def test_the_tables_of_the_page_are_as_the_code_says(name: str) -> None:
    tables = PAGES[name](configured())
    assert TEXTS[name] == with_tables(TEXTS[name], tables), "run workflow_scripts/write_pages.py"


def test_every_measure_is_on_the_page_by_its_name_or_by_the_first_and_last_of_its_family() -> None:
    table = PAGES["measures"](configured())
    keys = [line.split(" | ")[0].removeprefix("| ") for line in table.splitlines()[2:]]
    assert len(keys) == len(set(keys))
    for name in MEASURES:
        family = re.sub(r"\d[\d.]*", r"[\\d.]+", re.escape(name).replace(r"\.", "."))
        assert any(f"`{name}`" in key or re.search(rf"`{family}` … ", key) for key in keys), name
    assert "| `length_accuracy_1`, `length_accuracy_3`, `length_accuracy_5` |" in table
    assert (
        "| `latent_component_1` … `latent_component_8` | share of the variance, component 1…8"
        in table
    )
    assert "H(Y\\|X)" in table


def test_every_key_of_a_recipe_has_a_meaning() -> None:
    rows = [line.split(" | ") for line in PAGES["configuration"](configured()).splitlines()]
    cells = {row[0].removeprefix("| "): row[1] for row in rows if len(row) == 3}
    assert {"`clip_norm`", "`average.by`", "`decoding_tokens`", "`heads`"} < cells.keys()
    assert [key for key, meaning in cells.items() if not meaning] == []


@pytest.mark.parametrize("name", PAGES)
def test_writing_the_page_keeps_its_text_and_shows_every_system(name: str) -> None:
    configuration = configured()
    tables = PAGES[name](configuration)
    once = with_tables(TEXTS[name], tables)
    assert with_tables(once, tables) == once
    assert TEXTS[name].count(BEGIN) == 1
    assert once.startswith(TEXTS[name].partition("<!--")[0])
    assert once.endswith(TEXTS[name].rpartition("-->")[2])
    if name == "methods":
        assert all(row(configuration, each) in once for each in configuration.systems)
