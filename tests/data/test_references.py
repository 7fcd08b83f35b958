"""Further references of a split: by line, by source sentence, and those of Ott et al."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from nat.data.corpus_parts import has_references, local_files
from nat.data.lines import write_lines
from nat.data.references import read_references, write_references
from nat.data.sources import Place
from nat.data.text import make_references
from nat.files import atomic_directory, read_json
from tests.made_up_corpus import as_corpus, write_text
from tests.messages import told

SOURCES = ["ein Haus .", "eine  Katze .", "ein Hund .", "eine Katze ."]


def corpus_of(*references: dict[str, Any], **keys: Any) -> dict[str, Any]:
    split = {"files": {"de": "test.de", "en": "test.en"}, "references": list(references)}
    return {"source": "de", "target": "en", "splits": {"test": split}, **keys}


def make(root: Path, corpus: dict[str, Any]) -> dict[int, list[str]]:
    write_text(root / "text", ("de", "en"), test=[SOURCES, []])
    place = Place("own", root, root / "mirror", root / "downloads")
    make_references(as_corpus(corpus), ["test"], root / "text", root / "references", place)
    several = read_references(root / "references/test.en.jsonl", len(SOURCES))
    return {number: texts for number, (texts, _) in several.items()}


def test_references_by_line_and_by_source(tmp_path: Path) -> None:
    one_by_line = ["“a” house", "a cat", "", "caţs"]
    some = [["eine Katze .", "eine Maus ."], ["one cat", "one mouse"]]
    write_text(tmp_path, ("de", "en"), one=[[], one_by_line], some=some)
    by_source = {"files": {"de": "some.de", "en": "some.en"}}
    one = {"files": {"en": "one.en"}}
    corpus = corpus_of(one, by_source, diacritics={"en": "remove"})
    several = make(tmp_path, corpus)
    assert several == {0: ["“a” house"], 1: ["a cat", "one cat"], 3: ["cats", "one cat"]}
    first = (tmp_path / "references/test.en.jsonl").read_text(encoding="utf-8").splitlines()[0]
    assert first == '{"id": 0, "references": ["“a” house"]}'
    facts = read_json(tmp_path / "references/references.json")["splits"]["test"]
    assert (facts["sentences"], facts["references"]) == (3, 5)
    assert facts["read_from"] == [str(tmp_path / "one.en"), str(tmp_path / "some.en")]


def test_references_of_ott_et_al(tmp_path: Path) -> None:
    lines = ["S-8\tein Hund .", "T-8\ta dog", "R1-8\tone dog", "R10-8\tdogs"]
    path = tmp_path / "mirror/host/test.extra_refs.gz"
    path.parent.mkdir(parents=True)
    path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode()))
    url = {"urls": {"en": "https://host/test.extra_refs.gz"}, "sha256": {"en": None}}
    assert make(tmp_path, corpus_of({**url, "format": "extra_refs"})) == {2: ["one dog", "dogs"]}
    for wrong in ("R1-8\tone dog", "a dog"):
        (tmp_path / "one").write_text(wrong)
        with told("line 1", f"'{wrong.partition(chr(9))[0]}'"):
            make(tmp_path, corpus_of({"files": {"en": "one"}, "format": "extra_refs"}))


PAIR = {"de": "one", "en": "two"}


@pytest.mark.parametrize(
    ("files", "lines", "parts"),
    [
        ({"en": "one"}, {"one": ["a", "b"]}, ["2 lines", "4"]),
        ({"en": "one"}, {}, ["references[0].files.en", "one"]),
        (PAIR, {"one": ["ein Tiger"], "two": ["a tiger"]}, ["one", "two", "no reference"]),
        (PAIR, {"one": ["ein Haus ."], "two": [""]}, ["two"]),
        (PAIR, {"one": ["a"], "two": ["a", "b"]}, ["one", "1 line", "two", "2"]),
    ],
)
def test_references_that_do_not_fit(
    tmp_path: Path, files: dict[str, str], lines: dict[str, list[str]], parts: list[str]
) -> None:
    for name, content in lines.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in content))
    with told("config/corpora/own.yaml", "splits.test.references[0]", *parts):
        make(tmp_path, corpus_of({"files": files}))
    assert not (tmp_path / "references").exists()


def test_which_splits_have_references() -> None:
    content = corpus_of({"files": {"en": "one.en"}})
    corpus = as_corpus(content)
    assert has_references(corpus, "test")
    assert not has_references(corpus, "valid")
    # the other way round: `like` takes the references over, but they are of the other language
    reversed_ = as_corpus({**content, "source": "en", "target": "de"})
    assert not has_references(reversed_, "test")
    generated = as_corpus({"source": "ka", "target": "lu", "generator": {"pairs": {}}})
    assert has_references(generated, "valid") and not has_references(generated, "train")
    derived = as_corpus({"source": "x", "target": "de", "derived": {"from": "a", "side": "de"}})
    assert not has_references(derived, "test")


def test_local_files_have_keys() -> None:
    content = corpus_of({"files": {"en": "one.en"}})
    content["splits"]["train"] = {"parts": [{"files": {"de": ["a.de", "b.de"], "en": "a.en"}}]}
    corpus = as_corpus(content)
    assert dict(local_files(corpus)) == {
        "splits.test.files.de": Path("test.de"),
        "splits.test.files.en": Path("test.en"),
        "splits.train.parts[0].files.de": Path("b.de"),
        "splits.train.parts[0].files.en": Path("a.en"),
    }
    assert Path("a.de") in dict(map(reversed, local_files(corpus)))
    [of_references] = local_files(corpus, references=True)
    assert of_references == ("splits.test.references[0].files.en", Path("one.en"))


@pytest.mark.parametrize(
    ("rows", "part"),
    [
        ([{"id": 1, "references": ["a"]}] * 2, "line 2"),
        ([{"id": 1, "references": ["a", "b"], "weights": [0.5]}], "line 1"),
        (["{"], "line 1"),
        ([], "line 1"),
    ],
)
def test_wrong_references(tmp_path: Path, rows: list[Any], part: str) -> None:
    folder = tmp_path / "results/corpora/toy/train/references"
    with atomic_directory(folder) as partial:
        lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
        write_lines(partial / "test.yy.jsonl", lines)
    with told("test.yy.jsonl", part, "snakemake --force results/corpora/toy/train/references"):
        read_references(folder / "test.yy.jsonl", 3)


def test_references_with_weights(tmp_path: Path) -> None:
    path = tmp_path / "references.jsonl"
    write_references(path, {2: {"a": 0.75, "b": 0.25}, 0: ["c", "d"]})
    assert read_references(path, 3) == {
        2: (["a", "b"], [0.75, 0.25]),
        0: (["c", "d"], [1.0, 1.0]),
    }
