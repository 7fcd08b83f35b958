"""The pages of a run, made from whatever exists."""

import html
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import made_up_run as made_up
import pytest

from nat.configuration import Configuration
from nat.figures.claims import forest
from nat.files import read_json, write_json
from nat.measures.results import read
from nat.papers import reports
from nat.papers.cells import Cell
from nat.papers.coordinates import heading
from nat.report import site, systems
from nat.report.page import COMPLETE, NOTHING, PART
from nat.report.results import Results, stand_ins
from tests.made_up_run import CORPUS, PAPER, run, write_corpus, write_latencies
from tests.messages import must_name
from tests.report.test_sentences import called
from tests.repository import configured

HOSTILE = "<script>alert(1)</script>"
TABLE, FIGURE = PAPER["tables"]["1"], PAPER["figures"]["2"]
CLAIM = {"claim": "DiMS is better than the NAT.", "from": "abstract", "in": "table 1"}
CLAIM |= {"task": made_up.TASK, "compare": "DiMS > NAT"}
OTHER_CLAIM = CLAIM | {"claim": "DiMS is better than GLAT.", "compare": "DiMS > quoted"}
CLAIMS = {"better": CLAIM, "state-of-the-art": OTHER_CLAIM}
NAT, DIMS = ("nat-kd", "one-pass"), ("dims-cmlm-kd", "mask-predict-1-lb5")
SCORE = f"results/demo/scores/{CORPUS}/nat-kd/seed1/one-pass/test.json"
TRANSLATIONS = SCORE.replace("scores", "translations") + "l"
OF_PAPER, OF_NAT = "papers/paper.html", f"systems/{CORPUS}/nat-kd.html"


def prepare(root: Path) -> Path:
    """Of the systems of the paper two were run, NAT and DiMS; the CMLM was not."""
    write_corpus(root)
    for names, errors in ((NAT, 0.4), (DIMS, 0.1)):
        run(root, *names, errors)
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
        tables={"1": TABLE | {"columns": [each | {"interval": True} for each in TABLE["columns"]]}},
        description=HOSTILE,
        diagrams={"figure 1": "how it works"},
    )
    made_up.collapse(Path(found.root) / SCORE)
    for system in ("nat-kd", "dims-cmlm-kd"):
        write_record(found, system)
    return write(found)


class Parsed:
    """A page: what it links to, shows, and says of its numbers, by their titles."""

    def __init__(self, path: Path) -> None:
        self.source = path.read_text(encoding="utf-8")
        links = re.findall(r'(?:href|src)="([^"]+)"', self.source)
        self.links = list(map(html.unescape, links))
        self.identifiers = re.findall(r' id="([^"]+)"', self.source)
        self.details = {}
        for origin in re.findall(r"<div popover id=.*?</dl></div>", self.source, re.DOTALL):
            title, *said = re.split("<(?:h2|dt|dd)>", html.unescape(origin))[1:]
            plain = [re.sub("<[^>]+>", "", each).strip() for each in said]
            lines = list(zip(plain[::2], plain[1::2], strict=True))
            self.details[re.sub("<[^>]+>", "", title).strip()] = lines

    def text(self, identifier: str = "") -> str:
        """Its text without tags, from an identifier on."""
        source = self.source
        source = source[source.index(f'id="{identifier}"') :] if identifier else source
        return " ".join(re.sub(r"<[^>]+>", " ", source).split())


# What pages show


def test_every_link_leads_to_a_file_of_the_folder(written: Path) -> None:
    pages = {path: Parsed(path) for path in sorted(written.rglob("*.html"))}
    assert len(pages) > 5
    chosen = []
    for path, page in pages.items():
        assert len(set(page.identifiers)) == len(page.identifiers), path
        assert page.source.count("<img ") == len(re.findall(r'<img [^>]* alt="[^"]', page.source))
        assert HOSTILE not in page.source and "Content-Security-Policy" in page.source
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
        assert not re.search(r"(src|href)=.https?:", page.source)
    data = called(written / f"sentences/{CORPUS}.test.js")
    names = [f"{each['system']}/{each['decoding']}" for each in data["systems"]]
    assert len(names) == len(chosen) == 2
    for each in chosen:
        assert each == {"test-set": [f"{CORPUS}/test"], "b": each["b"]} and each["b"][0] in names


@pytest.mark.parametrize(
    ("page", "place", "said"),
    [
        ("index.html", "papers-rows", "2 of 3 0 1 holds, 1 cannot be judged here 2 of 3 0.05"),
        ("index.html", "not-run", "Tables and figures that were not run: 1"),
        ("systems/index.html", "matrix", f"system {CORPUS} dims-cmlm-kd"),
        ("systems/index.html", "untrained", "Systems that were not trained: 2"),
        (OF_PAPER, "", "snakemake paper_figure_2 --config scale=demo"),
        (OF_PAPER, "table-1", "NAT (En-De): few distinct translations: 1 for"),
        (OF_PAPER, "claims-rows", f"DiMS is better than the NAT. (abstract) {CORPUS} ✓ holds"),
        (OF_NAT, "training-rows", "1 7 90"),
        (f"systems/{CORPUS}/dims-cmlm-kd.html", "", systems.WITH_TEACHER),
    ],
)
def test_what_pages_say(written: Path, page: str, place: str, said: str) -> None:
    assert said in Parsed(written / page).text(place)
    assert systems.WITH_TEACHER not in Parsed(written / OF_NAT).text()
    assert not (written / "downloads/paper/figure_2.png").exists()  # no point of it was run
    first, *losses = re.findall(r'id="(.+?)" points="(.+?)"', Parsed(written / OF_NAT).source)
    assert first == ("validation BLEU, seed 1", "746.7,12.7 ") and len(losses) == 2


def test_numbers_have_intervals_and_published_values(written: Path) -> None:
    found = read(written.parents[2] / SCORE, "test")["sacrebleu"]
    ends = f"{found.low:.1f}, {found.high:.1f}"
    source = Parsed(written / OF_PAPER).source
    assert re.search(rf"{found.value:.2f}.?</button><small>\[{ends}\]</small>", source)
    assert "20.5<" in source and "20.50" not in source
    entry = f">{found.value:.2f}<small>[{ends}]</small>"
    assert entry in Parsed(written / OF_NAT).source


def test_a_number_leads_back_to_its_files_model_and_command(written: Path) -> None:
    lines = Parsed(written / OF_PAPER).details["NAT, En-De"]
    said = dict(lines)
    assert (said["sources"], said["translations"]) == (SCORE, TRANSLATIONS)
    assert said["made again by"] == (
        f"rm -f {TRANSLATIONS} && snakemake {SCORE} --forcerun {SCORE} --config scale=demo"
    )
    assert said["remark"].startswith("few")
    assert json.loads(said["decoding"].partition(": ")[2])["method"] == "one_pass"
    assert f'<dd><a href="../{OF_NAT}">' in Parsed(written / OF_PAPER).source


def test_latencies_stand_with_their_setting(root: Path) -> None:
    latency = {"task": made_up.TASK, "measure": "latency"}
    columns = [latency | {"label": each, "setting": each} for each in ("cpu-1", "thread-8")]
    columns.append(TABLE["columns"][0] | {"label": "quality"})
    (root / "config/published/paper.csv").unlink()
    found = configuration(root, tables={"1": {**TABLE, "columns": columns}}, figures={})
    cells = [each for each in reports.cells(found, made_up.TABLE) if each.setting]
    write_latencies(root, {cell: [5.0] * 5 for cell in cells})
    page = Parsed(write(found) / OF_PAPER)
    must_name(page.text(), "of sacreBLEU: 95% bootstrap interval", "of latency: quartiles")
    for title, lines in page.details.items():
        settings = [text.split(":")[0] for term, text in lines if term == "latency"]
        assert settings == [each for each in ("cpu-1", "thread-8") if title.endswith(f", {each}")]


def test_the_first_page_begins_with_what_is_complete_and_folds_what_was_not_run(
    written: Path,
) -> None:
    page = Parsed(written / "index.html")
    places = [name for name in page.identifiers if not name.endswith("-rows")]
    shown = ["paper-table-1", "papers", "reports", "not-run"]
    assert [name for name in places if name in shown] == shown
    assert set(page.details) == set(Parsed(written / OF_PAPER).details) - {CLAIM["claim"]} - {
        OTHER_CLAIM["claim"]
    }
    folded = page.source[page.source.index("<summary>Tables and figures") :]
    assert "Figure 2" in folded and "Table 1" not in folded


def test_claims_are_drawn_with_interval_bound_and_verdict(root: Path) -> None:
    found = configuration(root, claims=CLAIMS)
    judged = Results(found).claims["paper"]
    assert forest(judged, root / "claims.svg")
    drawn = (root / "claims.svg").read_text()
    must_name(drawn, CLAIM["claim"], "holds", "difference in")
    assert OTHER_CLAIM["claim"] not in drawn  # it has no interval
    without = [(check, record | {"low": None}) for check, record in judged]
    assert not forest(without, root / "none.svg") and not (root / "none.svg").exists()


# States


def test_states_count_the_results_that_exist(root: Path) -> None:
    def states() -> dict[Any, Any]:
        results = Results(configuration(root))
        return {report.part: results.state(report) for report in results.cells}

    kinds = {part: state.look for part, state in states().items()}
    assert kinds == {"table 1": COMPLETE, "figure 2": NOTHING}
    run(root, "cmlm-kd", "mask-predict-1-lb5", 0.2)
    figure = states()["figure 2"]
    assert (figure.look, figure.text) == (PART, "1 of 2")
    # a figure is drawn from the points that exist
    folder = write(configuration(root))
    assert (folder / "downloads/paper/figure_2.png").stat().st_size > 1000
    assert "../downloads/paper/figure_2.csv" in Parsed(folder / OF_PAPER).links


# Older configurations


def test_numbers_of_an_older_configuration_and_differences_from_them_are_marked(root: Path) -> None:
    made_up.publish(root, made_up.ONE_COLUMN)
    gain = {"label": "gain", "task": made_up.TASK, "over": "NAT", "ours_only": True}
    more = {"label": "more", "derived": {"difference": ["DiMS", "NAT"]}, "ours_only": True}
    table = {**TABLE, "columns": [TABLE["columns"][0], gain], "rows": [*TABLE["rows"], more]}
    found = configuration(root, tables={"1": table})
    write_record(found, "dims-cmlm-kd")
    write_record(found, "nat-kd", dropout=0.45)
    folder, rows = write(found), {}
    assert "recipe.dropout: 0.45 is now" in Parsed(folder / OF_NAT).source
    for row in Parsed(folder / OF_PAPER).source.split("<tr>"):
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
    cell = next(each for each in reports.cells(found, made_up.TABLE) if each.path == SCORE)
    write_json(score, read_json(score) | {"model": {"fingerprint": "None"}})
    assert Results(found).older([cell]) == []
    write_json(path, read_json(path) | {"fingerprint": "another"})
    (line,) = Results(found).older([cell])
    assert "earlier training" in line


def test_the_same_results_give_the_same_pages(root: Path) -> None:
    found = configuration(root, claims=CLAIMS)
    folder = write(found)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    write(found)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


# Papers, claims and systems


@pytest.mark.parametrize(
    ("chosen", "parts"),
    [
        ("demo", ["toy-ka-lu for WMT14 En-De", "on the embedded corpora"]),
        ("small", ["multi30k-en-de for WMT14 En-De", "real text"]),
        ("paper", []),
    ],
)
def test_what_stands_in_for_the_papers_is_told(chosen: str, parts: list[str]) -> None:
    found = configured(chosen)
    cells = [Cell("row", "column", "sacrebleu", task) for task in found.tasks]
    said = stand_ins(found, cells)
    must_name(said, *parts)
    assert bool(said) == bool(parts)
    own = [each for each in cells if heading(each.task) != "WMT14 En-De"]
    assert "for WMT14 En-De," not in stand_ins(found, own)
