from pathlib import Path
from typing import Any

import pytest
from made_up_corpus import as_corpus

import nat.data.bpe as module
from nat.data.bpe import (
    Pieces,
    Segmenter,
    apply_bpe,
    bpe_folder,
    learn,
    learn_pieces,
    merge,
    segments_at,
)
from nat.data.corpus import Corpus, Expected
from nat.data.lines import read_lines, write_lines
from nat.data.splits import part_of
from nat.data.vocabulary import SPECIALS, UNK, Vocabularies, Vocabulary
from tests.messages import told

OF_TOY = "results/corpora/toy/bpe"
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
    with told("training text"):
        learn(lines, 10)


def test_learning_is_silent(capfd: pytest.CaptureFixture[str]) -> None:
    learn(LINES, 1000)
    assert capfd.readouterr() == ("", "")


def write(folder: Path) -> Corpus:
    folder.mkdir()
    write_lines(folder / "train.en", LINES)
    write_lines(folder / "train.de", ["neu neuer neueste <mask>", "weit", "", "niedrig", "a"] * 3)
    write_lines(folder / "test.en", ["newest 東", "", "wide"])
    write_lines(folder / "test.de", ["neuste", "", "weiter"])
    return as_corpus(
        {
            "source": "en",
            "target": "de",
            "splits": {"train": {}, "test": {}},
            "preprocessing": {"bpe_merges": 20},
        }
    )


def test_folder(tmp_path: Path) -> None:
    corpus = write(tmp_path / "tokens")
    bpe_folder(corpus, tmp_path / "tokens", tmp_path / "bpe")
    names = ["codes", "test.de", "test.en", "train.de", "train.en", "vocabulary.txt"]
    assert sorted(path.name for path in (tmp_path / "bpe").glob("[!.]*")) == names
    for name in ("train.en", "train.de", "test.en", "test.de"):
        subwords = list(read_lines(tmp_path / "bpe" / name))
        assert [merge(line) for line in subwords] == list(read_lines(tmp_path / "tokens" / name))
    vocabulary = Vocabulary.load(tmp_path / "bpe" / "vocabulary.txt")
    trained = [*read_lines(tmp_path / "bpe/train.en"), *read_lines(tmp_path / "bpe/train.de")]
    seen = {symbol for line in trained for symbol in line.split()}
    assert set(vocabulary.symbols) == seen - set(SPECIALS) | set(SPECIALS)
    assert vocabulary.counts[len(SPECIALS) :] == sorted(vocabulary.counts[6:], reverse=True)
    assert vocabulary.encode("東") == [UNK]
    assert segments_at(tmp_path / "bpe" / "codes").split("newest") == next(
        read_lines(tmp_path / "bpe" / "test.en")
    ).removesuffix(" 東")


def test_folder_with_separate_vocabularies(tmp_path: Path) -> None:
    write(tmp_path / "tokens")
    separate = {"preprocessing": {"bpe_merges": {"en": 4, "de": 20}}}
    corpus = as_corpus(
        {"source": "en", "target": "de", "splits": {"train": {}, "test": {}}, **separate}
    )
    bpe_folder(corpus, tmp_path / "tokens", tmp_path / "bpe")
    names = [
        *("codes.source", "codes.target", "test.de", "test.en", "train.de", "train.en"),
        *("vocabulary.source.txt", "vocabulary.target.txt"),
    ]
    assert sorted(path.name for path in (tmp_path / "bpe").glob("[!.]*")) == names
    vocabularies = Vocabularies.load(tmp_path / "bpe")
    for side, vocabulary in (("en", vocabularies.source), ("de", vocabularies.target)):
        subwords = list(read_lines(tmp_path / f"bpe/train.{side}"))
        assert [merge(line) for line in subwords] == list(
            read_lines(tmp_path / f"tokens/train.{side}")
        )
        seen = {symbol for line in subwords for symbol in line.split()}
        assert set(vocabulary.symbols) == seen | set(SPECIALS)
        merges = corpus.preprocessing.bpe_merges[side]
        codes = learn(read_lines(tmp_path / f"tokens/train.{side}"), merges)
        assert subwords == [Segmenter(codes).split(merge(line)) for line in subwords]
    apply_bpe(part_of(corpus, ["test"]), tmp_path / "tokens", tmp_path / "bpe", tmp_path / "test")
    for name in ("test.en", "test.de", "vocabulary.source.txt", "vocabulary.target.txt"):
        assert (tmp_path / "test" / name).read_bytes() == (tmp_path / "bpe" / name).read_bytes()


@pytest.mark.parametrize(
    ("name", "content", "parts"),
    [
        ("codes", None, ["does not exist"]),
        ("codes", b"#version: 0.2\na\xe9 b\n", ["BPE codes", "utf-8"]),
        ("codes", b"#version: new\na b\n", ["BPE codes", "'new'"]),
        ("codes", b"#version: 0.2\na b\na b c\n", ["BPE codes", "line 3", "a b c"]),
        ("codes", b"", ["BPE codes"]),
        ("pieces.model", None, ["does not exist"]),
        ("pieces.model", b"no model", ["SentencePiece"]),
        ("pieces.model", b"", ["SentencePiece"]),
    ],
)
def test_what_does_not_hold_subwords(
    name: str,
    content: bytes | None,
    parts: list[str],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "results/corpora/toy/bpe" / name
    path.parent.mkdir(parents=True)
    if content is not None:
        path.write_bytes(content)
    with told(name, *parts, f"snakemake --force {OF_TOY}/{name}"):
        segments_at(path)
    assert capfd.readouterr().err == ""
    path.unlink(missing_ok=True)
    path.mkdir()
    with told(name, "cannot be read"):
        segments_at(path)


def test_subwords_from_elsewhere_that_are_none_name_their_key(tmp_path: Path) -> None:
    write(tmp_path / "tokens")
    (tmp_path / "given").mkdir()
    (tmp_path / "given/codes").write_text("<html>please log in</html>")
    files = {"codes": "data/codes", "vocabulary": "data/dict.txt"}
    corpus = as_corpus(
        {
            "source": "en",
            "target": "de",
            "splits": {"train": {}, "test": {}},
            "subwords": {"files": files},
        }
    )
    with told("given/codes", "subwords"):
        bpe_folder(corpus, tmp_path / "tokens", tmp_path / "bpe", given=tmp_path / "given")
    assert not (tmp_path / "bpe").exists()


JAPANESE = ["東京は日本の首都です。", "私は東京に住んでいます。", "日本の夏は暑いです。"] * 8
ENGLISH = ["Tokyo is the capital of Japan.", "I live in Tokyo.", "It is hot in Japan."] * 8


def test_pieces_are_merged_back_to_text() -> None:
    pieces = Pieces(learn_pieces([*JAPANESE, *ENGLISH], 80))
    for line in [*JAPANESE[:3], *ENGLISH[:3], "Tokyo 東京 is hot です", "夏", "", "unseen 𠮷!"]:
        assert merge(pieces.split(line)) == line
    assert not pieces.split(JAPANESE[0]).startswith("\uffed")
    assert len(pieces.split(JAPANESE[0]).split()) > 1


@pytest.mark.parametrize(
    ("subwords", "text"),
    [
        ("\u2581 \uffed東京 \uffedに", "東京に"),
        ("Hello \u2581 \uffed東京 wor \uffedld", "Hello 東京 world"),
        ("\uffedld of", "ld of"),
    ],
)
def test_merge_of_pieces(subwords: str, text: str) -> None:
    assert merge(subwords) == text


def corpus_of(folder: Path, preprocessing: dict[str, Any]) -> Corpus:
    folder.mkdir()
    for split in ("train", "test"):
        write_lines(folder / f"{split}.ja", JAPANESE)
        write_lines(folder / f"{split}.en", ENGLISH)
    return as_corpus(
        {
            "source": "ja",
            "target": "en",
            "splits": {"train": {}, "test": {}},
            "preprocessing": preprocessing,
        }
    )


@pytest.mark.parametrize("threads", [1, 2])
def test_folder_of_pieces(tmp_path: Path, threads: int) -> None:
    corpus = corpus_of(tmp_path / "tokens", {"sentencepiece": 80})
    bpe_folder(corpus, tmp_path / "tokens", tmp_path / "bpe", threads)
    assert {"pieces.model", "vocabulary.txt"} < {path.name for path in (tmp_path / "bpe").iterdir()}
    assert [merge(line) for line in read_lines(tmp_path / "bpe" / "test.ja")] == JAPANESE
    vocabulary = Vocabulary.load(tmp_path / "bpe" / "vocabulary.txt")
    assert len(vocabulary) - len(SPECIALS) <= 80


def test_corrupted_source(tmp_path: Path) -> None:
    corruption = {"replace": 0.5, "drop": 0.0, "seed": 1}
    corpus = corpus_of(tmp_path / "tokens", {"bpe_merges": 5, "corruption": corruption})
    bpe_folder(corpus, tmp_path / "tokens", tmp_path / "bpe")
    for split in ("train", "test"):
        noisy = [line.split() for line in read_lines(tmp_path / "bpe" / f"{split}.ja")]
        clean = [line.split() for line in read_lines(tmp_path / "bpe" / f"{split}.en")]
        assert [len(line) for line in noisy] == [len(line) for line in clean]
        same = sum(
            a == b
            for one, two in zip(noisy, clean, strict=True)
            for a, b in zip(one, two, strict=True)
        )
        assert 0.35 < same / sum(map(len, clean)) < 0.65
    symbols = {token for line in noisy for token in line}
    assert symbols <= {token for line in clean for token in line}


def test_size_of_the_vocabulary_is_checked(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path / "tokens", {"bpe_merges": 5})
    expected = Expected(vocabulary={"size": 7})
    corpus = corpus.model_copy(update={"expected": expected})
    with told("expected.vocabulary.size"):
        bpe_folder(corpus, tmp_path / "tokens", tmp_path / "bpe")


def test_the_sizes_of_separate_vocabularies_are_checked(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path / "tokens", {"bpe_merges": {"ja": 5, "en": 5}})
    expected = Expected(vocabulary={"source": {"about": 40, "tolerance": 1}, "target": 7})
    corpus = corpus.model_copy(update={"expected": expected})
    with told("expected.vocabulary.target"):
        bpe_folder(corpus, tmp_path / "tokens", tmp_path / "bpe")


def test_the_most_frequent_types_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    rare = [f"qz{letter}" for letter in "abc"]
    whole = learn([*LINES, *rare], 60)
    assert "q z" in whole
    monkeypatch.setattr(module, "MOST_TYPES", 9)
    assert learn([*LINES, *rare], 60) == learn(LINES, 60)
