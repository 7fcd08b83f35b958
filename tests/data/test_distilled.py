"""Distilled text: as many lines out as in, whatever the teacher could not translate."""

import json
from pathlib import Path

from nat.data.binarised import BinarisedText
from nat.data.distilled import distil, of_teacher
from nat.data.lines import read_lines
from nat.data.translations import write_translations
from nat.data.vocabulary import UNK, Vocabulary
from nat.files import atomic_write_text
from tests.made_up_corpus import as_corpus, translation
from tests.messages import told

CORPUS = as_corpus({"source": "en", "target": "de"})
REFERENCES = ["ein Hund", "eine Ka@@ tze", "ja", "nein nein", "gut"]
TRANSLATIONS = [
    translation(0, "Hund Hund ein"),
    translation(1, "", "source longer than 4 positions"),
    translation(2, ""),
    translation(3, "nein\n<unk> gut"),
    translation(4, "", "empty source"),
]


def test_lines_stay_where_they_are(tmp_path: Path) -> None:
    bpe, path, out = (tmp_path / name for name in ("bpe", "train.jsonl", "distilled"))
    atomic_write_text(bpe / "train.de", "".join(f"{line}\n" for line in REFERENCES))
    Vocabulary.from_lines(REFERENCES).save(bpe / "vocabulary.txt")
    write_translations(path, TRANSLATIONS)
    report = distil(CORPUS, bpe, of_teacher(path), path, out, made_by={})
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
        "translations": str(path),
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
    write_translations(path, [*TRANSLATIONS[:2], *TRANSLATIONS[3:]])
    with told("sentence 3", "sentence 2"):
        distil(CORPUS, bpe, of_teacher(path), path, out, made_by={})
