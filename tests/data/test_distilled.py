"""Distilled text: as many lines out as in, whatever the teacher could not translate."""

import json
from pathlib import Path
from typing import Any

import pytest

from nat.data.binarised import BinarisedText
from nat.data.distilled import distil, of_teacher
from nat.data.lines import read_lines
from nat.data.translations import write_translations
from nat.data.vocabulary import UNK, Vocabulary
from nat.files import atomic_write_text
from tests.made_up_corpus import as_corpus
from tests.messages import told

CORPUS = as_corpus({"source": "en", "target": "de"})
REFERENCES = ["ein Hund", "eine Ka@@ tze", "ja", "nein nein", "gut"]


def record(number: int, tokens: str, status: str = "ok") -> dict[str, Any]:
    facts = {"score": -1.0, "steps": 1, "status": status}
    return {"id": number, "tokens": tokens, "text": tokens, **facts}


TRANSLATIONS = [
    record(0, "Hund Hund ein"),
    record(1, "", "source longer than 4 positions"),
    record(2, ""),
    record(3, "nein\n<unk> gut"),
    record(4, "", "empty source"),
]


@pytest.fixture
def bpe(tmp_path: Path) -> Path:
    folder = tmp_path / "bpe"
    folder.mkdir()
    atomic_write_text(folder / "train.de", "".join(f"{line}\n" for line in REFERENCES))
    Vocabulary.from_lines(REFERENCES).save(folder / "vocabulary.txt")
    return folder


def make(tmp_path: Path, bpe: Path, translations: list[dict[str, Any]]) -> dict[str, Any]:
    path = tmp_path / "train.jsonl"
    write_translations(path, translations)
    out = tmp_path / "distilled"
    return distil(CORPUS, bpe, of_teacher(path), path, out, made_by={})


def test_lines_stay_where_they_are(tmp_path: Path, bpe: Path) -> None:
    report = make(tmp_path, bpe, TRANSLATIONS)
    out = tmp_path / "distilled"
    lines = list(read_lines(out / "text" / "train.de"))
    assert lines == ["Hund Hund ein", REFERENCES[1], REFERENCES[2], "nein <unk> gut", REFERENCES[4]]
    vocabulary = Vocabulary.load(out / "binarised" / "vocabulary.txt")
    assert vocabulary.symbols == Vocabulary.load(bpe / "vocabulary.txt").symbols
    ids = BinarisedText(out / "binarised" / "train.de")
    assert [ids[number].tolist() for number in range(len(ids))] == [
        vocabulary.encode(line) for line in lines
    ]
    assert UNK in ids[3]
    assert not (out / "binarised" / "train.en.tokens.npy").exists()
    assert report == json.loads((out / "distillation.json").read_text())
    assert report == {
        "translations": str(tmp_path / "train.jsonl"),
        "lines": 5,
        "translated": 2,
        "replaced_by_reference": {
            "empty source": {"sentences": 1, "ids": [4]},
            "empty translation": {"sentences": 1, "ids": [2]},
            "source longer than 4 positions": {"sentences": 1, "ids": [1]},
        },
        "tokens": 11,
        "reference_tokens": 9,
        "mean_length": 2.2,
        "mean_reference_length": 1.8,
        "unknown_tokens": 1,
    }


@pytest.mark.parametrize(
    ("translations", "parts"),
    [
        (TRANSLATIONS[:4], ["4 translations", "5 lines"]),
        ([*TRANSLATIONS, record(5, "ja")], ["6 translations", "5 lines"]),
        ([*TRANSLATIONS[:2], *TRANSLATIONS[3:]], ["sentence 3", "sentence 2"]),
    ],
)
def test_translations_of_another_text_are_refused_and_nothing_is_written(
    tmp_path: Path, bpe: Path, translations: list[dict[str, Any]], parts: list[str]
) -> None:
    with told(*parts):
        make(tmp_path, bpe, translations)
    out = tmp_path / "distilled"
    assert not out.exists() or not list(out.iterdir())
