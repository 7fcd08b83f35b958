import json
from pathlib import Path
from typing import Any

import pytest

from nat.data.clean import clean_folder, fault, normaliser
from nat.data.text import read_lines, write_lines
from nat.errors import UserError

OPTIONS = {"lowercase": False, "normalise_punctuation": True, "max_tokens": 10, "max_ratio": 2.0}
PAIRS = [
    ("A man  walks .", "Ein Mann geht ."),
    ("", "leer"),
    (" \u00a0\u200a ", "leer"),
    ("\x07", "leer"),
    ("word " * 5000, "Wort " * 5000),
    ("one two three", "eins"),
    ("“quoted”", "„zitiert“"),
]


def write(folder: Path, pairs: dict[str, list[tuple[str, str]]]) -> dict[str, Any]:
    folder.mkdir()
    for split, rows in pairs.items():
        write_lines(folder / f"{split}.en", [row[0] for row in rows])
        write_lines(folder / f"{split}.de", [row[1] for row in rows])
    splits = {split: {"pairs": len(rows)} for split, rows in pairs.items()}
    return {"source": "en", "target": "de", "splits": splits, "preprocessing": OPTIONS}


def test_only_training_pairs_are_dropped_and_all_are_counted(tmp_path: Path) -> None:
    corpus = write(tmp_path / "text", {"train": PAIRS, "valid": PAIRS[:1], "test": PAIRS})
    output = tmp_path / "clean"
    clean_folder(corpus, tmp_path / "text", output)
    counts = json.loads((output / "clean.json").read_text())["splits"]
    reasons = {"empty": 3, "too_long": 1, "ratio": 1}
    assert counts["train"] == {"read": 7, "kept": 2, "dropped": reasons}
    assert counts["test"] == {"read": 7, "kept": 7, "faulty": reasons}
    assert list(read_lines(output / "train.en")) == ["A man walks .", '"quoted"']
    assert list(read_lines(output / "train.de")) == ["Ein Mann geht .", '"zitiert"']
    kept = list(read_lines(output / "test.en"))
    assert kept[:4] == ["A man walks .", "", "", ""]
    assert len(kept[4].split()) == 5000
    assert len(list(read_lines(output / "test.de"))) == 7


def test_nothing_left_to_train(tmp_path: Path) -> None:
    corpus = write(tmp_path / "text", {"train": PAIRS[1:6], "valid": PAIRS[:1]})
    with pytest.raises(UserError, match=r"none of the 5 training pairs .*max_tokens is 10"):
        clean_folder(corpus, tmp_path / "text", tmp_path / "clean")
    assert [path.name for path in tmp_path.iterdir()] == ["text"]


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("a b", "c", None),
        ("a b c", "d", "ratio"),
        ("d", "a b c", "ratio"),
        ("a " * 10, "b " * 10, None),
        ("a " * 11, "b " * 10, "too_long"),
        ("a", " ", "empty"),
    ],
)
def test_faults(source: str, target: str, expected: str | None) -> None:
    assert fault(source, target, max_tokens=10, max_ratio=2.0) == expected


def test_normalisation_is_optional() -> None:
    plain = normaliser("en", lowercase=False, normalise_punctuation=False)
    assert plain(" “It’s”\tME\u3000! ") == "“It’s” ME !"
    lowered = normaliser("en", lowercase=True, normalise_punctuation=True)
    assert lowered("“It’s”  ME !") == '"it\'s" me !'
