import errno
import gzip
import hashlib
import json
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from made_up_corpus import as_corpus

import nat.data.text as module
from nat.data.lines import count_lines, read_lines, read_pairs, write_lines
from nat.data.splits import folder_of, local_files, split_names, text_part
from nat.data.splits import test_names as names_of_tests
from nat.data.text import make_text
from nat.files import atomic_directory, read_json
from tests.messages import told


def corpus_of(root: Path, lines: int = 3) -> dict[str, Any]:
    splits = {}
    for split in ("train", "valid", "test"):
        files = {}
        for language in ("en", "de"):
            path = root / "data" / f"{split}.{language}"
            path.parent.mkdir(exist_ok=True)
            path.write_text("".join(f"{split} {language} {n}\n" for n in range(lines)))
            files[language] = f"data/{split}.{language}"
        splits[split] = {"files": files}
    return {"source": "en", "target": "de", "splits": splits}


def make(root: Path, corpus: dict[str, Any], mirror: Path | None = None) -> Path:
    output = root / "out" / "text"
    make_text(
        "toy", as_corpus(corpus), output, root=root, mirror=mirror, downloads=root / "downloads"
    )
    return output


def test_lines_end_at_line_feeds_only(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes("\ufeffone\u2028two\r\nthree\x85\x0cfour\rfive\n\n\tsix  ".encode())
    assert list(read_lines(path)) == ["one two", "three  four five", "", "\tsix  "]
    assert count_lines(path) == 4


def test_packed_lines_are_the_same(tmp_path: Path) -> None:
    path = tmp_path / "text"  # the content tells, not the name
    path.write_bytes(gzip.compress(b"one\ntwo\n"))
    assert list(read_lines(path)) == ["one", "two"]
    path.write_bytes(gzip.compress(b"one\ntwo\n")[:-9])
    with told(path, "gzip"):
        list(read_lines(path))


def test_written_lines_come_back(tmp_path: Path) -> None:
    lines = ["", "Größe 東京", " spaces ", ""]
    assert write_lines(tmp_path / "text", lines) == 4
    assert list(read_lines(tmp_path / "text")) == lines


def test_a_test_set_that_is_cut_out_of_the_training_text(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, lines=9)
    corpus["splits"]["test"] = {"every": 3}
    corpus["preprocessing"] = {
        "lowercase": False,
        "normalise_punctuation": False,
        "tokeniser": "none",
        "max_tokens": 10,
        "max_ratio": 2.0,
    }
    typed = as_corpus(corpus)
    assert text_part(typed).splits.keys() == {"train", "valid", "test"}
    places = {"root": tmp_path, "mirror": None, "downloads": tmp_path, "corpora": tmp_path}
    whole, test = tmp_path / "toy/text", tmp_path / "toy/tests/test/text"
    make_text("toy", text_part(typed), whole, **places)
    make_text("toy", text_part(typed, "test"), test, **places)
    assert list(read_lines(test / "test.en")) == [f"train en {n}" for n in (2, 5, 8)]
    assert count_lines(whole / "train.en") == 6
    assert read_json(test / "text.json")["pairs"] == {"test": 3}


@pytest.mark.parametrize("order", [("valid", "test", "test_b"), ("test_b", "test", "valid")])
def test_several_splits_that_are_cut_out_share_no_pair(
    tmp_path: Path, order: tuple[str, ...]
) -> None:
    corpus = corpus_of(tmp_path, lines=20)
    every = {"valid": 5, "test": 5, "test_b": 4}
    cut = {split: {"every": every[split]} for split in order}
    folder = make(tmp_path, corpus | {"splits": {**cut, "train": corpus["splits"]["train"]}})
    left = [f"train de {n}" for n in range(20)]
    for split in ("valid", "test", "test_b"):
        chosen = left[every[split] - 1 :: every[split]]
        assert list(read_lines(folder / f"{split}.de")) == chosen
        left = [line for line in left if line not in chosen]
    assert list(read_lines(folder / "train.de")) == left
    pairs = {"train": 10, "valid": 4, "test": 3, "test_b": 3}
    assert read_json(folder / "text.json")["pairs"] == pairs


def test_a_part_of_a_corpus_is_made_of_its_splits(tmp_path: Path) -> None:
    corpus = as_corpus(
        corpus_of(tmp_path) | {"expected": {"text": {"train": 3, "test": 3}, "clean": {"test": 3}}}
    )
    part = text_part(corpus)
    assert split_names(part) == ["train", "valid"]
    assert part.as_written()["expected"] == {"text": {"train": 3}, "clean": {}}
    assert split_names(text_part(corpus, "test")) == ["test"]
    assert names_of_tests(corpus) == ["test"]
    assert split_names(corpus) == ["train", "valid", "test"]
    assert folder_of("toy", "valid") == Path("results/corpora/toy")
    assert folder_of("toy", "test_2017") == Path("results/corpora/toy/tests/test_2017")


def test_invalid_utf8_names_file_and_line(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path)
    (tmp_path / "data" / "valid.de").write_bytes(b"gut\nsch\xf6n\ngut\n")
    with told("valid.de", "line 2", "UTF-8", "byte 4"):
        make(tmp_path, corpus)
    assert list((tmp_path / "out").iterdir()) == []


def test_local_files_are_copied_and_described(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path)
    packed = tmp_path / "elsewhere.gz"
    packed.write_bytes(gzip.compress((tmp_path / "data" / "test.de").read_bytes()))
    corpus["splits"]["test"]["files"]["de"] = str(packed)  # an absolute path
    folder = make(tmp_path, corpus)
    assert sorted(path.name for path in folder.glob("[!.]*")) == sorted(
        [f"{s}.{code}" for s in ("train", "valid", "test") for code in ("en", "de")] + ["text.json"]
    )
    text = (folder / "test.de").read_bytes()
    assert text == (tmp_path / "data" / "test.de").read_bytes()
    facts = json.loads((folder / "text.json").read_text())
    assert facts["pairs"] == {"train": 3, "valid": 3, "test": 3}
    assert facts["sha256"]["test.de"] == hashlib.sha256(text).hexdigest()
    assert facts["read_from"]["test.de"] == [str(packed)]
    assert local_files(as_corpus(corpus), tmp_path)["splits.test.files.de"] == packed


def test_unequal_sides_name_both_files_and_counts(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path)
    with (tmp_path / "data" / "test.de").open("a") as file:
        file.write("one more\n")
    sides = f"{tmp_path}/data/test.en", "3 lines", f"{tmp_path}/data/test.de", "4"
    with told("config/corpora/toy.yaml", "splits.test", *sides):
        make(tmp_path, corpus)
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(("lines", "key"), [(3, "splits.valid.files.en"), (0, "splits.train")])
def test_a_missing_file_and_an_empty_split(tmp_path: Path, lines: int, key: str) -> None:
    corpus = corpus_of(tmp_path, lines)
    if lines:
        (tmp_path / "data/valid.en").unlink()
    with told(key):
        make(tmp_path, corpus)


def test_expected_pairs_are_checked(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path)
    corpus["splits"]["train"]["pairs"] = 3
    make(tmp_path, corpus)
    corpus["splits"]["train"]["pairs"] = 4
    with told("splits.train.pairs", "4", "3"):
        make(tmp_path, corpus)
    assert (tmp_path / "out" / "text" / "text.json").exists()  # the earlier result stays
    del corpus["splits"]["train"]["pairs"]
    corpus["splits"]["test"]["every"] = 10
    with told("splits.test.every", "10"):
        make(tmp_path, corpus)


def test_urls_come_through_the_mirror(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path)
    mirror = tmp_path / "mirror"
    for split, description in corpus["splits"].items():
        urls, sums = {}, {}
        for language in description.pop("files"):
            content = (tmp_path / "data" / f"{split}.{language}").read_bytes()
            path = mirror / "data.example" / f"{split}.{language}.gz"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(gzip.compress(content))
            urls[language] = f"https://data.example/{split}.{language}"
            sums[language] = hashlib.sha256(content).hexdigest()
        description.update(urls=urls, sha256=sums)
    folder = make(tmp_path, corpus, mirror)
    assert (folder / "train.en").read_text() == "train en 0\ntrain en 1\ntrain en 2\n"
    assert read_json(folder / "text.json")["origin"] == "urls"
    corpus["splits"]["train"]["sha256"]["de"] = "0" * 64
    with told("splits.train.urls.de"):
        make(tmp_path, corpus, mirror)


def test_pairs_of_unequal_files(tmp_path: Path) -> None:
    folder = tmp_path / "results/corpora/toy/text"
    with atomic_directory(folder) as partial:
        write_lines(partial / "train.en", ["a", "b"])
        write_lines(partial / "train.de", ["a"])
    with told("train.en", "2 lines", "train.de", "1", "results/corpora/toy/text"):
        list(read_pairs(folder, "train", "en", "de"))


def test_full_disk_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = corpus_of(tmp_path)

    full = Mock(side_effect=OSError(errno.ENOSPC, "No space left on device"))
    monkeypatch.setattr(module, "check_expected", full)
    with told("text", "disk is full"):
        make(tmp_path, corpus)
    assert list((tmp_path / "out").iterdir()) == []
