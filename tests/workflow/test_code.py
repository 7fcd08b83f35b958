"""Which changes of the code make a report again."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from nat.workflow import code

FIGURES, TABLES, CLAIMS, SITE = REPORTS = (
    *("nat.figures.figures", "nat.papers.tables", "nat.papers.claim_formats", "nat.report.site"),
)


def fingerprints() -> dict[str, str]:
    for cached in (code.code_of, code._parsed, code._code, code._imported):
        cached.cache_clear()
    return {module: code.code_of(module) for module in REPORTS}


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, dict[str, str]]]:
    """A copy of nat/ whose code is looked at, and the fingerprints of its reports."""
    folder = tmp_path_factory.mktemp("code") / "nat"
    shutil.copytree(code.NAT, folder, ignore=shutil.ignore_patterns("__pycache__"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(code, "NAT", folder)
        yield folder, fingerprints()
    fingerprints()


def test_every_package_of_reports_exists() -> None:
    for package in code.REPORT_PACKAGES:
        assert list((code.NAT / package).glob("*.py")), package


@pytest.mark.parametrize(
    ("file", "added", "made_again"),
    [
        ("measures/significance.py", "ADDED = 1", set(REPORTS)),
        ("papers/published.py", "ADDED = 1", set(REPORTS)),
        ("papers/values.py", "ADDED = 1", set(REPORTS)),
        ("papers/tables.py", "ADDED = 1", {TABLES, CLAIMS, SITE}),
        ("papers/relation.py", "ADDED = 1", {SITE}),  # of others, what it resolves counts
        ("papers/samples.py", "ADDED = 1", {SITE}),
        ("figures/panels.py", "ADDED = 1", {FIGURES, SITE}),
        ("papers/verdicts.py", "ADDED = 1", {CLAIMS, SITE}),
        ("report/templates/report.css", "body {}", {SITE}),
        ("decoding/beams.py", "ADDED = 1", set()),
        ("papers/values.py", '\n\n# why\n"""What is shown."""', set()),
    ],
)
def test_a_report_is_made_again_when_its_own_code_changes(
    copied: tuple[Path, dict[str, str]], file: str, added: str, made_again: set[str]
) -> None:
    folder, before = copied
    written = (folder / file).read_text(encoding="utf-8")
    (folder / file).write_text(f"{written}\n{added}\n", encoding="utf-8")
    after = fingerprints()
    (folder / file).write_text(written, encoding="utf-8")
    assert {module for module in REPORTS if before[module] != after[module]} == made_again
