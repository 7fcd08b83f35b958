"""The corpus files of the project, and what a corpus file may say."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from made_up_corpus import as_corpus

from nat.configuration.configuration import Configuration
from nat.configuration.corpora import check_corpus, resolved
from nat.configuration.models import CorpusFile
from nat.configuration.reading import read
from nat.data.clean import clean_folder
from nat.data.corpus import STEPS, Corpus
from nat.data.sources import parts_of
from nat.data.sources import test_set as a_test_set
from nat.data.splits import derived_from, split_names
from nat.options import validated
from tests.messages import told

PAPERS = {
    "wmt14-en-de": ("en", "de"),
    "wmt14-de-en": ("de", "en"),
    "wmt14-en-de-4m": ("en", "de"),
    "wmt14-de-en-4m": ("de", "en"),
    "wmt16-en-ro": ("en", "ro"),
    "wmt16-ro-en": ("ro", "en"),
    "wmt16-en-ro-diacritics": ("en", "ro"),
    "wmt16-ro-en-diacritics": ("ro", "en"),
    "wmt17-zh-en": ("zh", "en"),
    "wmt20-ja-en": ("ja", "en"),
    "iwslt14-de-en": ("de", "en"),
    "nist-zh-en": ("zh", "en"),
    "synthetic-a": ("noisy", "en"),
    "synthetic-b": ("noisy", "en"),
    "multi30k-en-de": ("en", "de"),
    "tatoeba-en-de": ("en", "de"),
}


@pytest.fixture(scope="module")
def configuration() -> Configuration:
    return read("paper", Path(__file__).resolve().parents[1])


@pytest.mark.parametrize("name", PAPERS)
def test_corpora_of_the_papers(configuration: Configuration, name: str) -> None:
    corpus = configuration.corpus(name)
    check_corpus(name, corpus)
    assert (corpus.source, corpus.target) == PAPERS[name]
    assert {"train", "valid", "test"} <= set(split_names(corpus))
    for split in corpus.splits.values():
        for part in parts_of(split):
            if part.sacrebleu is not None:
                a_test_set(part.sacrebleu, *PAPERS[name])


def test_every_task_of_the_papers_has_its_corpus(configuration: Configuration) -> None:
    assert set(PAPERS) - {"multi30k-en-de", "tatoeba-en-de"} <= set(configuration.tasks)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("wmt14-en-de", "wmt14-de-en"),
        ("wmt14-en-de", "wmt14-de-en-4m"),
        ("wmt16-en-ro", "wmt16-ro-en-diacritics"),
    ],
)
def test_both_directions_share_their_downloads(
    configuration: Configuration, one: str, other: str
) -> None:
    corpora = [configuration.corpus(name) for name in (one, other)]
    assert corpora[0].splits == corpora[1].splits


def test_every_corpus_of_a_paper_expects_its_training_text(configuration: Configuration) -> None:
    """In a step after which its size is published, or known from those who made it."""
    for name in PAPERS:
        corpus = configuration.corpus(name)
        stated: list[Any] = [corpus.expected.after(step).get("train") for step in STEPS]
        if "train" in corpus.splits:
            stated.append(corpus.splits["train"].pairs)
        assert any(stated) or name == "tatoeba-en-de", name


def test_a_size_after_cleaning_that_is_not_expected_keeps_nothing(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.mkdir()
    for split in ("train", "valid", "test"):
        for side in ("en", "de"):
            (text / f"{split}.{side}").write_text("a b\n\n" if split == "train" else "a b\n")
    (text / "train.en").write_text("a b\nc\n")
    one = as_corpus(OWN | {"expected": {"clean": {"train": 1, "test": 1}}})
    clean_folder(one, text, tmp_path / "one")
    assert (tmp_path / "one/clean.json").is_file()
    with told("'expected.clean.train'", "1", "2"):
        two = as_corpus(OWN | {"expected": {"clean": {"train": 2}}})
        clean_folder(two, text, tmp_path / "two")
    assert not (tmp_path / "two").exists()


DEAD = ("wit3.fbk.eu", "opus.nlpl.eu", "drive.google.com", "docs.google.com")
"""Hosts that papers and recipes name, where the files are gone, or not to be had by a program."""


@pytest.mark.parametrize("name", PAPERS)
def test_no_corpus_comes_from_a_dead_address(configuration: Configuration, name: str) -> None:
    written = json.dumps(configuration.corpus(name).as_written())
    assert not [host for host in DEAD if f"//{host}/" in written]


def test_the_synthetic_corpora_derive_from_wmt14(configuration: Configuration) -> None:
    for name, drop in (("synthetic-a", 0.0), ("synthetic-b", 0.1)):
        corpus = configuration.corpus(name)
        assert derived_from(corpus) == "wmt14-en-de"
        assert split_names(corpus) == ["train", "valid", "test"]
        corruption = corpus.preprocessing.corruption
        assert corruption is not None
        assert (corruption.replace, corruption.drop) == (0.5, drop)


OPTIONS = {
    "lowercase": False,
    "normalise_punctuation": True,
    "tokeniser": "moses",
    "max_tokens": 100,
    "max_ratio": 3.0,
    "bpe_merges": 10,
}
SEPARATE = OPTIONS | {"bpe_merges": {"en": 9, "de": 5}}
FILES = {"files": {"en": "a", "de": "b"}}
OWN: dict[str, Any] = {
    "source": "en",
    "target": "de",
    "splits": {"train": FILES, "valid": FILES, "test": FILES},
    "preprocessing": OPTIONS,
}


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


def test_a_corpus_like_another_may_learn_other_subwords() -> None:
    pieces = {"like": "own", "preprocessing": {"sentencepiece": 100}}
    given = {"like": "own", "subwords": {"files": {"codes": "c", "vocabulary": "v"}}}
    found = resolved({"own": OWN, "pieces": pieces})["pieces"]
    check_corpus("pieces", as_corpus(found))
    assert "bpe_merges" not in found["preprocessing"]
    own = resolved({"own": OWN, "given": given})["given"]
    found = resolved({"own": own, "pieces": pieces})["pieces"]
    check_corpus("pieces", as_corpus(found))


@pytest.mark.parametrize(
    ("corpora", "parts"),
    [
        ({"own": OWN, "b": {"like": "onw"}}, ["b.yaml", "'like'", "'onw'", "'own'"]),
        ({"own": OWN, "b": {"like": "b"}}, ["b.yaml", "'like'", "'b'"]),
        ({"a": OWN, "b": {"like": "a"}, "c": {"like": "b"}}, ["c.yaml", "'like'", "'b'", "'a'"]),
        ({"b": {"derived": {"from": "x", "side": "en"}}}, ["b.yaml", "'derived.from'", "'x'"]),
        ({"b": {"derived": {"side": "en"}}}, ["b.yaml", "'from'", "'derived'"]),
        (
            {"g": {"generator": {}}, "b": {"derived": {"from": "g", "side": "en"}}},
            ["b.yaml", "'derived.from'", "'g'", "'splits'"],
        ),
    ],
)
def test_what_a_corpus_cannot_be_like(corpora: dict[str, Any], parts: list[str]) -> None:
    with told(*parts):
        resolved(corpora)


def test_a_corpus_may_be_derived_from_a_generated_one() -> None:
    corpora = {
        "g": {"generator": {"pairs": {"train": 3, "test": 2}}},
        "b": {"source": "x", "target": "en", "derived": {"from": "g", "side": "en"}},
    }
    assert split_names(as_corpus(resolved(corpora)["b"])) == ["train", "test"]


ARCHIVE: dict[str, Any] = {
    "archive": "https://h/a.tgz",
    "sha256": None,
    "members": {"en": "a", "de": "b"},
}
TSV = {"urls": {"pairs": "https://h/a.tsv"}, "sha256": {"pairs": None}, "format": "tsv"}


@pytest.mark.parametrize(
    ("train", "parts"),
    [
        ({}, ["'urls'", "'files'", "none"]),
        (FILES | {"sacrebleu": "wmt16"}, ["files and sacrebleu"]),
        ({"every": 5}, ["cut out"]),
        ({"parts": [FILES, {"format": "tsv"}]}, ["'splits.train.parts[1]'", "'urls'"]),
        ({"archive": "https://h/a", "sha256": None}, ["'members'"]),
        (ARCHIVE | {"md5": "0" * 32}, ["'sha256'", "'md5'"]),
        (ARCHIVE | {"members": {"en": "a"}}, ["'members'", "found en"]),
        (ARCHIVE | {"sha256": {"en": None, "de": None}}, ["sha256"]),
        (ARCHIVE | {"format": "tmx"}, ["'members'", "en, de", "pairs"]),
        (TSV, ["'columns'"]),
        (FILES | {"columns": {"en": 0, "de": 1}}, ["'columns'", "tsv"]),
        (FILES | {"minimum": {"column": 0, "value": 1}}, ["'minimum'", "tsv"]),
        (FILES | {"undecodable": "empty"}, ["'undecodable'", "tsv"]),
        (FILES | {"sha256": "0" * 64}, ["'sha256'", "'files'"]),
        (FILES | {"md5": "0" * 32}, ["'md5'", "'files'"]),
        (FILES | {"members": {"en": "a", "de": "b"}}, ["'members'", "'files'"]),
        ({"parts": [FILES], "format": "tmx"}, ["'format'", "'parts'"]),
        ({"parts": [FILES], "minimum": {"column": 0, "value": 1}}, ["'minimum'", "'parts'"]),
        ({"parts": [FILES], "members": {"pairs": "a"}}, ["'members'", "'parts'"]),
        ({"parts": [FILES | {"md5": "0" * 32}]}, ["'splits.train.parts[0]'", "'md5'"]),
        ({"sacrebleu": "wmt16", "format": "tmx"}, ["'format'", "'sacrebleu'"]),
        ({"sacrebleu": "wmt61"}, ["'sacrebleu'", "'wmt61'"]),
        ({"sacrebleu": "wmt17/ms"}, ["'sacrebleu'", "'wmt17/ms'"]),
        (TSV | {"columns": {"en": 0, "de": 0}}, ["'columns'", "en: 0, de: 0"]),
        (TSV | {"columns": {"en": 0, "fr": 1}}, ["'columns'", "en: 0, fr: 1"]),
    ],
)
def test_splits_that_say_too_little_or_too_much(train: dict[str, Any], parts: list[str]) -> None:
    corpus = OWN | {"splits": OWN["splits"] | {"train": train}}
    with told("own.yaml", "splits.train", *parts):
        check_corpus("own", as_corpus(corpus))


@pytest.mark.parametrize("key", ["format", "segmented", "undecodable", "sha256"])
def test_a_split_that_is_cut_out_has_no_files(key: str) -> None:
    values = {"format": "lines", "segmented": True, "undecodable": "empty", "sha256": None}
    corpus = OWN | {"splits": OWN["splits"] | {"valid": {"every": 5, key: values[key]}}}
    with told("'splits.valid'", f"'{key}'", "'every'"):
        check_corpus("own", as_corpus(corpus))


@pytest.mark.parametrize("split", ["train", "valid"])
@pytest.mark.parametrize("key", ["splits", "generator.pairs"])
def test_trainings_need_their_text(key: str, split: str) -> None:
    corpus = {name: OWN[name] for name in ("source", "target", "preprocessing")}
    given = dict.fromkeys({"train", "valid", "test"} - {split}, FILES if key == "splits" else 9)
    corpus |= {"splits": given} if key == "splits" else {"generator": {"pairs": given}}
    with told("own.yaml", f"{key}.{split}"):
        check_corpus("own", as_corpus(corpus))


@pytest.mark.parametrize("split", ["valid", "test"])
def test_lines_that_translations_belong_to_are_not_cut_out(split: str) -> None:
    distilled = {"distilled": {"at-base": {"files": {"de": "c"}}}}
    corpus = OWN | distilled | {"splits": OWN["splits"] | {split: {"every": 5}}}
    with told("'distilled.at-base'", f"'splits.{split}.every'"):
        check_corpus("own", as_corpus(corpus))


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
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
            {"preprocessing": SEPARATE | {"corruption": {"replace": 0.1, "drop": 0, "seed": 1}}},
            ["'preprocessing.bpe_merges'", "'preprocessing.corruption'"],
        ),
        (
            {"preprocessing": SEPARATE, "expected": {"vocabulary": {"tagret": 9}}},
            ["'tagret'", "'expected.vocabulary'", "'target'"],
        ),
        (
            {"preprocessing": SEPARATE, "expected": {"vocabulary": {"size": 9}}},
            ["'size'", "'expected.vocabulary'", "source, target"],
        ),
        ({"diacritics": {"ro": "remove"}}, ["'diacritics'", "ro"]),
        ({"expected": {"text": {"tset": 4}}}, ["'tset'", "'expected.text'", "'test'"]),
        ({"expected": {"vocabulary": {"train": 4}}}, ["'train'", "'expected.vocabulary'"]),
        ({"derived": {"from": "a", "side": "en"}}, ["'splits'", "'generator'"]),
    ],
)
def test_other_faults(changes: dict[str, Any], parts: list[str]) -> None:
    with told("own.yaml", *parts):
        check_corpus("own", as_corpus(OWN | changes))


def test_merges_of_each_language_give_separate_vocabularies() -> None:
    expected = {"vocabulary": {"source": 20, "target": {"about": 9, "tolerance": 0.1}}}
    corpus = as_corpus(OWN | {"preprocessing": SEPARATE, "expected": expected})
    check_corpus("own", corpus)
    assert corpus.has_separate_vocabularies and not as_corpus(OWN).has_separate_vocabularies
    assert corpus.as_written()["preprocessing"] == SEPARATE


@pytest.mark.parametrize("key", ["source", "preprocessing.lowercase", "preprocessing.max_ratio"])
def test_what_a_corpus_must_say(key: str) -> None:
    corpus = copy.deepcopy(OWN)
    *outer, last = key.split(".")
    del (corpus[outer[0]] if outer else corpus)[last]
    with told(last):
        validated(Corpus, corpus)


@pytest.mark.parametrize("names", ["data/{x}/train.en", ["a", "data/{x}/train.en"]])
def test_paths_have_no_braces(names: Any) -> None:
    corpus = OWN | {"splits": OWN["splits"] | {"train": {"files": {"en": names, "de": "b"}}}}
    with told("splits.train.files.en", "'data/{x}/train.en'", "braces"):
        validated(Corpus, corpus)


def test_only_some_keys_are_required_of_a_file() -> None:
    other = {"like": "own", "preprocessing": {"bpe_merges": 20}}
    derived = {"derived": {"from": "own", "side": "en"}}
    for content in (other, derived):
        validated(CorpusFile, content)
    derived["derived"]["splits"] = ["train"]  # type: ignore[assignment]
    with told("splits", "derived"):
        validated(CorpusFile, derived)


def test_a_corpus_is_written_as_its_file_says() -> None:
    own = {**OWN, "expected": {"clean": {"train": {"about": 9, "tolerance": 0.5}, "test": 1}}}
    own["splits"] = {"train": ARCHIVE, "test": FILES | {"references": [FILES]}}
    assert validated(Corpus, own).as_written() == own
    derived = {"derived": {"from": "own", "side": "en", "splits": ["train"]}}
    derived = {key: own[key] for key in ("source", "target", "preprocessing")} | derived
    assert validated(Corpus, derived).as_written() == derived
