"""The pages of a run, made from whatever exists."""

import json
import os
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import made_up_run as made_up
import pytest
from made_up_run import CORPUS, PAPER, REPOSITORY, run, write_corpus, write_latencies
from repository import configured
from test_sentences import called

from nat.configuration import Configuration, load
from nat.figures import figures
from nat.files import read_json, write_json
from nat.measures.results import read
from nat.papers import claim_formats, reports, table_formats
from nat.papers.conflicts import Conflict
from nat.papers.verdicts import FAILS, HOLDS
from nat.report import ancestors, overview, papers, scale, site, systems
from nat.report.results import COMPLETE, NOTHING, PART, Results
from tests.messages import must_name

HOSTILE = "<script>alert(1)</script>"
TABLE, FIGURE = PAPER["tables"]["1"], PAPER["figures"]["2"]
CLAIM = {"claim": "DiMS is better than the NAT.", "from": "abstract", "in": "table 1"}
CLAIM |= {"task": made_up.TASK, "compare": "DiMS > NAT"}
OTHER_CLAIM = {
    **CLAIM,
    "claim": "DiMS is better than GLAT.",
    "compare": "DiMS > quoted",
}
CLAIMS = {"better": CLAIM, "state-of-the-art": OTHER_CLAIM}
NAT, DIMS = ("nat-kd", "one-pass"), ("dims-cmlm-kd", "mask-predict-1-lb5")
SCORE = f"results/demo/scores/{CORPUS}/nat-kd/seed1/one-pass/test.json"
TRANSLATIONS = SCORE.replace("scores", "translations") + "l"
OF_PAPER, OF_NAT = "papers/paper.html", f"systems/{CORPUS}/nat-kd.html"


@pytest.fixture(autouse=True, scope="module")
def no_bundle() -> Iterator[None]:
    """Without the libraries that draw charts, whose bundling takes seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site.vl_convert, "javascript_bundle", lambda: "// no charts")
        yield


def prepare(root: Path) -> Path:
    """Of the systems of the paper two were run, NAT and DiMS; the CMLM was not."""
    write_corpus(root)
    for names, errors in ((NAT, 0.4), (DIMS, 0.1)):
        summary = str(run(root, *names, errors)).replace("/scores/", "/translations/")
        write_json(summary, {"mean_steps": 1.0})
    made_up.publish(root)
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return prepare(tmp_path)


def configuration(root: Path, **paper: Any) -> Configuration:
    return made_up.configuration(root, {"paper": PAPER | paper})


def write(found: Configuration) -> Path:
    """Make the report; returns its folder."""
    folder = Path(found.root) / "results/demo/report"
    site.write(found, folder)
    return folder


def write_record(found: Configuration, system: str, **changed: Any) -> Path:
    """The record of a training; some keys of the recipe may have had other values."""
    training = found.training(CORPUS, system).as_json()
    training["recipe"] |= changed
    facts = {"training": training, "fingerprint": "None", "updates": 7, "seconds": 90.0}
    facts |= {"validation": {"metric": "bleu", "best": 30.5}}
    return made_up.write_training(Path(found.root), system, [(7, 30.5)], **facts)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report to look at, with claims, a training and a hostile name."""
    found = configuration(
        prepare(tmp_path_factory.mktemp("written")),
        claims=CLAIMS,
        description=HOSTILE,
        diagrams={"figure 1": "how it works"},
    )
    made_up.collapse(Path(found.root) / SCORE)
    for system in ("nat-kd", "dims-cmlm-kd"):
        write_record(found, system)
    return write(found)


class Page(HTMLParser):
    """What a page links to and shows."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.identifiers: list[str] = []
        self.alternatives: list[str | None] = []
        self.source = path.read_text(encoding="utf-8")
        self.feed(self.source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.links += [value for key in ("href", "src") if (value := given.get(key))]
        self.identifiers += [value for key, value in attrs if key == "id" and value]
        self.alternatives += [given.get("alt")] if tag == "img" else []

    def text(self, identifier: str = "") -> str:
        """Its text without tags, from an identifier on."""
        found = self.source
        found = found[found.index(f'id="{identifier}"') :] if identifier else found
        return " ".join(re.sub(r"<[^>]+>", " ", found).split())

    def script(self, name: str) -> Any:
        """The data of a script."""
        match = re.search(rf'{name}">(.*?)</script>', self.source, re.DOTALL)
        assert match
        return json.loads(match[1])

    def details(self) -> dict[str, list[list[Any]]]:
        """What it says of its numbers, the shared lines included."""
        found = self.script('id="numbers')
        return {
            number["title"]: number["lines"]
            + [line for at in number["shared"] for line in found["shared"][at]]
            for number in found["numbers"]
        }


# What pages show


def test_every_link_leads_to_a_file_of_the_folder(written: Path) -> None:
    pages = {path: Page(path) for path in sorted(written.rglob("*.html"))}
    assert len(pages) > 5
    chosen = []
    for path, page in pages.items():
        assert len(set(page.identifiers)) == len(page.identifiers), path
        for link in page.links:
            file, _, place = link.partition("#")
            target = (path.parent / file).resolve() if file else path
            if link.startswith("data:"):
                continue
            assert target.is_relative_to(written.resolve()) and target.exists(), (path, link)
            if "=" in place:
                assert target == written / "sentences.html"
                chosen.append(parse_qs(place))
            else:
                assert not place or place in pages[target].identifiers, (path, link)
        assert all(page.alternatives)
        assert not re.search(r"(src|href)=.https?:", page.source)
    data = called(written / f"sentences/{CORPUS}.test.js")
    names = [f"{each['system']}/{each['decoding']}" for each in data["systems"]]
    assert len(names) == len(chosen) == 2
    for each in chosen:
        assert each == {"test-set": [f"{CORPUS}/test"], "b": each["b"]} and each["b"][0] in names


NOT_COMPARABLE = f"the published value is not comparable: corpus {CORPUS} at scale demo"


@pytest.mark.parametrize(
    ("page", "place", "said"),
    [
        ("index.html", "", "claims: 1 holds, 1 cannot be judged here"),
        ("index.html", "", "trainings: 2 of 3, 0.05 device hours"),
        ("index.html", "board", f"DiMS is better than GLAT. Paper, on {CORPUS} {NOT_COMPARABLE}"),
        ("index.html", "experiments-rows", "Figure 1 How it works a diagram, not reproduced"),
        (OF_PAPER, "", "snakemake paper_figure_2 --config scale=demo"),
        (OF_PAPER, "", "Not run. It is made by"),
        (OF_PAPER, "table-1", "NAT (En-De): few distinct translations: 1 for"),
        (OF_PAPER, "claims-table", f"DiMS is better than the NAT. (abstract) {CORPUS} ✓ holds"),
        (OF_PAPER, "claims-table", NOT_COMPARABLE),
        (OF_NAT, "", "30.50 best validation BLEU"),
        (f"systems/{CORPUS}/dims-cmlm-kd.html", "", systems.WITH_TEACHER),
    ],
)
def test_what_pages_say(written: Path, page: str, place: str, said: str) -> None:
    assert said in Page(written / page).text(place)
    assert systems.WITH_TEACHER not in Page(written / OF_NAT).text()
    assert not (written / "downloads/paper/figure_2.png").exists()  # no point of it was run


def test_numbers_have_intervals_and_published_values(written: Path) -> None:
    found = read(written.parents[2] / SCORE, "test")["sacrebleu"]
    ends = f"{found.low:.1f}, {found.high:.1f}"
    source = Page(written / OF_PAPER).source
    assert f"{found.value:.2f}" in source and f"[{ends}]" in source
    assert "20.5<" in source and "20.50" not in source
    ends = ends.replace(" ", "\N{NO-BREAK SPACE}")
    assert f"<td>{found.value:.2f} [{ends}]</td>" in Page(written / OF_NAT).source


def test_intervals_stand_below_the_numbers_of_every_column(root: Path) -> None:
    first, *others = TABLE["columns"]
    noted = {"row": "NAT", "column": first["label"], "text": "a note"}
    columns = [{**first, "interval": True}, *others]
    made_up.publish(root, made_up.HEADER)
    found = configuration(root, tables={"1": TABLE | {"columns": columns, "footnotes": [noted]}})
    ours = read(root / SCORE, "test")["sacrebleu"]
    interval = re.escape(f"[{ours.low:.1f}, {ours.high:.1f}]")
    source = Page(write(found) / OF_PAPER).source
    assert re.search(rf">{ours.value:.2f}¹</button><small>{interval}<", source)


def test_texts_are_not_taken_for_html(written: Path) -> None:
    assert not any(HOSTILE in path.read_text() for path in written.rglob("*.html"))
    assert "&lt;script&gt;alert(1)" in Page(written / OF_PAPER).source


def test_samples_have_the_direction_of_their_words(written: Path) -> None:
    (row, *_) = re.findall(r"<tr>(<td.*?)</tr>", Page(written / OF_NAT).source.split("Samples<")[1])
    assert row.count('<td dir="auto">') == row.count("<td") == 3


def test_a_number_leads_back_to_its_files_model_and_command(written: Path) -> None:
    lines = Page(written / OF_PAPER).details()["NAT, En-De"]
    said = {term: text for term, text, *_ in lines}
    assert (said["file"], said["translations"]) == (SCORE, TRANSLATIONS)
    assert said["made again by"] == (
        f"rm -f {TRANSLATIONS} && snakemake {SCORE} --forcerun {SCORE} --config scale=demo"
    )
    assert said["trained"].startswith("7 updates, 1.5 min") and said["remark"].startswith("few")
    assert json.loads(said["decoding"].partition(": ")[2])["method"] == "one_pass"
    assert [address for _, _, address, _ in lines if address] == [f"../{OF_NAT}"]


@pytest.mark.parametrize("settings", [("", "cpu-1", "thread-8"), ("cpu-1", "thread-8", "")])
def test_latencies_stand_with_their_setting_and_their_job(
    root: Path, settings: tuple[str, ...]
) -> None:
    quality = TABLE["columns"][0] | {"label": "quality"}
    latency = {"task": made_up.TASK, "measure": "latency"}
    columns = [latency | {"label": each, "setting": each} if each else quality for each in settings]
    (root / "config/published/paper.csv").unlink()
    another = {"label": "CMLM", "system": "cmlm-kd", "decoding": "mask-predict-1-lb5"}
    one = {**TABLE, "columns": columns}
    two = {**one, "rows": [TABLE["rows"][0], another]}
    found = configuration(root, tables={"1": one, "2": two}, figures={})
    for number, repeats in (("1", 5.0), ("2", 9.0)):  # as if on two machines
        cells = [each for each in reports.cells(found, ("paper", "table", number)) if each.setting]
        write_latencies(root, {cell: [repeats] * 5 for cell in cells})
    folder = write(found)
    page = Page(folder / OF_PAPER)
    must_name(page.text(), "of sacreBLEU: 95% bootstrap interval", "of latency: quartiles")
    for title, lines in page.details().items():
        told_of = [text.split(":")[0] for term, text, *_ in lines if term == "latency"]
        assert told_of == [each for each in settings if each and title.endswith(f", {each}")]
    points = Page(folder / "index.html").script('data-chart="quality')["data"]["values"]
    timed = {(p["system"], p["time"], p["timed in"]) for p in points if p["setting"] == "cpu-1"}
    assert timed == {(system, 5.0, "paper_table_1") for system in ("nat-kd", "dims-cmlm-kd")}


# States


def test_states_count_the_results_that_exist(root: Path) -> None:
    def states() -> dict[Any, Any]:
        return {target[1:]: state for target, state in Results(configuration(root)).states.items()}

    kinds = {target: state.kind for target, state in states().items()}
    assert kinds == {("table", "1"): COMPLETE, ("figure", "2"): NOTHING}
    run(root, "cmlm-kd", "mask-predict-1-lb5", 0.2)
    figure = states()["figure", "2"]
    assert (figure.kind, figure.text) == (PART, "1 of 2")
    # a figure is drawn from the points that exist
    folder = write(configuration(root))
    assert (folder / "downloads/paper/figure_2.png").stat().st_size > 1000
    assert "CMLM: 1: " in str(Page(folder / OF_PAPER).alternatives[0])


def test_another_scale_is_read_only_where_it_has_results(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, asked = configuration(root), []

    def note(chosen: Any, **_: Any) -> Configuration:
        asked.append(chosen.scale)
        return found

    monkeypatch.setattr("nat.report.overview.load", note)
    (root / "results/small").mkdir()
    write(found)
    assert asked == ["small"]


# Older configurations


@pytest.mark.parametrize(("recorded", "shown"), [({}, False), ({"dropout": 0.45}, True)])
def test_numbers_of_an_older_configuration_are_marked(
    root: Path, recorded: dict[str, Any], shown: bool
) -> None:
    found = configuration(root)
    write_record(found, "nat-kd", **recorded)
    folder = write(found)
    assert ("older configuration" in Page(folder / OF_PAPER).source) == shown
    assert ("recipe.dropout: 0.45 is now" in Page(folder / OF_NAT).source) == shown


def test_differences_from_an_older_configuration_are_marked(root: Path) -> None:
    made_up.publish(root, made_up.ONE_COLUMN)
    gain = {"label": "gain", "task": made_up.TASK, "over": "NAT", "ours_only": True}
    more = {"label": "more", "derived": {"difference": ["DiMS", "NAT"]}, "ours_only": True}
    table = {**TABLE, "columns": [TABLE["columns"][0], gain], "rows": [*TABLE["rows"], more]}
    found = configuration(root, tables={"1": table})
    write_record(found, "dims-cmlm-kd")
    write_record(found, "nat-kd", dropout=0.45)
    rows = {}
    for row in Page(write(found) / OF_PAPER).source.split("<tr>"):
        if label := re.search(r"<th[^>]*>\s*(DiMS|more|NAT)", row):
            rows[label[1]] = row.count("<small>older configuration</small>")
    assert rows == {"NAT": 2, "DiMS": 1, "more": 2}


def test_numbers_that_rest_on_an_older_model_are_marked_too(root: Path) -> None:
    found = configuration(root)
    write_record(found, "dims-cmlm-kd")
    assert Results(found).changes(CORPUS, "dims-cmlm-kd", 1) == []
    write_record(found, "cmlm-kd", dropout=0.45)
    (line,) = Results(found).changes(CORPUS, "dims-cmlm-kd", 1)
    must_name(line, "cmlm-kd", "recipe.dropout", 0.45)


def test_translations_of_an_earlier_model_are_marked(root: Path) -> None:
    found = configuration(root)
    path, score = write_record(found, "nat-kd"), root / SCORE
    cell = next(
        each for each in reports.cells(found, ("paper", "table", "1")) if each.path == SCORE
    )
    write_json(score, read_json(score) | {"model": {"fingerprint": "None"}})
    assert Results(found).older([cell]) == []
    write_json(path, read_json(path) | {"fingerprint": "another"})
    (line,) = Results(found).older([cell])
    assert "earlier training" in line


# What jobs made


def make(found: Configuration, *kinds: str) -> dict[str, Path]:
    """Let jobs make the table, the figure or the judged claims of the paper."""
    numbers = {"table": "1", "figure": "2", "claims": ""}
    paths = {}
    for kind in kinds:
        target: Any = ("paper", kind, numbers[kind])
        paths[kind] = path = Path(found.root) / reports.report(found, target).path
        path.parent.mkdir(parents=True, exist_ok=True)
        results = Results(found)
        if kind == "table":
            table_formats.write(results.table("paper", "1"), path)
        elif kind == "figure":
            figures.write(results.plot("paper", "2"), path)
        else:
            claim_formats.write(found, "paper", results.judged("paper"), path)
    return paths


def test_a_table_of_a_job_is_read_back_until_a_result_changes(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = configuration(root)
    made, csv = reports.make_table(found, "paper", "1"), make(found, "table")["table"]

    def refuse(*_: Any) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr(reports, "make_table", refuse)
    assert Results(found).table("paper", "1").rows == made.rows
    later = csv.stat().st_mtime + 10
    os.utime(root / SCORE, (later, later))
    with pytest.raises(AssertionError, match="computed again"):
        Results(found).table("paper", "1")


@pytest.mark.parametrize(("published", "label"), [("21.7", "DiMS"), ("20.5", "ours")])
def test_what_no_longer_fits_the_configuration_is_made_anew(
    root: Path, published: str, label: str
) -> None:
    before = configuration(root, claims={"it": CLAIM})
    make(before, "table", "claims")
    assert Results(before).judged("paper")[0]["verdict"] == HOLDS
    made_up.publish(root, made_up.PUBLISHED.replace("20.5", published))
    renamed = {**TABLE, "rows": [TABLE["rows"][0], {**TABLE["rows"][1], "label": label}]}
    claim = {**CLAIM, "compare": f"{label} > NAT + 99"}
    after = Results(configuration(root, tables={"1": renamed}, claims={"it": claim}))
    assert after.judged("paper")[0]["verdict"] == FAILS
    table = after.table("paper", "1")
    assert label in [row[0] for row in table.rows]
    assert float(published) in {record["published"] for record in table.records}


SERIES = FIGURE["series"][0]
ELSEWHERE = {"x": 40, "decoding": "mask-predict-4-lb5"}


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        ({}, True),
        ({"title": "other steps"}, False),
        ({"x": {"label": "passes"}}, False),
        ({"series": [{**SERIES, "label": "RENAMED"}]}, False),
        ({"series": [{**SERIES, "points": [SERIES["points"][0], ELSEWHERE]}]}, False),
        (None, False),
    ],
    ids=["nothing", "title", "axis", "label", "point", "result"],
)
def test_a_figure_of_a_job_is_copied_until_what_it_shows_changes(
    root: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any] | None, kept: bool
) -> None:
    for steps, errors in ((1, 0.4), (4, 0.2)):
        run(root, "cmlm-kd", f"mask-predict-{steps}-lb5", errors)
    make(configuration(root), "figure")
    drawn: list[Path] = []
    monkeypatch.setattr(figures, "write", lambda plot, path: drawn.append(path))
    if change is None:
        run(root, "cmlm-kd", "mask-predict-4-lb5", 0.3)
    papers.page(Results(configuration(root, figures={"2": FIGURE | (change or {})})), "paper", root)
    copied = root / "downloads/paper/figure_2.pdf"
    assert (drawn, copied.exists()) == (([], True) if kept else ([copied], False))


def test_the_same_results_give_the_same_pages(root: Path) -> None:
    found = configuration(root, claims=CLAIMS)
    folder = write(found)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    write(found)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_damaged_report_is_made_again(root: Path) -> None:
    folder = write(configuration(root))
    libraries = folder / "assets" / site.CHARTS
    libraries.write_text("// damaged")
    write(configuration(root))
    assert libraries.read_text() == "// no charts"


# Papers, claims and systems


def test_conflicts_stand_on_the_page_of_their_paper(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [Conflict("kind", (name,), f"{name} conflicts") for name in ("paper", "other")]
    monkeypatch.setattr("nat.report.results.conflicts", lambda configuration: found)
    text = Page(write(configuration(root)) / OF_PAPER).source
    assert "<li>paper conflicts</li>" in text and "other conflicts" not in text


def test_claims_are_sorted_by_their_numbers(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nat.papers.claims.are_complete", lambda *_: True)
    worse, more = ({**CLAIM, "compare": f"NAT > {other}"} for other in ("DiMS", 90))
    found = configuration(root, claims=CLAIMS | {"worse": worse, "more": more})
    source = Page(write(found) / OF_PAPER).source
    rows = re.findall(r'<tr id="claim-[^>]*>(.*?)</tr>', source, re.DOTALL)
    records = {record["claim"]: record for record in Results(found).judged("paper")}
    keys = ("ours", "low", "detectable", "in_own_measure", "published")
    for row, record in zip(rows, records.values(), strict=True):
        sorted_by = ["" if record[key] is None else str(record[key]) for key in keys]
        assert re.findall(r'data-sort="([^"]*)"', row) == sorted_by
    assert records["worse"]["in_own_measure"] < 0 and records["more"]["published"] < 0
    assert records["state-of-the-art"]["ours"] is None


@pytest.mark.parametrize(
    ("chosen", "parts"),
    [
        ("demo", ["invented languages", "toy-ka-lu for WMT14 En-De", "a base model is 64 wide"]),
        ("small", ["other corpora", "multi30k-en-de for WMT14 En-De"]),
        ("paper", []),
    ],
)
def test_what_stands_in_for_the_papers_is_told(chosen: str, parts: list[str]) -> None:
    said = scale.stand_ins(configured(chosen))
    must_name(said, *parts)
    assert bool(said) == bool(parts)


def test_papers_stand_before_what_else_is_measured(root: Path) -> None:
    found = made_up.configuration(root, {"a-look": {"title": "A look"}, "paper": PAPER})
    links = [(link.label, link.group) for link in site._navigation(Results(found))][-2:]
    assert links == [("Paper", ""), ("A look", "Beyond the papers")]


def test_stated_settings_stand_beside_those_of_this_run(tmp_path: Path) -> None:
    (tmp_path / "config").symlink_to(REPOSITORY / "config")
    found = load("demo", tmp_path, checked=False)
    place = "toy-ka-lu", "dims-cmlm-kd"
    today = found.training(*place).as_json()
    trained = {**today, "recipe": today["recipe"] | {"dropout": 0.77}}
    path = tmp_path / f"results/demo/models/{'/'.join(place)}/seed1/training.json"
    write_json(path, {"training": trained, "fingerprint": "None", "updates": 7})
    used = {row[2]: row[5] for row in systems._stated(Results(found), {place: [1]})[place]}
    assert (used["dropout"], used["warmup_updates"], used["text"]) == ("0.77", "100", "distilled")


def test_ancestors_are_drawn_oldest_first(root: Path) -> None:
    there = configuration(root).on(CORPUS)
    drawing = ancestors.draw(there, "dims-cmlm-kd", {"cmlm-kd": "cmlm-kd.html"})
    assert "dims-cmlm-kd: text of at-base, starts from cmlm-kd" in drawing.alternative
    assert 'href="cmlm-kd.html"' in drawing.drawing
    found = re.findall(r'<text x="([\d.]+)"[^>]*>([a-z-]+)</text></a>', drawing.drawing)
    places = {name: float(x) for x, name in found}
    assert places["at-base"] < places["cmlm-kd"] < places["dims-cmlm-kd"]


# The plot and the map


def test_the_plot_has_every_point(written: Path) -> None:
    points = Page(written / "index.html").script('data-chart="quality')["data"]["values"]
    found = {(each["system"], each["setting"]) for each in points}
    assert found == {("nat-kd", "decoder passes"), ("dims-cmlm-kd", "decoder passes")}


def test_the_map_shows_the_corpus_that_most_systems_share(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = {("most", "cmlm-kd"): 20.0, ("most", "at-base"): 25.0, ("most", "nat-kd"): 15.0}
    scores = {("few", "cmlm-kd"): 62.0, ("few", "ctc-kd"): 60.0, **most}
    results = Results(configuration(root))
    monkeypatch.setattr(overview.systems, "places", lambda _: dict.fromkeys(scores, [1]))
    found = {place: [{"split": "test", "sacrebleu": bleu}] for place, bleu in scores.items()}
    monkeypatch.setattr(results, "scores", lambda *place: found[place])
    shown = overview._map(results)
    cells = [cell for row in shown["rows"] for cell in row["cells"] if cell]
    listed = {each["name"]: each["number"] for cell in cells for each in cell["systems"]}
    assert shown["corpus"] == "most"
    assert (listed["cmlm-kd"], listed["ctc-kd"]) == ("20.00", "on other corpora")
