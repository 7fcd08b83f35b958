from pathlib import Path
from typing import Any

import pytest

from nat.data.bpe import Segmenter, bpe_folder, learn, merge
from nat.data.text import read_lines, write_lines
from nat.data.vocabulary import SPECIALS, UNK, Vocabulary
from nat.errors import UserError

LINES = ["low lower lowest", "new newer newest", "wide wider widest", "low new wide", ""] * 3


def test_segments_are_merged_back() -> None:
    segmenter = Segmenter(learn(LINES, 10))
    for line in [*LINES, "lowing unseen größer 東京", "@ @@ a@@b &amp; <mask>", "x"]:
        split = segmenter.split(line)
        assert merge(split) == line
    assert "@@" in segmenter.split("unseen")


def test_most_frequent_pair_is_merged_first() -> None:
    assert learn(["xy xyz", "xyz a", "xyz"], 2) == "#version: 0.2\ny z</w>\nx yz</w>\n"


@pytest.mark.parametrize(
    ("subwords", "text"),
    [
        ("Haus@@ tür ist zu", "Haustür ist zu"),
        ("zu Haus@@", "zu Haus"),
        ("a@@ b@@ c@@", "abc"),
        ("@@", ""),
        ("", ""),
        ("mail@@ @ host", "mail@ host"),
    ],
)
def test_merge(subwords: str, text: str) -> None:
    assert merge(subwords) == text


def test_no_merges_keep_words_whole() -> None:
    codes = learn(LINES, 0)
    assert Segmenter(codes).split("low lowest unseen") == "low lowest unseen"


@pytest.mark.parametrize("lines", [[], [""], ["a b c"], ["ab cd"]])
def test_text_without_anything_to_merge(lines: list[str]) -> None:
    with pytest.raises(UserError, match="training text"):
        learn(lines, 10)


def test_learning_is_silent(capfd: pytest.CaptureFixture[str]) -> None:
    learn(LINES, 1000)
    assert capfd.readouterr() == ("", "")


def write(folder: Path) -> dict[str, Any]:
    folder.mkdir()
    write_lines(folder / "train.en", LINES)
    write_lines(folder / "train.de", ["neu neuer neueste <mask>", "weit", "", "niedrig", "a"] * 3)
    write_lines(folder / "test.en", ["newest 東", "", "wide"])
    write_lines(folder / "test.de", ["neuste", "", "weiter"])
    return {
        "source": "en",
        "target": "de",
        "splits": {"train": {}, "test": {}},
        "preprocessing": {"bpe_merges": 20},
    }


def test_folder(tmp_path: Path) -> None:
    corpus = write(tmp_path / "tokens")
    bpe_folder(corpus, tmp_path / "tokens", tmp_path / "bpe")
    names = ["codes", "test.de", "test.en", "train.de", "train.en", "vocabulary.txt"]
    assert sorted(path.name for path in (tmp_path / "bpe").iterdir()) == names
    for name in ("train.en", "train.de", "test.en", "test.de"):
        subwords = list(read_lines(tmp_path / "bpe" / name))
        assert [merge(line) for line in subwords] == list(read_lines(tmp_path / "tokens" / name))
    vocabulary = Vocabulary.load(tmp_path / "bpe" / "vocabulary.txt")
    trained = [*read_lines(tmp_path / "bpe/train.en"), *read_lines(tmp_path / "bpe/train.de")]
    seen = {symbol for line in trained for symbol in line.split()}
    assert set(vocabulary.symbols) == seen - set(SPECIALS) | set(SPECIALS)
    assert vocabulary.counts[len(SPECIALS) :] == sorted(vocabulary.counts[6:], reverse=True)
    assert vocabulary.encode("東") == [UNK]
    assert Segmenter.load(tmp_path / "bpe" / "codes").split("newest") == next(
        read_lines(tmp_path / "bpe" / "test.en")
    ).removesuffix(" 東")


def test_missing_codes(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="codes .* do not exist"):
        Segmenter.load(tmp_path / "codes")
