"""Subwords: learned, applied, merged back; the folder `bpe` of a corpus; corrupted sources."""

from pathlib import Path
from typing import Any

import pytest

import nat.data.subwords as subwords_module
from nat.data.corpus import Corpus, Corruption
from nat.data.corpus_parts import part_of
from nat.data.lines import read_lines
from nat.data.raw_text import bpe_splitter, merge
from nat.data.subwords import (
    apply_bpe,
    bpe_folder,
    corrupt_lines,
    learn,
    splitter_at,
)
from nat.data.vocabulary import SPECIALS, Vocabularies, Vocabulary
from nat.options import validated
from tests.made_up_corpus import as_corpus, write_text
from tests.messages import told

LINES = ["low lower lowest", "new newer newest", "wide wider widest", "low new wide", ""] * 3
GERMAN = ["neu neuer neueste <mask>", "weit", "", "niedrig", "a"] * 3
JAPANESE = ["東京は日本の首都です。", "私は東京に住んでいます。", "日本の夏は暑いです。"] * 8
ENGLISH = ["Tokyo is the capital of Japan.", "I live in Tokyo.", "It is hot in Japan."] * 8


@pytest.mark.parametrize(
    ("subwords", "text"),
    [
        ("Haus@@ tür ist zu", "Haustür ist zu"),
        ("zu Haus@@", "zu Haus"),
        ("a@@ b@@ c@@", "abc"),
        ("@@", ""),
        ("mail@@ @ host", "mail@ host"),
        ("\u2581 \uffed東京 \uffedに", "東京に"),
        ("Hello \u2581 \uffed東京 wor \uffedld", "Hello 東京 world"),
        ("\uffedld of", "ld of"),
    ],
)
def test_merge_of_what_a_model_may_write(subwords: str, text: str) -> None:
    assert merge(subwords) == text


def test_learning(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert bpe_splitter(learn(LINES, 0))("low lowest unseen") == "low lowest unseen"
    # the most frequent pair comes first
    assert learn(["xy xyz", "xyz a", "xyz"], 2) == "#version: 0.2\ny z</w>\nx yz</w>\n"
    learn(LINES, 1000)
    assert capfd.readouterr() == ("", "")
    for nothing in ([], [""], ["a b c"], ["ab cd"]):
        with told("training text"):
            learn(nothing, 10)
    rare = [f"qz{letter}" for letter in "abc"]
    assert "q z" in learn([*LINES, *rare], 60)
    monkeypatch.setattr(subwords_module, "MOST_TYPES", 9)
    assert learn([*LINES, *rare], 60) == learn(LINES, 60)


@pytest.mark.parametrize(
    ("name", "content", "parts"),
    [
        ("codes", None, ["does not exist"]),
        ("codes", b"#version: 0.2\na\xe9 b\n", ["damaged", "utf-8"]),
        ("codes", b"#version: new\na b\n", ["damaged", "'new'"]),
        ("codes", b"#version: 0.2\na b\na b c\n", ["damaged", "line 3", "a b c"]),
        ("pieces.model", b"no model", ["damaged"]),
        ("pieces.model", b"", ["damaged"]),
    ],
)
def test_what_does_not_hold_subwords(
    name: str,
    content: bytes | None,
    parts: list[str],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "results/corpora/toy/train/bpe" / name
    path.parent.mkdir(parents=True)
    if content is not None:
        path.write_bytes(content)
    with told(name, *parts, f"snakemake --force results/corpora/toy/train/bpe/{name}"):
        splitter_at(path)
    assert capfd.readouterr().err == ""


def corpus_of(folder: Path, sides: dict[str, list[str]], **keys: Any) -> Corpus:
    """A corpus whose splits are the same few lines, tokenised in a folder."""
    source, target = sides
    write_text(folder, (source, target), train=[*sides.values()], test=[*sides.values()])
    splits: dict[str, Any] = {"train": {}, "test": {}}
    return as_corpus({"source": source, "target": target, "splits": splits, **keys})


@pytest.mark.parametrize("merges", [20, {"en": 4, "de": 20}])
def test_folder(tmp_path: Path, merges: Any) -> None:
    tokens, output, sides = tmp_path / "tokens", tmp_path / "bpe", {"en": LINES, "de": GERMAN}
    corpus = corpus_of(tokens, sides, preprocessing={"bpe_merges": merges})
    bpe_folder(corpus, tokens, output)
    parts = (".source", ".target") if isinstance(merges, dict) else ("",)
    vocabularies = [f"vocabulary{part}.txt" for part in parts]
    assert {path.name for path in output.glob("*.txt")} == {*vocabularies}
    loaded, seen = Vocabularies.load(output), {}
    for (side, lines), part in zip(sides.items(), (*parts, ""), strict=False):
        own = (lines, merges[side]) if isinstance(merges, dict) else ([*LINES, *GERMAN], merges)
        split = bpe_splitter(learn(*own))
        assert splitter_at(output / f"codes{part}")(" ".join(lines)) == split(" ".join(lines))
        for name in ("train", "test"):
            subwords = list(read_lines(output / f"{name}.{side}"))
            assert list(map(merge, subwords)) == lines
            assert subwords == list(map(split, lines))
        seen[side] = set(" ".join(subwords).split()) | set(SPECIALS)
    both = seen["en"] | seen["de"]
    assert set(loaded.source.symbols) == (both if loaded.is_joint else seen["en"])
    assert set(loaded.target.symbols) == (both if loaded.is_joint else seen["de"])
    counts = loaded.target.counts[len(SPECIALS) :]
    assert counts == sorted(counts, reverse=True)
    apply_bpe(part_of(corpus, ["test"]), tokens, output, tmp_path / "test")
    for name in ("test.en", "test.de", *vocabularies):
        assert (tmp_path / "test" / name).read_bytes() == (output / name).read_bytes()


def test_folder_of_pieces_by_two_processes(tmp_path: Path) -> None:
    tokens, output = tmp_path / "tokens", tmp_path / "bpe"
    options = {"sentencepiece": 80}
    corpus = corpus_of(tokens, {"ja": JAPANESE, "en": ENGLISH}, preprocessing=options)
    bpe_folder(corpus, tokens, output, threads=2)
    lines = list(read_lines(output / "test.ja"))
    assert list(map(merge, lines)) == JAPANESE
    assert len(lines[0].split()) > 1 and not lines[0].startswith("\uffed")
    assert len(Vocabulary.load(output / "vocabulary.txt")) - len(SPECIALS) <= 80


def test_the_sizes_of_vocabularies_are_checked(tmp_path: Path) -> None:
    sizes = {"source": {"about": 40, "tolerance": 1}, "target": 7}
    keys = {"preprocessing": {"bpe_merges": {"ja": 5, "en": 5}}, "expected": {"vocabulary": sizes}}
    corpus = corpus_of(tmp_path / "tokens", {"ja": JAPANESE, "en": ENGLISH}, **keys)
    with told("expected.vocabulary.target"):
        bpe_folder(corpus, tmp_path / "tokens", tmp_path / "bpe")


# Corruption

SYMBOLS = [f"s{number}" for number in range(500)]
CLEAN = [" ".join(f"w{(7 * n + k) % 40}" for k in range(10)) for n in range(4500)]


def corrupt(lines: list[str], split: str = "train", **options: float) -> list[str]:
    chosen = validated(Corruption, {"replace": 0.5, "drop": 0.0, "seed": 1} | options)
    return list(corrupt_lines(lines, SYMBOLS, chosen, split))


def test_half_of_the_tokens_are_replaced_in_place_and_a_tenth_is_dropped() -> None:
    corrupted = [line.split() for line in corrupt(CLEAN)]
    assert [len(line) for line in corrupted] == [10] * 4500
    changed = [
        symbol
        for line, other in zip(corrupted, CLEAN, strict=True)
        for symbol, clean in zip(line, other.split(), strict=True)
        if symbol != clean
    ]
    assert abs(len(changed) / 45_000 - 0.5) < 0.01
    counts = [changed.count(symbol) for symbol in SYMBOLS]
    assert sum(counts) == len(changed)
    assert min(counts) > 15  # 45 are due: uniform over the vocabulary
    tokens = sum(len(line.split()) for line in corrupt(CLEAN, drop=0.1))
    assert abs(tokens / 45_000 - 0.9) < 0.01
    # a line keeps a token, and an empty one stays empty
    assert corrupt(["a b c", "", "a"], replace=0.0, drop=1.0) == ["a", "", "a"]
    assert corrupt(CLEAN[:9]) == corrupt(CLEAN[:9])
    assert corrupt(CLEAN[:9]) != corrupt(CLEAN[:9], split="valid")
    assert corrupt(CLEAN[:9]) != corrupt(CLEAN[:9], seed=2)


def test_a_corrupted_source_consists_of_subwords_of_the_target(tmp_path: Path) -> None:
    options = {"bpe_merges": 5, "corruption": {"replace": 0.5, "drop": 0.0, "seed": 1}}
    sides = {"ja": JAPANESE, "en": ENGLISH}
    corpus = corpus_of(tmp_path / "tokens", sides, preprocessing=options)
    bpe_folder(corpus, tmp_path / "tokens", tmp_path / "bpe")
    for split in ("train", "test"):
        noisy, clean = (
            " ".join(read_lines(tmp_path / f"bpe/{split}.{side}")).split() for side in ("ja", "en")
        )
        assert set(noisy) <= set(clean)
        same = sum(one == other for one, other in zip(noisy, clean, strict=True))
        assert 0.35 < same / len(clean) < 0.65
