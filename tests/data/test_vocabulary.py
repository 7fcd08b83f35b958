from pathlib import Path

import pytest

from nat.data.vocabulary import BLANK, BOS, EOS, MASK, PAD, SPECIALS, UNK, Vocabulary
from tests.messages import told

LINES = ["der Hund@@ e bellt", "der Hund bellt", "e \u00e9 der", ""]


def test_special_symbols_are_fixed() -> None:
    # Every trained model and binarised corpus depends on these numbers.
    assert (PAD, BOS, EOS, UNK, MASK, BLANK) == (0, 1, 2, 3, 4, 5)
    assert Vocabulary([]).symbols == list(SPECIALS)


def test_falling_count_then_symbol() -> None:
    vocabulary = Vocabulary.from_lines(LINES)
    assert vocabulary.symbols[len(SPECIALS) :] == ["der", "bellt", "e", "Hund", "Hund@@", "\u00e9"]
    assert vocabulary.counts[len(SPECIALS) :] == [3, 2, 2, 1, 1, 1]
    assert len(vocabulary) == 12
    for line in LINES:
        assert vocabulary.decode(vocabulary.encode(line)) == line


def test_file_round_trip(tmp_path: Path) -> None:
    vocabulary = Vocabulary.from_lines([*LINES, "\u2581x # 7 \u00b2"])
    vocabulary.save(tmp_path / "vocabulary.txt")
    loaded = Vocabulary.load(tmp_path / "vocabulary.txt")
    assert (loaded.symbols, loaded.counts) == (vocabulary.symbols, vocabulary.counts)
    text = (tmp_path / "vocabulary.txt").read_text(encoding="utf-8")
    assert not any(special in text for special in SPECIALS)
    loaded.save(tmp_path / "again.txt")
    assert (tmp_path / "again.txt").read_bytes() == (tmp_path / "vocabulary.txt").read_bytes()


def test_unknown_and_written_special_symbols_become_unknown() -> None:
    vocabulary = Vocabulary.from_lines(["a <mask> b </s>"])
    assert vocabulary.symbols[len(SPECIALS) :] == ["a", "b"]
    assert vocabulary.encode("a <mask> new </s> b") == [6, UNK, UNK, UNK, 7]


def test_decoding_leaves_out_what_is_no_text() -> None:
    vocabulary = Vocabulary(["a", "b"])
    assert vocabulary.decode([BOS, 6, MASK, UNK, BLANK, 7, EOS, PAD, PAD]) == "a <unk> b"
    assert vocabulary.decode([]) == ""


@pytest.mark.parametrize("line", ["alone", "a x", "a -1", "a \u00b2", " 3"])
def test_wrong_line_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "vocabulary.txt").write_text(f"good 3\n{line}\n", encoding="utf-8")
    with told("vocabulary.txt", "line 2"):
        Vocabulary.load(tmp_path / "vocabulary.txt")


def test_missing_broken_or_double(tmp_path: Path) -> None:
    (tmp_path / "latin.txt").write_bytes(b"\xe9 3\n")
    (tmp_path / "folder.txt").mkdir()
    (tmp_path / "double.txt").write_text("a 3\na 2\n")
    (tmp_path / "special.txt").write_text("<mask> 3\n")
    for name in ("none.txt", "latin.txt", "folder.txt", "double.txt", "special.txt"):
        with told(name):
            Vocabulary.load(tmp_path / name)
