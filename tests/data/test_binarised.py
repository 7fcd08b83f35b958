from pathlib import Path

import numpy as np
import pytest

from nat.data.binarised import BinarisedText, write_binarised
from nat.data.vocabulary import SPECIALS, Vocabulary
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
