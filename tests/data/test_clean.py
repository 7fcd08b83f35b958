import json
from pathlib import Path
from typing import Any

import pytest
from made_up_corpus import as_corpus
from sacremoses import MosesPunctNormalizer

from nat.data.clean import REASONS, clean_folder, fault, fault_in, normaliser
from nat.data.lines import read_lines, write_lines
from tests.messages import told

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
    clean_folder(as_corpus(corpus), tmp_path / "text", output)
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
    with told("max_tokens 10", "max_ratio"):
        clean_folder(as_corpus(corpus), tmp_path / "text", tmp_path / "clean")
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


@pytest.mark.parametrize(
    ("measure", "step", "expected"),
    [
        ("words", "clean", "ratio"),
        ("words", "tokens", None),
        ("characters", "clean", None),
        ("tokens", "clean", None),
        ("tokens", "tokens", "ratio"),
    ],
)
def test_lengths_are_judged_where_they_are_known(
    measure: str, step: str, expected: str | None
) -> None:
    options = OPTIONS | {"measure": measure, "max_tokens": 20}
    corpus = as_corpus({"source": "en", "target": "de", "preprocessing": options})
    judge = fault_in(corpus.preprocessing, step)
    assert judge("a b c", "a_long_one" if measure != "characters" else "a b") == expected
    assert judge("", "b") == "empty"


def test_processes_and_duplicates(tmp_path: Path) -> None:
    pairs = [(f"s {n % 3000}", f"t {n % 3000} {n // 3000 % 2}") for n in range(6500)]
    corpus = write(tmp_path / "text", {"train": pairs, "test": pairs[:1] * 2})
    corpus["preprocessing"] = OPTIONS | {"drop_duplicates": True}
    clean_folder(as_corpus(corpus), tmp_path / "text", tmp_path / "clean", threads=2)
    counts = json.loads((tmp_path / "clean" / "clean.json").read_text())["splits"]
    assert counts["train"]["kept"] == 6000
    assert counts["train"]["dropped"]["duplicate"] == 500  # a source with another target is none
    assert counts["test"] == {"read": 2, "kept": 2, "faulty": dict.fromkeys(REASONS, 0)}
    kept = list(read_lines(tmp_path / "clean" / "train.en"))
    assert kept == [f"s {n}" for n in range(3000)] * 2


def test_lines_without_special_characters_need_no_rules() -> None:
    lines = [
        'He said "no", (or yes) , 5 % of it: a ; b.',
        "x  y",
        "it''s",
        "„so“ – ‘a’…",
        "a\u00a0: 3\u00a0000",
        "«\u00a0oui\u00a0»",
        "`a'",
        "Plain text, it's 3.5 - or 1/2!?",
        "a\rb",
        'Er sagte "ja".Nein',
    ]
    for language in ("en", "de", "fr", "cs", "ro"):
        library = MosesPunctNormalizer(language)
        ours = normaliser(language, normalise_punctuation=True)
        assert [ours(x) for x in lines] == [" ".join(library.normalize(x).split()) for x in lines]


def test_marks_of_sentencepieces_leave_the_text() -> None:
    assert normaliser("ja", normalise_punctuation=False)("a\u2581b \uffed") == "a_b _"


def test_normalisation_is_optional() -> None:
    plain = normaliser("en", normalise_punctuation=False)
    assert plain(" “It’s”\tME\u3000! ") == "“It’s” ME !"
    changed = normaliser("en", normalise_punctuation=True)
    assert changed("“It’s”  ME !") == '"It\'s" ME !'
