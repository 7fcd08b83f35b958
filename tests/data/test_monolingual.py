"""Monolingual sentences: which are kept, in which order, and what becomes of a bad translation."""

import gzip
import json
from itertools import islice
from pathlib import Path

import pytest

from nat.artifacts import Model
from nat.configuration.checks import check_corpus
from nat.data.binarised import BinarisedText, write_binarised
from nat.data.corpus import Corpus
from nat.data.corpus_parts import addresses_of, local_files, prepared_as, text_part
from nat.data.invented.language import language_of
from nat.data.invented.text import generate, split_of
from nat.data.lines import read_lines
from nat.data.monolingual import add_monolingual, prepare_monolingual
from nat.data.raw_text import RawText
from nat.data.sources import Place
from nat.data.splits import MONOLINGUAL, TRAIN
from nat.data.subwords import splitter_at, subwords_file
from nat.data.text import make_text
from nat.data.translations import write_translations
from nat.data.vocabulary import UNK, Vocabularies, Vocabulary
from nat.errors import UserError
from nat.options import validated
from tests.made_up_corpus import (
    as_corpus,
    corpus_file,
    prepare_corpus,
    translation,
    write_text,
)
from tests.messages import told
from tests.repository import configured

TRAINING = ["a dog runs", "the dog sleeps", "a cat sleeps", "the cat runs", "a dog sleeps"]
LINES = [
    "The dog runs",
    " ",
    "a  cat runs",
    "a dog sleeps",
    "a b c d e f g h i",
    "a cat runs",
    "Zoo",
]
KEPT = ["the dog runs", "a cat runs", "zoo"]
PARTS = [
    {"files": {"en": "more.en"}},
    {"files": {"en": "last.en.gz"}},
    {"files": {"de": "more.de"}},
]


MANY = ["c", "d", *(f"x{number}" for number in range(300))]  # more than a byte can number


def corpus(**changes: object) -> Corpus:
    content = (
        corpus_file("en", "de")
        | {"monolingual": {"parts": PARTS}, "least_perfect_score": 0}
        | changes
    )
    return as_corpus(content | {"preprocessing": {**content["preprocessing"], **LOWERED}})


LOWERED = {"lowercase": True, "max_tokens": 8, "bpe_merges": {"en": 10, "de": 6}}


def test_usable_new_sentences_become_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    both = TRAINING, TRAINING
    write_text(tmp_path, train=both, valid=both, test=both)
    (tmp_path / "more.en").write_text("".join(f"{line}\n" for line in LINES[:4]))
    (tmp_path / "last.en.gz").write_bytes(gzip.compress("\n".join(LINES[4:]).encode()))
    own = corpus(monolingual={"parts": PARTS, "sentences": 7})
    folder = prepare_corpus("own", own)
    place = Place("own", tmp_path, None, tmp_path / "downloads")
    text, output = (folder.with_name(MONOLINGUAL) / name for name in ("text", "binarised"))
    make_text(text_part(own, MONOLINGUAL), text, place)
    assert list(read_lines(text / f"{MONOLINGUAL}.en")) == LINES
    facts = json.loads((text / "text.json").read_text())
    assert (facts["sentences"], facts["origin"]) == (7, "files")
    for processes in (1, 2):
        report = prepare_monolingual(own, text, folder / "bpe", output, processes)
        ids = BinarisedText(output / f"{MONOLINGUAL}.en")
        splitter = splitter_at(subwords_file(folder / "bpe", "source"))
        vocabulary = Vocabularies.load(output).source
        raw_text = RawText(own.as_written(), splitter)
        assert [ids[number].tolist() for number in range(len(ids))] == [
            vocabulary.encode(raw_text.subwords(line)) for line in KEPT
        ]
        assert report == json.loads((output / f"{MONOLINGUAL}.json").read_text())
        # "zoo" has letters that the training text lacks
        assert report["unknown_tokens"] == sum(
            sum(each == UNK) for each in map(ids.__getitem__, range(3))
        )
        assert report["unknown_tokens"] > 0
        assert {key: report[key] for key in ("read", "kept", "dropped", "tokens")} == {
            "read": 7,
            "kept": 3,
            "dropped": {"empty": 1, "too_long": 1, "duplicate": 2},
            "tokens": len(ids.tokens),
        }
    # what trainings on pairs alone read does not depend on it
    without = {key: each for key, each in own.as_written().items() if key != MONOLINGUAL}
    assert prepared_as(own, TRAIN) == prepared_as(as_corpus(without), TRAIN)
    wrong = corpus(monolingual={"parts": PARTS, "sentences": 8})
    with told("own.yaml, monolingual.sentences is 8, but there are 7"):
        make_text(text_part(wrong, MONOLINGUAL), text, place)
    (tmp_path / "more.en").write_text("a dog runs\n\n")
    make_text(text_part(corpus(monolingual={"parts": PARTS[:1]}), MONOLINGUAL), text, place)
    with told(f"{MONOLINGUAL}.en: no sentence can be used"):
        prepare_monolingual(own, text, folder / "bpe", output)


def test_translated_sentences_follow_the_training_text(tmp_path: Path) -> None:
    """One without a translation is left out, and those after it stay with their own."""
    own, words = corpus(), Vocabularies(Vocabulary(["a", "b"]), Vocabulary(MANY))
    binarised, distilled, more, out = (tmp_path / name for name in ("ids", "kd", "more", "out"))
    for folder in (binarised, distilled, more):
        folder.mkdir()
    words.save(binarised)
    write_binarised(["a a", "b"], words.source, binarised / "train.en")
    write_binarised(["c c", "d"], words.target, distilled / "train.de")
    write_binarised(["a", "b a", "a b b", "b b"], words.source, more / f"{MONOLINGUAL}.en")
    path = tmp_path / "monolingual.jsonl"
    rows = [translation(0, "c"), translation(1, "", "no finite score"), translation(2, "d x299 c")]
    write_translations(path, [*rows, translation(3, " ")])
    report = add_monolingual(own, binarised, distilled, more, path, out)
    sides = [BinarisedText(out / f"train.{side}") for side in ("en", "de")]
    written = [
        [known.decode(ids) for ids in map(side.__getitem__, range(len(side)))]
        for known, side in zip(words, sides, strict=True)
    ]
    assert written == [["a a", "b", "a", "a b b"], ["c c", "d", "c", "d x299 c"]]
    assert [each.symbols for each in Vocabularies.load(out)] == [each.symbols for each in words]
    assert report == json.loads((out / f"{MONOLINGUAL}.json").read_text())
    assert report == {
        "translations": str(path),
        "pairs": 4,
        "monolingual": 2,
        "left_out": {
            "empty translation": {"sentences": 1, "ids": [3]},
            "no finite score": {"sentences": 1, "ids": [1]},
        },
    }
    write_translations(path, rows)
    with told("3 translations of 4 sentences"):
        add_monolingual(own, binarised, distilled, more, path, out)


def test_a_generated_corpus_draws_other_sentences_of_its_training_text(tmp_path: Path) -> None:
    own = configured("micro").corpus("toy-micro")
    assert own.generator is not None and own.monolingual is not None
    make_text(text_part(own, MONOLINGUAL), tmp_path / "text", Place("x", tmp_path, None, tmp_path))
    drawn = list(read_lines(tmp_path / "text" / f"{MONOLINGUAL}.ka"))
    language = language_of(own.generator)
    assert len(drawn) == own.monolingual.sentences
    assert {split_of(language, source) for source in drawn} == {TRAIN}
    of_training = [source for source, _ in islice(generate(language, TRAIN, 300), 300)]
    assert drawn[:20] != of_training[:20]
    assert len(set(drawn) - set(of_training)) > len(drawn) / 2


@pytest.mark.parametrize(
    ("monolingual", "message"),
    [
        ({"files": {"fr": "more.fr"}}, "'monolingual': key 'files': found fr, expected files for"),
        ({"sentences": 3}, "'monolingual': found none, expected one of 'files', 'urls', 'archive'"),
        ({"files": {"en": "a"}, "parts": PARTS}, "'monolingual': found files and parts"),
        ({"parts": [{}]}, "'monolingual.parts[0]': found none"),
    ],
)
def test_where_it_comes_from_is_checked(monolingual: dict[str, object], message: str) -> None:
    with told(message):
        check_corpus("own", corpus(monolingual=monolingual))


def test_a_generated_corpus_has_no_files_of_it() -> None:
    content = configured("micro").corpus("toy-micro").as_written()
    given = validated(Corpus, {**content, "monolingual": {"files": {"ka": "more.ka"}}})
    with told("key 'monolingual': expected 'sentences' alone"):
        check_corpus("own", given)


def test_no_split_has_the_name_of_its_folder() -> None:
    given = corpus()
    splits = {**given.splits, MONOLINGUAL: given.splits["test"]}
    with told("'splits.monolingual': a key of its own, 'monolingual', names such text"):
        check_corpus("own", given.model_copy(update={"splits": splits}))


def test_only_the_direction_of_its_language_has_it() -> None:
    """Its files are those of the source language; a corpus with the other direction has none."""
    configuration = configured("small")
    forward, backward = map(configuration.corpus, ("multi30k-en-de", "multi30k-de-en"))
    keys = {key for key in addresses_of(forward) if key.startswith(MONOLINGUAL)}
    assert keys == {f"monolingual.parts[{number}].urls.en" for number in range(5)}
    assert not any(key.startswith(MONOLINGUAL) for key in addresses_of(backward))
    assert [str(path) for _, path in local_files(text_part(corpus(), MONOLINGUAL))] == [
        "more.en",
        "last.en.gz",
    ]


def test_a_system_that_learns_from_it_needs_it() -> None:
    configuration = configured("small")
    system = "u-dims-cmlm-kd-monolingual"
    inputs = Model("small", "multi30k-en-de", system, 1).inputs(configuration)
    (text,) = inputs.texts
    assert text.path.endswith("cmlm-kd/seed1/mask-predict-2-lb5/with_monolingual")
    read = {each.path for each in text.inputs(configuration).artifacts()}
    assert any(path.endswith("mask-predict-2-lb5/monolingual.jsonl") for path in read)
    (without,) = Model("small", "tatoeba-en-de", system, 1).inputs(configuration).texts
    with pytest.raises(
        UserError, match="tatoeba-en-de.yaml: no key 'monolingual' with text in 'en'"
    ):
        for each in without.inputs(configuration).artifacts():
            each.inputs(configuration)
