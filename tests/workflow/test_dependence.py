"""Which changes of the code and of files that users keep make a result again."""

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import nat
from nat.artifacts import CorpusStep, Model, Score, Translations
from nat.workflow import dependence
from nat.workflow.dependence import CODE_OF_REPORTS, code_of_reports, content_of, depends_on
from nat.workflow.graph import inputs_of
from tests.made_up_corpus import PREPROCESSING
from tests.repository import changed, configured


@pytest.mark.parametrize(
    ("file", "counts"),
    [
        ("measures/significance.py", True),
        ("figures/panels.py", True),
        ("papers/values.py", True),
        ("report/templates/report.css", True),
        ("decoding/beams.py", False),
    ],
)
def test_a_report_is_made_again_when_its_code_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, counts: bool
) -> None:
    ours = Path(nat.__file__).parent
    for name in {*CODE_OF_REPORTS, Path(file).parts[0]}:
        shutil.copytree(ours / name, tmp_path / name)
    monkeypatch.setattr(nat, "__file__", str(tmp_path / "__init__.py"))
    before = code_of_reports.__wrapped__()
    with (tmp_path / file).open("a") as code:
        code.write("\n")
    assert (code_of_reports.__wrapped__() != before) == counts


CORPUS = "multi30k-en-de"
OF_CORPUS = {
    "text": CorpusStep(CORPUS, "text"),
    "text of test": CorpusStep(CORPUS, "text", "test"),
    "ids": CorpusStep(CORPUS, "binarised"),
    "ids of test": CorpusStep(CORPUS, "binarised", "test"),
    "model": Model("micro", CORPUS, "at-base", 1),
    "translations": Translations("micro", CORPUS, "at-base", 1, "beam5", "test"),
    "score": Score("micro", CORPUS, "at-base", 1, "beam5", "test"),
}
TEXTS, IDS = {"text", "text of test"}, {"ids", "ids of test"}
FILES = {"files": {"en": "a", "de": "b"}}


def splits(**keys: Any) -> dict[str, Any]:
    return {"splits": dict.fromkeys(("train", "valid", "test"), {**FILES, **keys})}


@pytest.mark.parametrize(
    ("changes", "made_again"),
    [
        (splits(pairs=7), set()),
        (splits(references=[FILES]), set()),
        ({"licensed_by": "me", "description": "mine", "least_perfect_score": 1}, set()),
        (splits(segmented=True), TEXTS),
        (splits(files={"en": "a", "de": "c"}), TEXTS),
        ({"preprocessing": PREPROCESSING}, IDS),
        # what shows translations beside scores is made with them
        ({"bleu_tokeniser": "char"}, {"ids of test", "translations", "score"}),
    ],
)
def test_only_what_depends_on_a_key_of_a_corpus_is_made_again(
    changes: dict[str, Any], made_again: set[str]
) -> None:
    before = changed(configured("micro"), "corpora", CORPUS, **splits())
    after = changed(before, "corpora", CORPUS, **changes)
    found = [
        {name: depends_on(c, each) for name, each in OF_CORPUS.items()} for c in (before, after)
    ]
    assert {name for name in OF_CORPUS if found[0][name] != found[1][name]} == made_again


def contents_count(
    paths: list[Path], found: Callable[[], list[str]], changes: Callable[[Path], list[bool]]
) -> None:
    """Of each file, the content changes fingerprints where it should; times and copies never do."""
    first = found()
    for path in paths:
        content = path.read_text()
        os.utime(path, (time.time() + 9000, time.time() + 9000))  # from the future
        assert found() == first
        path.unlink()
        path.write_text(content)  # a copy
        assert found() == first
        times = path.stat()
        path.write_text(content.swapcase())  # of the same size, and then of the same time
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        changed = [one != other for one, other in zip(found(), first, strict=True)]
        assert changed == changes(path), path
        path.write_text(content)
        assert found() == first


def test_files_that_users_keep_count_by_their_content_and_not_by_their_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".snakemake").mkdir()
    monkeypatch.chdir(tmp_path)
    names = ("train.en", "train.de", "valid.en", "valid.de", "codes", "vocabulary", "distilled.de")
    paths = {name: tmp_path / name for name in (*names, "further.de")}
    for name, path in paths.items():
        path.write_text(name)
    splits = {
        split: {"segmented": True, "files": {x: str(paths[f"{split}.{x}"]) for x in ("en", "de")}}
        for split in ("train", "valid")
    }
    splits["valid"]["references"] = [{"files": {"de": str(paths["further.de"])}}]
    corpus = {
        "splits": splits,
        "subwords": {"files": {key: str(paths[key]) for key in ("codes", "vocabulary")}},
        "distilled": {"at-base": {"files": {"de": str(paths["distilled.de"])}}},
        "preprocessing": PREPROCESSING,
    }
    configuration = changed(configured("micro"), "corpora", "multi30k-en-de", **corpus)

    def found() -> list[str]:
        steps = (CorpusStep("multi30k-en-de", step) for step in ("text", "references", "clean"))
        return [depends_on.__wrapped__(configuration, step) for step in steps]

    def changes(path: Path) -> list[bool]:
        return [path.name != "further.de", path.name == "further.de", False]

    contents_count([*paths.values()], found, changes)
    for step in ("text", "references"):
        read = inputs_of(configuration, CorpusStep("multi30k-en-de", step))
        assert not {*map(str, paths.values())} & {*sum(read.values(), [])}


def test_a_checkpoint_that_is_taken_over_counts_by_its_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".snakemake").mkdir()
    monkeypatch.chdir(tmp_path)
    paths = [tmp_path / "theirs.pt", tmp_path / "dictionary.txt"]
    for path in paths:
        path.write_text(path.name)
    imported = {"checkpoint": str(paths[0]), "dictionary": str(paths[1])}
    configuration = changed(configured("micro"), "systems", "at-base", imported=imported)
    artifacts = [Model("micro", "toy-micro", name, 1) for name in ("at-base", "nat-raw")]

    def found() -> list[str]:
        return [depends_on.__wrapped__(configuration, each) for each in artifacts]

    contents_count(paths, found, lambda _: [True, False])
    assert not {*map(str, paths)} & {*sum(inputs_of(configuration, artifacts[0]).values(), [])}


def test_files_are_read_again_only_if_they_have_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path, read = tmp_path / "x", []
    path.write_text("x")

    def noted(path: Path) -> str:
        read.append(path)
        return "digest"

    monkeypatch.setattr(dependence, "sha256_of", noted)
    assert [content_of(path) for _ in range(2)] == ["digest"] * 2
    assert len(read) == 2  # there is no folder of Snakemake
    (tmp_path / ".snakemake").mkdir()
    assert [content_of(path) for _ in range(3)] == ["digest"] * 3 and len(read) == 3
    dependence.KNOWN.write_text("{")
    assert content_of(path) == "digest" and len(read) == 4
    path.write_text("longer")
    assert content_of(path) == "digest" and len(read) == 5
