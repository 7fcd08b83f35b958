"""Lines become tokens and text again; pairs that are no use leave the training text alone."""

import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sacremoses import MosesPunctNormalizer

from nat.data.clean import Seen, digest_of, fault, filter_folder
from nat.data.corpus import check_expected
from nat.data.lines import CHUNK, in_order, read_lines
from nat.data.raw_text import Preparation
from nat.files import read_json
from tests.made_up_corpus import as_corpus, write_text
from tests.messages import told

SIDES = {"source": "en", "target": "de"}
OPTIONS = {"normalise_punctuation": True, "max_tokens": 10, "max_ratio": 2.0}


# Lines


@pytest.mark.parametrize(
    ("how", "text", "changed"),
    [
        (None, "Ştiinţă", "Ştiinţă"),
        ("normalise", "Ştiinţă, țări şi Ţară", "Știință, țări și Țară"),
        ("remove", "Știință şi țărâna Îngheţată ÂŢĂ é", "Stiinta si tarana Inghetata ATA é"),
        ("remove", "s\u0326i a\u0306 t\u0327", "si a t"),
    ],
)
def test_diacritics(how: str | None, text: str, changed: str) -> None:
    assert Preparation("de", "none", diacritics=how).changed(text) == changed


def test_lines_without_special_characters_need_no_rules() -> None:
    lines = [
        'He said "no", (or yes) , 5 % of it: a ; b.',
        *("x  y", "it''s", "„so“ – ‘a’…", "a\u00a0: 3\u00a0000", "«\u00a0oui\u00a0»", "`a'"),
        *("Plain text, it's 3.5 - or 1/2!?", "a\rb", 'Er sagte "ja".Nein'),
    ]
    for language in ("en", "de", "fr", "cs", "ro"):
        library = MosesPunctNormalizer(language)
        ours = Preparation(language, "moses", normalise_punctuation=True).normalised
        assert [ours(x) for x in lines] == [" ".join(library.normalize(x).split()) for x in lines]
    # only spaces and control characters change without rules
    plain = Preparation("en", "moses").normalised(" “It’s”\tME\u3000!\x07 ")
    assert plain == "“It’s” ME !"


DASHES = "A well-known, 21-year-old - and English-German - test."
BY_LANGUAGE = {"zh": "jieba", "en": "moses"}


@pytest.mark.parametrize(
    ("language", "tokeniser", "text", "tokens"),
    [
        ("en", "moses", "Don't stop, Mr. Smith!", "Don 't stop , Mr. Smith !"),
        ("en", "moses", "Don't stop, Mr. Smith's dog (the big one) won't bite!", None),
        ("en", "moses", 'She said: "It costs $3.50, or 10%."', None),
        ("de", "moses", "Ein T-Shirt für 3,50 Euro...", "Ein T-Shirt für 3,50 Euro ..."),
        ("de", "moses", 'Er sagte: "Das T-Shirt, z.B. in Größe 38, kostet 3,50 €?"', None),
        ("fr", "moses", "L'homme n'a pas d'idée.", None),
        ("ro", "moses", "Aceștia, însă, nu știu (încă) nimic.", None),
        ("xx", "moses", "Words of no known language, all the same.", None),
        (
            *("en", "moses_dashes", DASHES),
            "A well @-@ known , 21 @-@ year @-@ old - and English @-@ German - test .",
        ),
        ("zh", "jieba", "我来到北京清华大学，GPU很快。", "我 来到 北京 清华大学 ， GPU 很快 。"),
        ("zh", BY_LANGUAGE, "我来到北京", "我 来到 北京"),
        ("en", BY_LANGUAGE, "It's here.", "It 's here ."),
        ("en", "unicode", "It's (so)!", "It's (‿ so ‿) ‿!"),
        ("xx", "none", "ka tu ri", "ka tu ri"),
        ("en", "moses", "", ""),
    ],
)
def test_text_becomes_tokens_and_the_same_text_again(
    language: str, tokeniser: Any, text: str, tokens: str | None
) -> None:
    options = {"preprocessing": {"tokeniser": tokeniser}}
    how = as_corpus({**SIDES, **options}).preparation(language)
    assert tokens in (None, how.tokens(text))
    assert how.text(how.tokens(text)) == text


@pytest.mark.parametrize("tokeniser", ["moses", "unicode", "jieba", "none"])
def test_a_line_that_cannot_be_seen_has_no_tokens(tokeniser: str) -> None:
    prepared = Preparation("en", tokeniser).prepared
    assert [prepared(line) for line in ("\u200b", "\ufeff \u2060")] == ["", ""]
    assert "x" in prepared("\u200bx")


# Steps

PAIRS = [
    ("A man  walks .", "Ein Mann geht ."),
    ("", "leer"),
    (" \u00a0\u200a ", "leer"),
    ("\x07", "leer"),
    ("word " * 5000, "Wort " * 5000),
    ("one two three", "eins"),
    ("“quoted”", "„zitiert“"),
]


def write(folder: Path, **splits: list[tuple[str, str]]) -> dict[str, Any]:
    """Write the text of a corpus; returns its description."""
    sides = {split: [*zip(*pairs, strict=True)] for split, pairs in splits.items()}
    write_text(folder, **sides)
    return {**SIDES, "splits": {split: {} for split in splits}, "preprocessing": OPTIONS}


def test_only_training_pairs_are_dropped_and_all_are_counted(tmp_path: Path) -> None:
    corpus = write(tmp_path / "text", train=PAIRS, valid=PAIRS[:1], test=PAIRS)
    output = tmp_path / "clean"
    filter_folder("clean", as_corpus(corpus), tmp_path / "text", output)
    counts = read_json(output / "clean.json")["splits"]
    reasons = {"empty": 3, "too_long": 1, "ratio": 1}
    assert counts["train"] == {"read": 7, "kept": 2, "dropped": reasons}
    assert counts["test"] == {"read": 7, "kept": 7, "faulty": reasons}
    assert list(read_lines(output / "train.en")) == ["A man walks .", '"quoted"']
    assert list(read_lines(output / "train.de")) == ["Ein Mann geht .", '"zitiert"']
    kept = list(read_lines(output / "test.en"))
    assert kept[:4] == ["A man walks .", "", "", ""] and len(kept[4].split()) == 5000
    assert len(list(read_lines(output / "test.de"))) == 7


@pytest.mark.parametrize(
    ("source", "target", "measure", "in_clean", "in_tokens"),
    [
        ("a b", "c", "words", None, None),
        ("a b c", "d", "words", "ratio", None),
        ("d", "a b c", "tokens", None, "ratio"),
        ("a b c", "d", "characters", "ratio", None),
        ("a b c d e", "a_long_one", "characters", None, None),
        ("a " * 10, "b " * 10, "words", None, None),
        ("a " * 11, "b " * 10, "words", "too_long", None),
        ("a", " ", "words", "empty", "empty"),
    ],
)
def test_lengths_are_judged_where_they_are_known(
    source: str, target: str, measure: str, in_clean: str | None, in_tokens: str | None
) -> None:
    corpus = as_corpus({**SIDES, "preprocessing": {**OPTIONS, "measure": measure}})
    assert fault(source, target, corpus.preprocessing, "clean") == in_clean
    assert fault(source, target, corpus.preprocessing, "tokens") == in_tokens


def test_duplicates_go_and_processes_keep_the_order(tmp_path: Path) -> None:
    pairs = [(f"s, {n % 3000}", f"t {n % 3000} {n // 3000 % 2}") for n in range(6500)]
    corpus = write(tmp_path / "text", train=pairs, test=pairs[:1] * 2)
    options = {**OPTIONS, "tokeniser": "moses", "drop_duplicates": True}
    corpus["preprocessing"] = options
    filter_folder("clean", as_corpus(corpus), tmp_path / "text", tmp_path / "clean", threads=2)
    counts = read_json(tmp_path / "clean/clean.json")["splits"]
    assert counts["train"]["kept"] == 6000
    assert counts["train"]["dropped"]["duplicate"] == 500  # a source with another target is none
    assert counts["test"] == {
        "read": 2,
        "kept": 2,
        "faulty": dict.fromkeys(("empty", "too_long", "ratio"), 0),
    }
    for threads in (1, 2):
        output = tmp_path / str(threads)
        filter_folder("tokens", as_corpus(corpus), tmp_path / "clean", output, threads)
        assert list(read_lines(output / "train.en")) == [f"s , {n}" for n in range(3000)] * 2


def test_memory_of_what_was_seen() -> None:
    seen, most = Seen(), 150_000
    tracemalloc.start()
    assert not any(seen.add(digest_of(f"s {n}", "t")) for n in range(most))
    before = tracemalloc.get_traced_memory()[0]
    assert not any(seen.add(digest_of(f"s {n}", "t")) for n in range(most, 2 * most))
    used = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert used / most < 20  # bytes a pair
    assert all(seen.add(digest_of(f"s {n}", "t")) for n in range(0, 2 * most, 1000))


def test_a_size_that_is_not_expected_keeps_nothing(tmp_path: Path) -> None:
    corpus = write(tmp_path / "text", train=[("a b", "c"), ("", "d")], test=[("", "d")])
    expected = {"expected": {"clean": {"train": 2, "test": 1}}}
    nothing = {"preprocessing": {**OPTIONS, "max_ratio": 1.0}}
    for changes, parts in (
        (expected, ["'expected.clean.train'", "1", "2"]),
        (nothing, ["max_tokens 10", "max_ratio 1"]),
    ):
        with told(tmp_path / "clean", *parts):
            filter_folder(
                "clean", as_corpus(corpus | changes), tmp_path / "text", tmp_path / "clean"
            )
        assert not (tmp_path / "clean").exists()


def test_expected_sizes_may_have_a_tolerance() -> None:
    sizes = {"train": {"about": 1000, "tolerance": 0.01}, "test": 50}
    corpus, folder = as_corpus({**SIDES, "expected": {"tokens": sizes}}), Path("results/x/tokens")
    for train in (990, 1000, 1010):
        check_expected(corpus, "tokens", {"train": train, "valid": 7, "test": 50}, folder)
    check_expected(corpus, "text", {"train": 1}, folder)
    check_expected(corpus, "tokens", {"train": 1000}, folder)  # a test set is prepared alone
    for train in (989, 1011):
        with told(folder, f"{train:,}", "'expected.tokens.train'", "1,000", "1 %"):
            check_expected(corpus, "tokens", {"train": train, "test": 50}, folder)
    with told("'expected.tokens.test'", "49", "50"):
        check_expected(corpus, "tokens", {"train": 1000, "test": 49}, folder)


# Streams


def double(items: list[int]) -> list[int]:
    return [2 * item for item in items]


def fail(items: list[int]) -> list[int]:
    raise ValueError(f"item {items[0]}")


@pytest.mark.parametrize("processes", [1, 3])
def test_a_stream_keeps_its_order(processes: int) -> None:
    count = 9 * CHUNK + 5
    assert list(in_order(double, range(count), processes)) == list(range(0, 2 * count, 2))
    assert list(in_order(double, [], processes)) == []
    with told("item 0", error=ValueError):
        list(in_order(fail, range(5), processes))


def test_a_stream_is_not_read_far_ahead() -> None:
    read = 0

    def numbers() -> Iterator[int]:
        nonlocal read
        for number in range(100 * CHUNK):
            read = number
            yield number

    results = in_order(double, numbers(), 2)
    next(results)
    assert read < 10 * CHUNK
    results.close()
