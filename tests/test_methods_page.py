"""docs/methods.md shows the systems as they are; one that is not on the page yet is no mistake."""

import re
from pathlib import Path

from nat.configuration import load
from nat.reporting.systems_page import row, with_tables

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs/methods.md").read_text(encoding="utf-8")


def test_each_system_on_the_page_is_as_its_file_says() -> None:
    configuration = load(root=ROOT)
    lines = {
        found[1]: line + "\n"
        for line in PAGE.splitlines()
        if (found := re.match(r"\| `([^`]+)` \| .* \| `[^`]+\.yaml` \| ", line))
    }
    assert len(lines) > 100
    stale = [name for name, line in lines.items() if line != row(configuration, name)]
    assert stale == [], "run workflow_scripts/write_methods_page.py"


def test_writing_the_page_keeps_its_text_and_shows_every_system() -> None:
    configuration = load(root=ROOT)
    once = with_tables(PAGE, configuration)
    assert with_tables(once, configuration) == once
    assert all(row(configuration, name) in once for name in configuration.systems)
    assert once.startswith(PAGE.partition("<!--")[0])
    assert once.endswith(PAGE.rpartition("-->")[2])
