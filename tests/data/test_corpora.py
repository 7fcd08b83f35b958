"""The corpus files of the project, and what a corpus file may say."""

import json
from dataclasses import replace
from typing import Any

import pytest

from nat.configuration.checks import check_corpus
from nat.configuration.configuration import Configuration
from nat.configuration.families import expanded
from nat.data.corpus import Corpus
from nat.options import validated
from tests.made_up_corpus import PREPROCESSING, as_corpus, corpus_file
from tests.messages import told
from tests.repository import configured

CORPORA = [
    *("wmt14-en-de", "wmt14-de-en", "wmt14-en-de-4m", "wmt14-de-en-4m"),
    *("wmt16-en-ro", "wmt16-ro-en", "wmt16-en-ro-diacritics", "wmt16-ro-en-diacritics"),
    *("wmt17-zh-en", "wmt20-ja-en", "iwslt14-de-en", "nist-zh-en", "synthetic-a", "synthetic-b"),
    *("multi30k-en-de", "multi30k-de-en", "tatoeba-en-de"),
]
DEAD = ("wit3.fbk.eu", "opus.nlpl.eu", "drive.google.com", "docs.google.com")
"""Hosts that papers and recipes name, where the files are gone, or not to be had by a program."""


@pytest.fixture(scope="module")
def configuration() -> Configuration:
    return configured("paper")


@pytest.mark.parametrize("name", CORPORA)
def test_corpora_of_the_project(configuration: Configuration, name: str) -> None:
    corpus = configuration.corpus(name)
    pair = ("noisy", "en") if name.startswith("synthetic") else tuple(name.split("-")[1:3])
    assert (corpus.source, corpus.target) == pair
    assert name in configuration.tasks or name in CORPORA[-3:]
    assert {"train", "valid", "test"} <= set(corpus.split_names)
    # the size of the training text after a step is published, or known from those who made it
    sizes: list[Any] = [expected.get("train") for expected in corpus.expected.values()]
    sizes += [split.pairs for each, split in corpus.splits.items() if each == "train"]
    assert any(sizes) or name == "tatoeba-en-de"
    written = json.dumps(corpus.as_written())
    assert not [host for host in DEAD if f"//{host}/" in written]


def test_corpora_share_their_downloads(configuration: Configuration) -> None:
    for one, other in (
        ("wmt14-en-de", "wmt14-de-en"),
        ("wmt14-en-de", "wmt14-de-en-4m"),
        ("wmt16-en-ro", "wmt16-ro-en-diacritics"),
    ):
        assert configuration.corpus(one).splits == configuration.corpus(other).splits
    for name, drop in (("synthetic-a", 0.0), ("synthetic-b", 0.1)):
        corpus = configuration.corpus(name)
        assert corpus.derived is not None and corpus.derived.source == "wmt14-en-de"
        assert corpus.split_names == ["train", "valid", "test"]
        corruption = corpus.preprocessing.corruption
        assert corruption is not None
        assert (corruption.replace, corruption.drop) == (0.5, drop)


OPTIONS = PREPROCESSING | {"bpe_merges": 10}
SEPARATE = OPTIONS | {"bpe_merges": {"en": 9, "de": 5}}
FILES = {"files": {"en": "a", "de": "b"}}
OWN: dict[str, Any] = {
    **corpus_file("en", "de"),
    "splits": {"train": FILES, "valid": FILES, "test": FILES},
    "preprocessing": OPTIONS,
}


def resolved(corpora: dict[str, Any]) -> dict[str, Any]:
    return expanded(corpora, "corpora")[0]


def test_a_corpus_like_another_changes_entries() -> None:
    reverse = {
        "like": "own",
        "source": "de",
        "target": "en",
        "preprocessing": {"bpe_merges": 20},
        "splits": {"test": {"sacrebleu": "wmt16"}},
    }
    found = resolved({"own": OWN, "reverse": reverse})["reverse"]
    assert found["preprocessing"] == OPTIONS | {"bpe_merges": 20}
    assert found["splits"] == OWN["splits"] | {"test": {"sacrebleu": "wmt16"}}
    assert found["source"] == "de"
    check_corpus("reverse", as_corpus(found))
    assert OPTIONS["bpe_merges"] == 10
    # another kind of subwords takes the place of that of the parent
    pieces = {"like": "own", "preprocessing": {"sentencepiece": 100}}
    given = {"like": "own", "subwords": {"files": {"codes": "c", "vocabulary": "v"}}}
    found = resolved({"own": OWN, "pieces": pieces})["pieces"]
    check_corpus("pieces", as_corpus(found))
    assert "bpe_merges" not in found["preprocessing"]
    pieces["like"] = "given"
    found = resolved({"own": OWN, "given": given, "pieces": pieces})["pieces"]
    check_corpus("pieces", as_corpus(found))


def test_a_derived_corpus_has_the_splits_of_the_other(configuration: Configuration) -> None:
    corpora = {**configuration.files["corpora"]}
    changed = replace(configuration, files={**configuration.files, "corpora": corpora})
    of_parent = changed.corpus("multi30k-en-de").split_names
    for parent, parts in (
        ("multi30k-en-de", []),
        ("x", ["config/corpora/synthetic-a.yaml", "'derived.from'", "'x'"]),
        ("synthetic-b", ["config/corpora/synthetic-a.yaml", "'derived.from'", "'splits'"]),
    ):
        corpora["synthetic-a"] = corpora["synthetic-a"] | {
            "derived": {"from": parent, "side": "en"}
        }
        changed = replace(changed)
        if not parts:
            assert changed.corpus("synthetic-a").split_names == of_parent
            continue
        with told(*parts):
            changed.corpus("synthetic-a")


ARCHIVE: dict[str, Any] = {
    "archive": "https://h/a.tgz",
    "sha256": None,
    "members": {"en": "a", "de": "b"},
}
TSV = {"urls": {"pairs": "https://h/a.tsv"}, "sha256": {"pairs": None}, "format": "tsv"}
REVERSED = {"de": "a", "en": "b"}


def of_train(train: dict[str, Any], *parts: str) -> tuple[dict[str, Any], list[str]]:
    """A change of the training text, and what a message must name."""
    return {"splits": OWN["splits"] | {"train": train}}, ["splits.train", *parts]


def of_references(given: dict[str, Any], *parts: str) -> tuple[dict[str, Any], list[str]]:
    """A further reference of the test set, and what a message must name."""
    splits = OWN["splits"] | {"test": FILES | {"references": [given]}}
    return {"splits": splits}, ["splits.test.references[0]", *parts]


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        of_train({}, "'urls'", "'files'", "none"),
        of_train(FILES | {"sacrebleu": "wmt16"}, "files and sacrebleu"),
        of_train({"parts": [FILES, {"format": "tsv"}]}, "'splits.train.parts[1]'", "'urls'"),
        of_train(ARCHIVE | {"md5": "0" * 32}, "'sha256'", "'md5'"),
        of_train(ARCHIVE | {"members": {"en": "a"}}, "'members'", "found en"),
        of_train(ARCHIVE | {"format": "tmx"}, "'members'", "en, de", "pairs"),
        of_train(TSV | {"columns": {"en": 0, "fr": 1}}, "'columns'"),
        of_train({"sacrebleu": "wmt61"}, "'sacrebleu'", "'wmt61'"),
        of_references({}, "'urls'", "'files'", "'archive'"),
        of_references({"files": {"fr": "one"}}, "'files'", "fr"),
        of_references({"urls": {"en": "https://host/a"}}, "'sha256'"),
        of_references({"files": REVERSED, "format": "extra_refs"}, "'files'", "de, en"),
        ({"splits": {"train": FILES}}, ["splits.valid"]),
        ({"splits": {"valid": FILES}}, ["splits.train"]),
        ({"preprocessing": OPTIONS | {"sentencepiece": 9}}, ["'bpe_merges'", "'sentencepiece'"]),
        (
            {"preprocessing": OPTIONS | {"tokeniser": {"en": "moses", "fr": "none"}}},
            ["'preprocessing.tokeniser'", "en, fr", "en and de"],
        ),
        (
            {"preprocessing": OPTIONS | {"bpe_merges": {"en": 9, "fr": 9}}},
            ["'preprocessing.bpe_merges'", "en, fr", "en and de"],
        ),
        (
            {"preprocessing": SEPARATE, "expected": {"vocabulary": {"tagret": 9}}},
            ["'expected.vocabulary.tagret'", "'target'"],
        ),
        ({"subwords": {"files": {"codes": "x"}}}, ["'subwords'"]),
        ({"distilled": {"at-base": {"files": {"en": "x"}}}}, ["'distilled.at-base'", "en", "de"]),
        ({"diacritics": {"ro": "remove"}}, ["'diacritics'", "ro"]),
        ({"expected": {"text": {"tset": 4}}}, ["'expected.text.tset'", "'test'"]),
        ({"derived": {"from": "a", "side": "en"}}, ["'splits'", "'generator'"]),
    ],
)
def test_what_a_corpus_file_cannot_say(changes: dict[str, Any], parts: list[str]) -> None:
    with told("own.yaml", *parts):
        check_corpus("own", as_corpus(OWN | changes))


def test_a_generator_makes_the_text_of_trainings() -> None:
    corpus = {name: OWN[name] for name in ("source", "target", "preprocessing")}
    for split in ("train", "valid"):
        pairs = dict.fromkeys({"train", "valid", "test"} - {split}, 9)
        with told("own.yaml", f"generator.pairs.{split}"):
            check_corpus("own", as_corpus(corpus | {"generator": {"pairs": pairs}}))


def test_paths_have_no_braces() -> None:
    files = {"files": {"en": ["a", "data/{x}/train.en"], "de": "b"}}
    with told("splits.train.files.en", "'data/{x}/train.en'"):
        as_corpus(OWN | of_train(files)[0])


def test_a_corpus_is_written_as_its_file_says() -> None:
    own = {**OWN, "expected": {"clean": {"train": {"about": 9, "tolerance": 0.5}, "test": 1}}}
    own["splits"] = {"train": ARCHIVE, "test": FILES | {"references": [FILES]}}
    own["preprocessing"] = SEPARATE
    assert validated(Corpus, own).as_written() == own
    assert validated(Corpus, own).has_separate_vocabularies
    derived = {"derived": {"from": "own", "side": "en", "splits": ["train"]}}
    derived = {key: own[key] for key in ("source", "target", "preprocessing")} | derived
    assert validated(Corpus, derived).as_written() == derived
