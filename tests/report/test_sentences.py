"""The sentence browser: what it is made of, and its page in a real browser."""

import json
from pathlib import Path
from typing import Any

import made_up_run as made_up
import numpy as np
import pytest
from sacrebleu.metrics import BLEU

from nat.artifacts import Model, Trace, Translations, step_of
from nat.configuration import Configuration
from nat.data.vocabulary import Vocabulary
from nat.jobs import translate
from nat.jobs.trace import trace_decoding
from nat.report import sentences, site
from nat.report.results import Results
from nat.workflow.dependence import depends_on
from nat.workflow.graph import Graph
from tests.chromium import Browser, needs_chromium
from tests.made_up_run import CORPUS, PAPER, SENTENCES, run, write_corpus
from tests.messages import told
from tests.repository import job
from tests.tiny import make_model

NAT, DIMS = ("nat-kd", "one-pass"), ("dims-cmlm-kd", "mask-predict-1-lb5")
CMLM = ("cmlm-kd", "mask-predict-4-lb5")


def configuration(root: Path, shown: int = 200, steps: tuple[str, ...] = ()) -> Configuration:
    found = made_up.configuration(root, {"paper": PAPER})
    browser = {"browser": {"sentences": shown, "steps": list(steps)}}
    scales = {**found.files["scales"], "demo": found.files["scales"]["demo"] | browser}
    found.files["scales"].update(scales)
    return found


def trace_of(system: str, decoding: str, seed: int = 1) -> Trace:
    return Trace("demo", CORPUS, system, seed, decoding, "test")


def write_trace(root: Path, system: str, decoding: str) -> None:
    """Two passes of each translation: the second one chooses the last token again."""
    trace = trace_of(system, decoding)
    translations = root / Translations(**vars(trace)).path
    lines = []
    for line in translations.read_text().splitlines():
        row = json.loads(line)
        tokens = row["tokens"].split()
        places = list(range(len(tokens)))
        wrong = [*tokens[:-1], "wrong"], [0.9] * (len(tokens) - 1) + [0.25]
        passes = [
            {"chosen": at, "masked": at, "tokens": chosen, "probabilities": probabilities}
            for at, chosen, probabilities in (
                (places, *wrong),
                (places[-1:], tokens[-1:], [0.75]),
            )
        ]
        said = row["tokens"] if row["id"] else "another translation"
        lines.append({"id": row["id"], "tokens": said, "positions": len(tokens), "passes": passes})
    (root / trace.path).parent.mkdir(parents=True)
    (root / trace.path).write_text("".join(json.dumps(line) + "\n" for line in lines))


def called(path: Path) -> Any:
    """Content that a file of data hands to the page."""
    text = path.read_text()
    arguments = text[text.index("(") + 1 : text.rindex(");")]
    name, content = json.loads(f"[{arguments}]")
    return content


def write(root: Path, shown: int = 200) -> dict[str, Any]:
    """The data of the page."""
    folder = root / "page"
    folder.mkdir()
    sentences.page(Results(configuration(root, shown)), folder)
    return called(folder / f"sentences/{CORPUS}.test.js")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_corpus(tmp_path)
    run(tmp_path, *NAT, 0.4)
    run(tmp_path, *DIMS, 0.1, not_decoded=2)
    return tmp_path


def test_every_sentence_has_its_texts_and_numbers(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # half of the sentences of the made-up corpus have references of their own
    monkeypatch.setattr(sentences, "references", lambda *_: step_of(CORPUS, "test", "references"))
    found = write(root)
    assert found["sentences"] == len(found["sources"]) == SENTENCES
    assert [len(set(each)) for each in found["references"]] == list(map(len, found["references"]))
    assert {(each["system"], each["decoding"]) for each in found["systems"]} == {NAT, DIMS}
    metric = BLEU(effective_order=True, force=True)
    for system in found["systems"]:
        for number, text in enumerate(system["outputs"]):
            # with two references where the corpus has two
            right = metric.sentence_score(text, found["references"][number]).score
            assert system["bleu"][number] == pytest.approx(right, abs=0.051)
    dims = next(each for each in found["systems"] if each["system"] == DIMS[0])
    assert set(dims["lost"]) == {"0", "1"} and dims["bleu"][0] == 0
    assert any(len(each) == 2 for each in found["references"])


def test_a_reference_that_bleu_is_not_against_is_told(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # the single reference of a sentence is none of its several ones; one of NAT's is exact
    path = root / "results/corpora" / CORPUS / "test/references/test.yy.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    single = rows[3]["references"][0]
    rows[3]["references"] = [single.upper(), " ".join(reversed(single.split()))]
    made_up.write_lines(path, rows)
    run(root, *NAT, 0.0)
    monkeypatch.setattr(sentences, "references", lambda *_: step_of(CORPUS, "test", "references"))
    found = write(root)
    assert found["uncounted"] == [3]
    assert len(found["references"][3]) == 3
    nat = next(each for each in found["systems"] if each["system"] == NAT[0])
    right = BLEU(effective_order=True).sentence_score(nat["outputs"][3], found["references"][3][1:])
    assert nat["bleu"][3] == pytest.approx(right.score, abs=0.051) and nat["bleu"][3] < 100


def test_steps_are_shown_where_they_were_traced(root: Path) -> None:
    write_trace(root, *DIMS)
    found = write(root, shown=7)
    assert found["sentences"] == SENTENCES and len(found["sources"]) == 7
    systems = {each["system"]: each for each in found["systems"]}
    assert systems["nat-kd"]["steps"] is None
    assert "results/demo/traces/" in systems["nat-kd"]["command"]
    steps = called(root / "page" / systems[DIMS[0]]["steps"])
    assert steps.keys() == {str(number) for number in range(7)}
    assert [each["chosen"] for each in steps["5"]["passes"]][0] == [*range(steps["5"]["positions"])]
    assert not steps["2"]["differs"] and steps["0"]["differs"]  # says another translation


def test_the_lowest_seed_that_exists_is_shown(root: Path) -> None:
    run(root, *CMLM, 0.2, seed=2)
    run(root, *CMLM, 0.2, seed=3)
    found = made_up.configuration(root, {"paper": PAPER}, seeds=[1, 2, 3])
    ((_, scores),) = sentences.translated(Results(found)).items()
    assert {score.system: score.seed for score in scores} == {
        "nat-kd": 1,
        "dims-cmlm-kd": 1,
        "cmlm-kd": 2,
    }


def test_a_score_of_another_test_set_is_told(root: Path) -> None:
    for name in ("text/test.xx", "text/test.yy"):
        path = root / "results/corpora" / CORPUS / "test" / name
        path.write_text(path.read_text() + "one more\n")
    with told("npz"):
        write(root)


def test_traces_are_of_what_has_run(root: Path) -> None:
    found = configuration(root, steps=(DIMS[1],))
    graph = Graph(found)
    assert graph.traces() == []
    trace = trace_of(*DIMS)
    model = root / Model("demo", CORPUS, DIMS[0], 1).path
    model.parent.mkdir(parents=True)
    model.touch()
    assert graph.traces() == graph.before_pages({"traces", "report"}) == [trace.path]
    other = trace_of(*NAT).path
    assert graph.before_pages({other, "report"}) == [other]
    assert depends_on(found, trace) != depends_on(configuration(root, 7), trace)


def test_a_decoding_that_combines_translations_has_no_trace(root: Path) -> None:
    with told("npd5"):
        trace_of("nat-kd", "npd5").inputs(configuration(root))


def test_a_trace_is_what_each_pass_chose(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = root / "results/corpora" / CORPUS / "test/binarised"
    folder.mkdir()
    words = [f"w{number}" for number in range(23)]
    Vocabulary(words).save(folder / "vocabulary.txt")
    numbers = np.random.default_rng(0)
    text = [numbers.integers(6, 29, length) for length in (3, 0, 5, 4)]
    model = make_model(length="offset")
    monkeypatch.setattr(translate, "BinarisedText", lambda _: text)
    monkeypatch.setattr(translate, "matching_model", lambda *_: model)
    monkeypatch.chdir(root)
    trace = trace_of(*CMLM)
    trace_decoding(job(configuration(root, shown=3), trace))
    lines = [json.loads(line) for line in (root / trace.path).read_text().splitlines()]
    assert [line["id"] for line in lines] == [0, 2]  # one is empty, one is not among the first
    for line in lines:
        tokens = [None] * line["positions"]
        for each in line["passes"]:
            assert each["chosen"] == each["masked"]
            assert all(0 <= probability <= 1 for probability in each["probabilities"])
            for place, token in zip(each["chosen"], each["tokens"], strict=True):
                tokens[place] = token
        assert " ".join(map(str, tokens)) == line["tokens"]


CHOOSE = """(name, value) => {
  const field = document.forms.choice.elements[name];
  field.value = value;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}"""
LISTED = "[...document.forms.choice.elements.sentence.options].map((option) => option.value - 1)"


@needs_chromium
def test_the_page_sorts_searches_and_steps(root: Path, tmp_path: Path) -> None:
    write_trace(root, *DIMS)
    folder = root / "page"
    site.write(configuration(root), folder)
    data = called(folder / f"sentences/{CORPUS}.test.js")
    with Browser(tmp_path) as browser:
        browser.open(folder / "sentences.html")

        def choose(**choices: str) -> list[int]:
            for key, value in choices.items():
                browser.run(f"({CHOOSE})('{key}', '{value}')")
            return list(browser.run(LISTED))

        def chosen() -> str:
            return str(browser.run("document.querySelector('#sentence h2').textContent"))

        bleu = {each["system"]: each["bleu"] for each in data["systems"]}
        gains = [round(new - old, 1) for old, new in zip(bleu[NAT[0]], bleu[DIMS[0]], strict=True)]
        numbers = choose(a="/".join(NAT), b="/".join(DIMS), order="gain")
        assert [gains[each] for each in numbers] == sorted(gains, reverse=True)
        assert chosen() == f"Sentence {numbers[0] + 1} of {SENTENCES}"
        lengths = [len(each.split()) for each in data["sources"]]
        longest = choose(order="longest")
        assert [lengths[each] for each in longest] == sorted(lengths, reverse=True)

        word = data["sources"][4].split()[0].lower()
        hits = {number for number, each in enumerate(data["sources"]) if word in each.lower()}
        found = choose(order="number", query=word)
        assert 4 in found and hits <= set(found) and len(found) < SENTENCES
        assert choose(query="no such word") == []
        assert "No sentence" in browser.run("document.forms.choice.elements.summary.value")
        choose(query="")

        browser.run("document.forms.choice.elements.sentence.focus()")
        for key in ("j", "ArrowDown"):
            browser.press(key)
        assert chosen() == f"Sentence 3 of {SENTENCES}"

        steps = f"document.querySelector('[data-system=\"{'/'.join(DIMS)}\"]')"
        rows = f"[...{steps}.querySelectorAll('tr')].map(row => row.cells.length)"
        (file,) = (each["steps"] for each in data["systems"] if each["steps"])
        width = called(folder / file)["2"]["positions"] + 1
        browser.wait_for("document.forms.choice.elements.at.value === 'step 2 of 2'")
        assert browser.run(rows) == [width, width]
        last = f"{steps}.querySelectorAll('tr')[1].cells[{width - 1}]"
        assert browser.run(f"{last}.querySelector('s').textContent") == "wrong"
        assert "75%" in browser.run(f"{last}.textContent")
        browser.press("ArrowLeft")
        assert browser.run(rows) == [width]
        assert "sentence=3&step=1" in browser.run("location.hash")
        browser.run("location.hash = location.hash.replace('sentence=3', 'sentence=7')")
        browser.wait_for("document.querySelector('#sentence h2').textContent.includes(' 7 of')")

        browser.open(folder / "sentences.html", width=390)
        assert browser.run("document.documentElement.scrollWidth") <= 390
        assert browser.run("document.querySelectorAll('#sentence article').length") == 2
        assert browser.problems == []
