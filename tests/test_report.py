"""The pages of a run, made from whatever exists."""

import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs

import made_up_run as made_up
import pytest
from made_up_run import CORPUS, PAPER, REPOSITORY, run, write_corpus, write_latencies
from nat.cells.cell import Cell
from nat.claims import claim_reports
from nat.tables import tables
from repository import configured
from test_sentences import called

from nat.artifacts import TrainingRecord
from nat.configuration import Configuration, load
from nat.figures import figures
from nat.files import write_json
from nat.measures.training_curve import with_measures
from nat.papers import reports
from nat.papers.verdicts import FAILS, HOLDS
from nat.report import ancestors, charts, overview, papers, scale, site, systems
from nat.report.results import COMPLETE, NOTHING, PART, Results

HOSTILE = "<script>alert(1)</script>"
CLAIMS = {
    "better": {
        "claim": "DiMS is better than the NAT.",
        "from": "abstract",
        "in": "table 1",
        "task": made_up.TASK,
        "compare": ["DiMS", "above", "NAT"],
    },
    "state-of-the-art": {
        "claim": "DiMS is better than GLAT.",
        "from": "abstract",
        "in": "table 1",
        "task": made_up.TASK,
        "compare": ["DiMS", "above", "quoted"],
    },
}


@pytest.fixture(autouse=True)
def no_bundle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the libraries that draw charts, whose bundling takes seconds."""
    monkeypatch.setattr(site.vl_convert, "javascript_bundle", lambda: "// no charts")


def prepare(root: Path) -> Path:
    """Of the systems of the paper two were run, NAT and DiMS; the CMLM was not."""
    write_corpus(root)
    for names, errors in (
        (("nat-kd", "one-pass"), 0.4),
        (("dims-cmlm-kd", "mask-predict-1-lb5"), 0.1),
    ):
        score = run(root, *names, errors)
        summary = str(score).replace("/scores/", "/translations/")
        write_json(summary, {"mean_steps": 1.0})
    made_up.publish(root)
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return prepare(tmp_path)


def configuration(root: Path, **paper: Any) -> Configuration:
    return made_up.configuration(root, {"paper": PAPER | paper})


def write(root: Path, **paper: Any) -> Path:
    """Make the report; returns its folder."""
    found = configuration(root, **paper)
    folder = root / "results/demo/report"
    site.write(found, folder)
    return folder


def write_record(
    found: Configuration, system: str, changed: dict[str, Any] | None = None, seed: int = 1
) -> Path:
    """The record of a training; `changed` are keys of the recipe that had other values."""
    training = found.training(CORPUS, system).as_json()
    training["recipe"] |= changed or {}
    path = found.root / TrainingRecord("demo", CORPUS, system, seed).path
    record = {"training": training, "fingerprint": "None", "updates": 7, "seconds": 90.0}
    curve = "update,split,loss,bleu\n1,train,2.5,\n7,valid,2.1,30.5\n"
    write_json(path, with_measures(record, curve.splitlines()))
    path.with_suffix(".csv").write_text(curve)
    return path


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report to look at, with a claim, a training and a hostile name."""
    root = prepare(tmp_path_factory.mktemp("written"))
    write_record(configuration(root), "nat-kd")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site.vl_convert, "javascript_bundle", lambda: "// no charts")
        return write(
            root, claims=CLAIMS, description=HOSTILE, diagrams={"figure 1": "how it works"}
        )


class Page(HTMLParser):
    """What a page links to and shows."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.identifiers: list[str] = []
        self.pictures: list[dict[str, str | None]] = []
        self.text = path.read_text(encoding="utf-8")
        self.feed(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.links += [value for key in ("href", "src") if (value := given.get(key))]
        self.identifiers += [value for key, value in attrs if key == "id" and value]
        if tag == "img":
            self.pictures.append(given)


def details(page: Path) -> list[dict[str, Any]]:
    """What a page says of its numbers, the shared lines included."""
    match = re.search(r'id="numbers">(.*?)</script>', page.read_text(), re.DOTALL)
    assert match
    found = json.loads(match[1])
    return [
        {
            "title": number["title"],
            "lines": [
                *number["lines"],
                *(line for at in number["shared"] for line in found["shared"][at]),
            ],
        }
        for number in found["numbers"]
    ]


def test_every_link_leads_to_a_file_of_the_folder(written: Path) -> None:
    pages = sorted(written.rglob("*.html"))
    assert len(pages) > 5
    identifiers = {path: Page(path).identifiers for path in pages}
    choices = []
    for path in pages:
        page = Page(path)
        assert len(set(page.identifiers)) == len(page.identifiers), path
        for link in page.links:
            if link.startswith("data:"):
                continue
            file, _, place = link.partition("#")
            target = (path.parent / file).resolve() if file else path
            assert target.is_relative_to(written.resolve()), (path, link)
            assert target.exists(), (path, link)
            if "=" in place:
                choices.append((target, parse_qs(place)))
            else:
                assert not place or place in identifiers[target], (path, link)
        assert all(picture["alt"] for picture in page.pictures)
        assert not re.search(r"(src|href)=.https?:", page.text)
    data = called(written / f"sentences/{CORPUS}.test.js")
    names = [f"{each['system']}/{each['decoding']}" for each in data["systems"]]
    assert len(names) == len(choices) == 2
    for target, chosen in choices:
        assert target == written / "sentences.html"
        assert chosen.pop("test-set") == [f"{CORPUS}/test"]
        assert set(chosen) == {"b"} and chosen["b"][0] in names


def test_a_table_shows_ours_with_interval_and_the_published_value(written: Path) -> None:
    page = Page(written / "papers/paper.html")
    root = written.parents[2]
    table = reports.make_table(configuration(root), "paper", "1")
    ours = next(each for each in table.records if each["row"] == "NAT" and each["status"] == "run")
    assert f"{ours['ours']:.2f}" in page.text
    assert f"[{ours['low']:.1f}, {ours['high']:.1f}]" in page.text
    assert "20.5<" in page.text and "20.50" not in page.text


def test_intervals_stand_below_the_numbers_of_every_column(root: Path) -> None:
    (table,) = PAPER["tables"].values()
    first, *others = table["columns"]
    noted = {"row": "NAT", "column": first["label"], "text": "a note"}
    columns = [{**first, "interval": True}, *others]
    tables_ = {"1": {**table, "columns": columns, "footnotes": [noted]}}
    made_up.publish(root, made_up.HEADER)
    page = Page(write(root, tables=tables_) / "papers/paper.html").text
    ours = reports.make_table(configuration(root, tables=tables_), "paper", "1").records[0]
    interval = f"[{ours['low']:.1f}, {ours['high']:.1f}]"
    assert re.search(rf">{ours['ours']:.2f}†¹</button><small>{re.escape(interval)}<", page)


def test_losses_with_a_teacher_are_told_from_those_without(root: Path) -> None:
    for system in ("nat-kd", "dims-cmlm-kd"):
        write_record(configuration(root), system)
    folder = write(root) / f"systems/{CORPUS}"
    assert systems.WITH_TEACHER in text_of(folder / "dims-cmlm-kd.html")
    assert systems.WITH_TEACHER not in text_of(folder / "nat-kd.html")


def test_settings_need_no_run_at_any_scale(root: Path) -> None:
    rows = [{"label": "dropout", "key": "recipe.dropout"}]
    columns = [{"label": "NAT", "system": "nat-kd"}]
    settings = {"title": "settings", "kind": "settings", "columns": columns, "rows": rows}
    found = configuration(root, tables=PAPER["tables"] | {"8": settings})
    _, (_, *_, row, _) = overview._experiments(Results(found))
    assert row["name"] == "Table 8" and {each.text for each in row["states"]} == {"configuration"}


def test_a_paper_shows_what_is_suspicious_of_a_score(root: Path) -> None:
    path = root / f"results/demo/scores/{CORPUS}/nat-kd/seed1/one-pass/test.json"
    flag = made_up.collapse(path)
    page = write(root) / "papers/paper.html"
    assert flag.startswith("few distinct translations: 1 for")
    assert f"NAT (En-De): {flag}." in text_of(page, "table-1")
    lines = next(each["lines"] for each in details(page) if each["title"] == "NAT, En-De")
    assert ["remark", flag] in [line[:2] for line in lines]


def test_what_was_not_run_says_so_with_the_command(written: Path) -> None:
    page = Page(written / "papers/paper.html")
    assert "snakemake paper_figure_2 --config scale=demo" in page.text
    assert "Not run. It is made by" in page.text
    assert not (written / "downloads/paper/figure_2.png").exists()


def test_a_number_leads_back_to_its_files_model_and_command(written: Path) -> None:
    found = details(written / "papers/paper.html")
    lines = next(each["lines"] for each in found if each["title"] == "NAT, En-De")
    said = {term: text for term, text, *_ in lines}
    path = f"results/demo/scores/{CORPUS}/nat-kd/seed1/one-pass/test.json"
    assert said["file"] == path
    assert said["translations"] == path.replace("scores", "translations").replace(".json", ".jsonl")
    translations = said["translations"]
    assert said["made again by"] == (
        f"rm -f {translations} && snakemake {path} --forcerun {path} --config scale=demo"
    )
    assert said["trained"].startswith("7 updates, 1.5 min")
    assert json.loads(said["decoding"].partition(": ")[2])["method"] == "one_pass"
    addresses = [address for _, _, address, _ in lines if address]
    assert addresses == [f"../systems/{CORPUS}/nat-kd.html"]


def test_states_count_the_results_that_exist(root: Path) -> None:
    found = {
        target[1:]: state.kind for target, state in Results(configuration(root)).states.items()
    }
    assert found == {("table", "1"): COMPLETE, ("figure", "2"): NOTHING}
    run(root, "cmlm-kd", "mask-predict-1-lb5", 0.2)
    states = Results(configuration(root)).states
    assert states["paper", "figure", "2"].kind == PART
    assert states["paper", "figure", "2"].text == "1 of 2"


def test_a_figure_is_drawn_from_the_points_that_exist(root: Path) -> None:
    run(root, "cmlm-kd", "mask-predict-1-lb5", 0.2)
    folder = write(root)
    assert (folder / "downloads/paper/figure_2.png").stat().st_size > 1000
    (picture,) = Page(folder / "papers/paper.html").pictures
    assert "CMLM: 1: " in str(picture["alt"])


@pytest.mark.parametrize(
    ("recorded", "shown"),
    [({}, False), ({"dropout": 0.45}, True)],
    ids=["of today", "older"],
)
def test_numbers_of_an_older_configuration_are_marked(
    root: Path, recorded: dict[str, Any], shown: bool
) -> None:
    write_record(configuration(root), "nat-kd", recorded)
    folder = write(root)
    page = Page(folder / "papers/paper.html")
    assert ("older configuration" in page.text) == shown
    system = Page(folder / f"systems/{CORPUS}/nat-kd.html")
    assert ("recipe.dropout: 0.45 is now" in system.text) == shown


def test_differences_from_an_older_configuration_are_marked(root: Path) -> None:
    made_up.publish(root, made_up.ONE_COLUMN)
    table = PAPER["tables"]["1"]
    columns = [table["columns"][0], {"label": "gain", "task": made_up.TASK, "over": "NAT"}]
    columns[1]["ours_only"] = True
    more = {"label": "more", "derived": {"difference": ["DiMS", "NAT"]}, "ours_only": True}
    found = configuration(
        root, tables={"1": {**table, "columns": columns, "rows": [*table["rows"], more]}}
    )
    write_record(found, "dims-cmlm-kd")
    write_record(found, "nat-kd", {"dropout": 0.45})
    site.write(found, folder := root / "results/demo/report")
    rows = {}
    for row in Page(folder / "papers/paper.html").text.split("<tr>"):
        label = re.search(r"<th[^>]*>\s*(DiMS|more|NAT)", row)
        if label:
            rows[label[1]] = row.count("<small>older configuration</small>")
    assert rows == {"NAT": 2, "DiMS": 1, "more": 2}


def test_numbers_that_rest_on_an_older_model_are_marked_too(root: Path) -> None:
    found = configuration(root)
    write_record(found, "dims-cmlm-kd")
    results = Results(found)
    assert results.changes(CORPUS, "dims-cmlm-kd", 1) == []
    write_record(found, "cmlm-kd", {"dropout": 0.45})
    (line,) = Results(found).changes(CORPUS, "dims-cmlm-kd", 1)
    assert line.startswith("cmlm-kd: recipe.dropout: 0.45 is now")


def test_translations_of_an_earlier_model_are_marked(root: Path) -> None:
    found = configuration(root)
    path = write_record(found, "nat-kd")
    cell = Cell("demo", CORPUS, "nat-kd", 1, "one-pass", "test", "sacrebleu")
    score = root / cell.score_path
    content = json.loads(score.read_text())
    write_json(score, content | {"model": {"fingerprint": "None"}})
    assert Results(found).older([cell]) == []
    write_json(path, json.loads(path.read_text()) | {"fingerprint": "another"})
    (line,) = Results(found).older([cell])
    assert "earlier training" in line


def test_a_table_of_a_job_is_read_back_until_a_result_changes(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = configuration(root)
    csv = root / reports.report(found, ("paper", "table", "1")).path
    made = reports.make_table(found, "paper", "1")
    csv.parent.mkdir(parents=True)
    tables.write(made, csv)

    def refuse(*arguments: Any) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr(reports, "make_table", refuse)
    assert Results(found).table("paper", "1").cells == made.cells
    score = root / Cell("demo", CORPUS, "nat-kd", 1, "one-pass", "test", "sacrebleu").score_path
    later = csv.stat().st_mtime + 10
    os.utime(score, (later, later))
    with pytest.raises(AssertionError, match="computed again"):
        Results(found).table("paper", "1")


def test_a_table_with_other_rows_than_the_job_made_is_computed(root: Path) -> None:
    found = configuration(root)
    csv = root / reports.report(found, ("paper", "table", "1")).path
    csv.parent.mkdir(parents=True)
    tables.write(reports.make_table(found, "paper", "1"), csv)
    table = PAPER["tables"]["1"]
    renamed = {**table, "rows": [table["rows"][0], {**table["rows"][1], "label": "ours"}]}
    cells = Results(configuration(root, tables={"1": renamed})).table("paper", "1").cells
    assert "ours" in [row[0] for row in cells]


def test_what_no_longer_fits_the_configuration_is_made_anew(root: Path) -> None:
    def changed(margin: float, published: str) -> Results:
        made_up.publish(root, made_up.PUBLISHED.replace("20.5", published))
        claim = {"better": {**CLAIMS["better"], "margin": margin}}
        return Results(configuration(root, claims=claim))

    before = changed(0, "20.5")
    for kind, number in (("table", "1"), ("claims", "")):
        csv = root / reports.report(before.configuration, ("paper", kind, number)).path
        csv.parent.mkdir(parents=True, exist_ok=True)
        if kind == "table":
            tables.write(reports.make_table(before.configuration, "paper", number), csv)
        else:
            claim_reports.write(before.configuration, "paper", before.judged("paper"), csv)
    assert before.judged("paper")[0]["verdict"] == HOLDS
    after = changed(99, "21.7")
    assert after.judged("paper")[0]["verdict"] == FAILS
    shown = {record["published"] for record in after.table("paper", "1").records}
    assert 21.7 in shown and 20.5 not in shown


FIGURE = PAPER["figures"]["2"]
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
    before = configuration(root)
    pdf = root / reports.report(before, ("paper", "figure", "2")).path
    pdf.parent.mkdir(parents=True)
    figures.write(figures.make(before, "paper", "2"), pdf)
    drawn: list[Path] = []
    monkeypatch.setattr(figures, "write", lambda plot, path: drawn.append(path))
    if change is None:
        run(root, "cmlm-kd", "mask-predict-4-lb5", 0.3)
    after = configuration(root, figures={"2": FIGURE | (change or {})})
    papers.page(Results(after), "paper", root)
    copied = root / "downloads/paper/figure_2.pdf"
    assert (drawn, copied.exists()) == (([], True) if kept else ([copied], False))


def test_the_overview_has_every_claim_and_every_point(written: Path) -> None:
    page = Page(written / "index.html")
    assert "DiMS is better than the NAT." in page.text
    match = re.search(r'data-chart="quality">(.*?)</script>', page.text, re.DOTALL)
    assert match
    points = json.loads(match[1])["data"]["values"]
    assert {(each["system"], each["setting"]) for each in points} == {
        ("nat-kd", "decoder passes"),
        ("dims-cmlm-kd", "decoder passes"),
    }


def text_of(page: Path, selector: str = "") -> str:
    """The text of a page without its tags, from an identifier on."""
    text = page.read_text(encoding="utf-8")
    text = text[text.index(f'id="{selector}"') :] if selector else text
    return " ".join(re.sub(r"<[^>]+>", " ", text).split())


def test_a_claim_that_cannot_be_judged_says_why(written: Path) -> None:
    reason = f"the published value is not comparable: corpus {CORPUS} at scale demo"
    for page in ("index.html", "papers/paper.html"):
        text = text_of(written / page, "claims")
        assert reason in text and "not run" not in text[: text.index("Table 1")]
    card = text_of(written / "index.html", "board")
    _, _, unjudged = card.partition("? cannot be judged here 1")
    assert f"DiMS is better than GLAT. Paper, on {CORPUS} {reason}" in unjudged
    assert "claims: 1 holds, 1 cannot be judged here" in text_of(written / "index.html")


def test_claims_are_sorted_by_their_numbers(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nat.claims.claim_checks.are_complete", lambda *_: True)
    worse = {**CLAIMS["better"], "compare": ["NAT", "above", "DiMS"]}
    more = {**CLAIMS["better"], "compare": ["NAT", "above", 90]}
    found = configuration(root, claims=CLAIMS | {"worse": worse, "more": more})
    site.write(found, root / "report")
    text = Page(root / "report/papers/paper.html").text
    rows = re.findall(r'<tr id="claim-[^>]*>(.*?)</tr>', text, re.DOTALL)
    records = {record["claim"]: record for record in Results(found).judged("paper")}
    keys = ("ours", "low", "detectable", "in_own_measure", "published")
    for row, record in zip(rows, records.values(), strict=True):
        sorted_by = ["" if record[key] is None else str(record[key]) for key in keys]
        assert re.findall(r'data-sort="([^"]*)"', row) == sorted_by
    assert records["worse"]["in_own_measure"] < 0 and records["more"]["published"] < 0
    assert records["state-of-the-art"]["ours"] is None


def test_claims_name_their_corpus_and_the_first_page_the_cost(written: Path) -> None:
    page = text_of(written / "papers/paper.html", "claims-table")
    assert f"DiMS is better than the NAT. (abstract) {CORPUS} ✓ holds" in page
    first = text_of(written / "index.html")
    assert "trainings: 1 of 3, 0.03 device hours" in first
    assert "1 of 3 trainings 0.03 device hours" in first[first.index("What it cost") :]


@pytest.mark.parametrize("chosen", ["demo", "small", "paper"])
def test_what_stands_in_for_the_papers_is_told(chosen: str) -> None:
    said = scale.stand_ins(configured(chosen))
    if chosen == "paper":
        assert said == ""
    elif chosen == "demo":
        assert "here invented languages stand in" in said and "toy-ka-lu for WMT14 En-De" in said
        assert "a base model is 64 wide" in said
    else:
        assert "here other corpora stand in" in said and "multi30k-en-de for WMT14" in said


def test_papers_stand_before_what_else_is_measured(root: Path) -> None:
    look = {"title": "A look"}
    found = made_up.configuration(root, {"a-look": look, "paper": PAPER})
    results = Results(found)
    links = [(link.label, link.group) for link in site._navigation(results)][-2:]
    assert links == [("Paper", ""), ("A look", "Beyond the papers")]


def test_diagrams_are_listed_as_not_reproduced(written: Path) -> None:
    rows = text_of(written / "index.html", "experiments-rows")
    assert "Paper Figure 1 How it works a diagram, not reproduced" in rows
    assert rows.count("not reproduced") == 1


def test_what_no_paper_prints_has_a_caption_instead_of_a_number() -> None:
    assert papers.label("table", "10") == "Table 10"
    assert papers.label("figure", "shares") == "Figure"
    assert papers.titled("which candidates") == "Which candidates"


def test_scores_of_a_system_have_their_interval(written: Path) -> None:
    root = written.parents[2]
    cell = Cell("demo", CORPUS, "nat-kd", 1, "one-pass", "test", "sacrebleu")
    found = json.loads((root / cell.score_path).read_text())["measures"]["test"]["sacrebleu"]
    shown = f"{found['value']:.2f} [{found['low']:.1f},\N{NO-BREAK SPACE}{found['high']:.1f}]"
    assert f"<td>{shown}</td>" in Page(written / f"systems/{CORPUS}/nat-kd.html").text


def test_samples_have_the_direction_of_their_words(written: Path) -> None:
    (row, *_) = re.findall(
        r"<tr>(<td.*?)</tr>",
        Page(written / f"systems/{CORPUS}/nat-kd.html").text.split("Samples<")[1],
    )
    assert row.count('<td dir="auto">') == row.count("<td") == 3


def test_a_training_tells_its_best_validation(root: Path) -> None:
    path = write_record(configuration(root), "nat-kd")
    validation = {"metric": "bleu", "best": 30.5}
    write_json(path, json.loads(path.read_text()) | {"validation": validation})
    text = text_of(write(root) / f"systems/{CORPUS}/nat-kd.html")
    assert "30.50 best validation BLEU" in text


@pytest.mark.parametrize(
    ("value", "shown"), [(None, "null"), (True, "true"), ([1], "[1]"), ("a", "a"), (0.5, "0.5")]
)
def test_settings_are_shown_as_they_are_written(value: Any, shown: str) -> None:
    assert systems._as_text(value) == shown


def test_stated_settings_stand_beside_those_of_this_run(tmp_path: Path) -> None:
    (tmp_path / "config").symlink_to(REPOSITORY / "config")
    found = load("demo", tmp_path, checked=False)
    place = "toy-ka-lu", "dims-cmlm-kd"
    today = found.training(*place).as_json()
    trained = {**today, "recipe": today["recipe"] | {"dropout": 0.77}}
    write_json(
        tmp_path / TrainingRecord("demo", *place, 1).path,
        {"training": trained, "fingerprint": "None", "updates": 7},
    )
    rows = systems._stated(Results(found), {place: [1]})[place]
    used = {row[2]: row[5] for row in rows}
    assert (used["dropout"], used["warmup_updates"], used["text"]) == ("0.77", "100", "distilled")


def test_the_map_and_the_plot_are_of_one_corpus() -> None:
    point = {"paper": "Paper", "papers": "Paper", "system": "s", "decoding": "d"}
    point |= {"bleu": 1.0, "measure": "sacreBLEU", "time": 1.0}
    places = [("cpu-1", "b"), ("passes", "a"), ("passes", "b"), ("passes", "b")]
    points = [point | {"setting": setting, "corpus": corpus} for setting, corpus in places]
    settings = overview._most_first(each["setting"] for each in points)
    assert settings == ["passes", "cpu-1"]
    drawn = charts.quality(points, settings, ["b", "a"], ["Paper"], "passes")
    chosen = {each["name"]: each["value"] for each in drawn["params"] if "value" in each}
    assert chosen == {"setting": "passes", "shown": "b"}
    assert drawn["title"]["text"] == {
        "expr": "setting == \"passes\" ? 'decoder passes a sentence' : 'ms a sentence'"
    }
    assert drawn["encoding"]["color"]["legend"]["values"] == {
        "expr": '{"cpu-1 b": ["Paper"], "passes a": ["Paper"], "passes b": ["Paper"]}'
        "[setting + ' ' + shown]"
    }
    assert "datum.corpus == shown" in json.dumps(drawn)


def test_the_map_shows_the_corpus_that_most_systems_share(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = {
        ("few", "cmlm-kd"): 62.0,
        ("most", "cmlm-kd"): 20.0,
        ("most", "at-base"): 25.0,
        ("few", "ctc-kd"): 60.0,
        ("most", "nat-kd"): 15.0,
    }
    results = Results(configuration(root))
    monkeypatch.setattr(overview.systems, "places", lambda _: dict.fromkeys(scores, [1]))
    monkeypatch.setattr(
        results, "scores", lambda *place: [{"split": "test", "sacrebleu": scores[place]}]
    )
    shown = overview._map(results)
    assert shown["corpus"] == "most"
    listed = {
        system["name"]: system["number"]
        for row in shown["rows"]
        for cell in row["cells"]
        if cell
        for system in cell["systems"]
    }
    assert (listed["cmlm-kd"], listed["ctc-kd"]) == ("20.00", "on other corpora")


def test_latencies_are_points_of_the_plot(root: Path) -> None:
    column = {"label": "ms", "task": made_up.TASK, "measure": "latency", "setting": "cpu-1"}
    grid = {**PAPER["tables"]["1"], "columns": [PAPER["tables"]["1"]["columns"][0], column]}
    (root / "config/published/paper.csv").unlink()
    another = {"label": "CMLM", "system": "cmlm-kd", "decoding": "mask-predict-1-lb5"}
    other = {**grid, "rows": [grid["rows"][0], another]}
    found = configuration(root, tables={"1": grid, "2": other}, figures={})
    for number, repeats in (("1", 5.0), ("2", 9.0)):  # as if on two machines
        cells = [cell for cell in reports.cells(found, ("paper", "table", number)) if cell.setting]
        write_latencies(root, {cell: [repeats] * 5 for cell in cells})
    site.write(found, root / "results/demo/report")
    page = Page(root / "results/demo/report/index.html")
    match = re.search(r'data-chart="quality">(.*?)</script>', page.text, re.DOTALL)
    assert match
    points = [each for each in json.loads(match[1])["data"]["values"] if each["setting"] == "cpu-1"]
    assert {(each["system"], each["time"], each["timed in"]) for each in points} == {
        ("nat-kd", 5.0, "paper_table_1"),
        ("dims-cmlm-kd", 5.0, "paper_table_1"),
    }


@pytest.mark.parametrize("settings", [("", "cpu-1", "thread-8"), ("cpu-1", "thread-8", "")])
def test_a_number_names_the_setting_of_its_own_latency(
    root: Path, settings: tuple[str, ...]
) -> None:
    table = PAPER["tables"]["1"]
    quality = table["columns"][0] | {"label": "quality", "ours_only": True}
    columns = [
        quality
        if not setting
        else {"label": setting, "task": made_up.TASK, "measure": "latency", "setting": setting}
        for setting in settings
    ]
    (root / "config/published/paper.csv").unlink()
    one = {**table, "columns": columns, "rows": table["rows"][:1]}
    found = configuration(root, tables={"1": one}, figures={})
    cells = [cell for cell in reports.cells(found, ("paper", "table", "1")) if cell.setting]
    write_latencies(root, {cell: [5.0] * 5 for cell in cells})
    site.write(found, root / "report")
    said = {
        each["title"]: [text.split(":")[0] for term, text, *_ in each["lines"] if term == "latency"]
        for each in details(root / "report/papers/paper.html")
    }
    assert said == {
        "NAT, quality": [],
        "NAT, cpu-1": ["cpu-1"],
        "NAT, thread-8": ["thread-8"],
    }


def test_the_same_results_give_the_same_pages(root: Path) -> None:
    folder = write(root, claims=CLAIMS)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    write(root, claims=CLAIMS)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_damaged_report_is_made_again(root: Path) -> None:
    folder = root / "results/demo/report"
    site.write(configuration(root), folder)
    charts = folder / "assets" / site.CHARTS
    charts.write_text("// damaged")
    site.write(configuration(root), folder)
    assert charts.read_text() == "// no charts"


def test_texts_are_not_taken_for_html(written: Path) -> None:
    assert not any(HOSTILE in path.read_text() for path in written.rglob("*.html"))
    assert "&lt;script&gt;alert(1)" in (written / "papers/paper.html").read_text()


def test_ancestors_are_drawn_oldest_first(root: Path) -> None:
    there = configuration(root).on(CORPUS)
    drawing = ancestors.draw(there, "dims-cmlm-kd", {"cmlm-kd": "cmlm-kd.html"})
    assert "dims-cmlm-kd: text of at-base, starts from cmlm-kd" in drawing.alternative
    assert 'href="cmlm-kd.html"' in drawing.drawing
    places = {
        name: float(x)
        for x, name in re.findall(r'<text x="([\d.]+)"[^>]*>([a-z-]+)</text></a>', drawing.drawing)
    }
    assert places["at-base"] < places["cmlm-kd"] < places["dims-cmlm-kd"]


def test_another_scale_is_read_only_where_it_has_results(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = configuration(root)
    read: list[str] = []

    def note(chosen: Any, **_: Any) -> Configuration:
        read.append(chosen.scale)
        return found

    monkeypatch.setattr("nat.report.overview.load", note)
    (root / "results/small").mkdir()
    site.write(found, root / "results/demo/report")
    assert read == ["small"]


def test_a_page_says_what_the_intervals_of_all_columns_are() -> None:
    bleu = {"status": "run", "low": 1.0, "measure": "sacrebleu"}
    record = {"over": "", "status": "run", "low": 2.0, "measure": "speed_up"}
    notes = ["† a stand-in.", f"{tables.INTERVAL}: 95% bootstrap interval over the repeats."]
    shown: Any = SimpleNamespace(records=[bleu, record], notes=notes)
    found = papers._notes(shown)
    assert len(found) == 3 and found[-1] == notes[0]
    assert any("of sacreBLEU: 95% bootstrap interval over sentences" in each for each in found)
    assert any("of speed-up: 95% bootstrap interval over the repeats" in each for each in found)
