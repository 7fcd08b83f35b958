"""The report in a real browser: no errors, no requests, and what a reader does with it."""

from collections.abc import Iterator
from pathlib import Path

import made_up_run as made_up
import pytest

from nat.report import site
from tests.chromium import Browser, needs_chromium
from tests.made_up_run import CORPUS, PAPER
from tests.report.test_report import CLAIMS, configuration, prepare, write_record

pytestmark = [needs_chromium, pytest.mark.timeout(900)]
TABLE, SYSTEM = "papers/paper.html", f"systems/{CORPUS}/nat-kd.html"
ROWS = """[...document.querySelectorAll("#table-1-rows tbody tr")]"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with a table, a figure, a claim, and learning curves."""
    root = prepare(tmp_path_factory.mktemp("report"))
    made_up.run(root, "cmlm-kd", "mask-predict-1-lb5", 0.2)
    found = configuration(root, claims=CLAIMS)
    write_record(found, "nat-kd", dropout=0.45)
    site.write(found, root / "report")
    return root / "report"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)], ids=["desktop", "phone"])
def test_pages_open_without_errors_or_requests(
    folder: Path, browser: Browser, width: int, dark: bool
) -> None:
    for page in ("index.html", TABLE, "systems/index.html", SYSTEM):
        browser.open(folder / page, width=width, dark=dark)
        assert browser.problems == [], page
        # tables scroll in their frames, pages do not
        assert browser.run("document.documentElement.scrollWidth") <= width, page
        background = browser.run("getComputedStyle(document.body).backgroundColor")
        assert (background != "rgb(255, 255, 255)") == dark
    browser.wait_for("[...document.images].every((image) => image.naturalWidth > 100)")


SMUGGLE = """
violated = [];
document.addEventListener("securitypolicyviolation", (event) => violated.push(event.blockedURI));
document.body.insertAdjacentHTML("beforeend", `
<img src="https://example.org/a.png"><img src="data:," onerror="window.smuggled = true">
<iframe src="https://example.org/"></iframe><link rel="stylesheet" href="https://example.org/a.css">
`);
for (const [key, value] of [["text", "window.smuggled = true"], ["src", "https://example.org/a.js"]])
  document.body.append(Object.assign(document.createElement("script"), {[key]: value}));
fetch("https://example.org/").catch(() => {});
"""


def test_what_is_smuggled_into_a_page_neither_runs_nor_reaches_a_network(
    folder: Path, browser: Browser
) -> None:
    for page in ("index.html", TABLE, "sentences.html"):
        browser.open(folder / page)
        assert browser.problems == [], page
        browser.run(SMUGGLE)
        browser.wait_for("violated.length === 7")
        assert browser.run("violated.filter((each) => each === 'inline').length") == 2
        assert not browser.run("window.smuggled")
        browser.problems.clear()  # what was refused


def test_headings_sort_by_number(folder: Path, browser: Browser) -> None:
    browser.open(folder / TABLE)
    heading = "document.querySelectorAll('#table-1-rows thead th')[1]"
    ours = f"{ROWS}.map((row) => parseFloat(row.cells[1].textContent)).filter(isFinite)"
    for order, sign in (("ascending", 1), ("descending", -1)):
        browser.run(f"{heading}.querySelector('button').click()")
        assert browser.run(f"{heading}.getAttribute('aria-sort')") == order
        found = browser.run(ours)
        assert len(found) == 2 and found == sorted(found, key=lambda value: sign * value)
        # the quoted row, which has no number of ours, stays last
        assert "quoted" in browser.run(f"{ROWS}.at(-1).textContent")


def test_a_reader_chooses_the_learning_curves_of_a_chart(folder: Path, browser: Browser) -> None:
    browser.open(folder / "systems/index.html")
    drawn = (
        "[...document.querySelectorAll('polyline:not([hidden])')].map((each) => each.textContent)"
    )
    assert browser.run(drawn) == ["nat-kd, seed 1"]
    browser.run("document.querySelector('figure input').click()")
    assert browser.run(drawn) == [] and browser.problems == []


def test_a_command_is_selected_and_copied_by_a_button(folder: Path, browser: Browser) -> None:
    browser.open(folder / TABLE)
    button = "document.querySelector('#content code + button')"
    browser.run(f"{button}.click()")
    browser.wait_for(f"['copied', 'selected'].includes({button}.textContent)")
    assert browser.problems == []
    assert browser.run("getSelection().toString()") == "snakemake paper --config scale=demo"


def test_search_filters_rows(folder: Path, browser: Browser) -> None:
    browser.open(folder / TABLE)
    shown = f"{ROWS}.filter((row) => !row.hidden).map((row) => row.cells[0].textContent)"
    assert len(browser.run(shown)) == 3
    for key in "/glat":
        browser.press(key)
    assert browser.run(shown) == []
    assert browser.run("document.querySelector('output').value").startswith("1 of ")


def test_a_number_says_where_it_comes_from_by_keyboard(folder: Path, browser: Browser) -> None:
    browser.open(folder / TABLE)
    assert "older configuration" in browser.run("document.querySelector('td.older').textContent")
    browser.run("document.querySelector('#table-1-rows button[popovertarget]').focus()")
    browser.press("Enter")
    text = browser.run("document.querySelector(':popover-open').textContent")
    assert f"scores/{CORPUS}/nat-kd/seed1/one-pass/test.json" in text
    assert "recipe.dropout: 0.45 is now" in text
    browser.press("Escape")
    assert browser.run("document.querySelector(':popover-open')") is None
    assert browser.run("document.activeElement.closest('table').id") == "table-1-rows"


def test_pages_of_a_paper_without_results_open(tmp_path: Path, browser: Browser) -> None:
    made_up.write_corpus(tmp_path)
    site.write(made_up.configuration(tmp_path, {"paper": PAPER}), tmp_path / "report")
    for page in ("index.html", TABLE):
        browser.open(tmp_path / "report" / page)
        assert browser.problems == []
        assert "not run" in browser.run("document.body.textContent")
