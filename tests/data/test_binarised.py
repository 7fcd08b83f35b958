import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nat.data.binarised import BinarisedText, write_binarised
from nat.data.corpus import Corpus
from nat.data.lines import read_lines
from nat.data.splits import folder_of
from nat.data.subwords import merge
from nat.data.summary import summarise
from nat.data.vocabulary import SPECIALS, Vocabularies, Vocabulary
from nat.files import atomic_write_text
from tests.made_up_corpus import as_corpus, corpus_file, prepare_corpus
from tests.messages import told

LINES = ["a b c", "", "c c unseen a", "b", ""]


def test_round_trip(tmp_path: Path) -> None:
    vocabulary = Vocabulary.from_lines(["a a b c"])
    assert write_binarised(iter(LINES), vocabulary, tmp_path / "train.en") == len(LINES)
    text = BinarisedText(tmp_path / "train.en")
    assert len(text) == len(LINES)
    assert text.lengths.tolist() == [3, 0, 4, 1, 0]
    known = [line.replace("unseen", "<unk>") for line in LINES]
    assert [vocabulary.decode(text[number].tolist()) for number in range(len(text))] == known
    assert text.tokens.tolist() == [token for line in LINES for token in vocabulary.encode(line)]
    for wrong in (-1, len(LINES)):
        with pytest.raises(IndexError):
            text[wrong]
    for nothing in ([], ["", ""]):
        write_binarised(nothing, vocabulary, tmp_path / "x")
        assert BinarisedText(tmp_path / "x").lengths.tolist() == [0] * len(nothing)


@pytest.mark.parametrize(
    ("size", "dtype"), [(256, np.uint8), (257, np.uint16), (65536, np.uint16), (65537, np.uint32)]
)
def test_smallest_type_that_fits(tmp_path: Path, size: int, dtype: type) -> None:
    vocabulary = Vocabulary(f"w{number}" for number in range(size - len(SPECIALS)))
    write_binarised([vocabulary.symbols[-1]], vocabulary, tmp_path / "x")
    text = BinarisedText(tmp_path / "x")
    assert text.tokens.dtype == dtype
    assert text[0].tolist() == [size - 1]


def test_files_that_do_not_belong_together(tmp_path: Path) -> None:
    write_binarised(["a b", "b"], Vocabulary(["a", "b"]), tmp_path / "x")
    for record in tmp_path.glob(".*"):
        record.unlink()
    for wrong in ([0, 2, 4], [0, 3, 1, 3], [[0, 3]], [1, 3], []):
        np.save(tmp_path / "x.offsets.npy", np.array(wrong, dtype=np.int64))
        with told("x.tokens.npy", "x.offsets.npy"):
            BinarisedText(tmp_path / "x")
    whole = (tmp_path / "x.tokens.npy").read_bytes()
    for damaged in (whole[:-1], whole[:20], b"", b"no array of numpy"):
        (tmp_path / "x.tokens.npy").write_bytes(damaged)
        with told("x.tokens.npy", "damaged") as error:
            BinarisedText(tmp_path / "x")
        assert "pickle" not in str(error.value)  # numpy advises to read it unsafely


def prepare(root: Path, bpe_merges: Any = 15) -> tuple[Corpus, Path]:
    content = corpus_file("en", "de")
    for split, count in (("train", 60), ("valid", 5), ("test", 4)):
        for language, words in (("en", "the dog, a cat"), ("de", "der Hund, eine Katze")):
            lines = [f"{words} {number % 9}." for number in range(count)]
            lines[1] = ""
            atomic_write_text(root / f"{split}.{language}", "\n".join(lines) + "\n")
    content["preprocessing"] |= {"tokeniser": "moses", "bpe_merges": bpe_merges}
    corpus = as_corpus(content)
    return corpus, prepare_corpus("toy", corpus, root)


def test_whole_preparation_and_summary(tmp_path: Path) -> None:
    corpus, folder = prepare(tmp_path)
    vocabulary = Vocabulary.load(folder / "binarised" / "vocabulary.txt")
    for name in ("train.en", "train.de", "valid.en", "test.de"):
        of_split = folder_of("toy", name.split(".")[0], folder.parent)
        text = BinarisedText(of_split / "binarised" / name)
        back = [merge(vocabulary.decode(text[number].tolist())) for number in range(len(text))]
        assert back == list(read_lines(of_split / "tokens" / name))
    summary = summarise("toy", corpus, folder)
    assert json.loads(json.dumps(summary)) == summary
    train, test = summary["splits"]["train"], summary["splits"]["test"]
    assert (train["read"], train["pairs"], train["dropped"]["empty"]) == (60, 59, 1)
    assert (test["pairs"], test["faulty"]["empty"], test["languages"]["de"]["empty"]) == (4, 1, 1)
    assert (test["perfect"]["sacrebleu"], "perfect" in train) == (100, False)
    assert train["languages"]["en"]["words"] == 59 * 7
    subwords = [len(line.split()) for line in read_lines(folder / "bpe" / "train.de")]
    described = train["languages"]["de"]
    assert described["tokens"] == sum(subwords)
    assert described["max_length"] == max(subwords)
    assert described["mean_length"] == pytest.approx(sum(subwords) / 59, abs=1e-3)
    assert described["unknown_rate"] == 0
    assert summary["vocabulary"]["size"] == len(vocabulary)
    assert summary["vocabulary"]["merges"] == 15


def test_summary_of_separate_vocabularies(tmp_path: Path) -> None:
    corpus, folder = prepare(tmp_path, {"en": 5, "de": 15})
    summary = summarise("toy", corpus, folder)
    of_sides = summary["vocabulary"]
    for split in ("valid", "test"):
        of_split = folder_of("toy", split, folder.parent)
        vocabularies = Vocabularies.load(of_split / "binarised")
        assert (of_sides["target"]["size"], of_sides["source"]["size"]) == vocabularies.sizes
        for language, vocabulary in (("en", vocabularies.source), ("de", vocabularies.target)):
            text = BinarisedText(of_split / "binarised" / f"{split}.{language}")
            back = [vocabulary.decode(text[number].tolist()) for number in range(len(text))]
            assert back == list(read_lines(of_split / "bpe" / f"{split}.{language}"))
    assert (of_sides["source"]["merges"], of_sides["target"]["merges"]) == (5, 15)
