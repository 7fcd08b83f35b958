"""The summary of a corpus: its sizes, and what one would look for by hand, with examples."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from nat.configuration.checks import check_corpus
from nat.data.flags import shown
from nat.data.lines import read_lines
from nat.data.raw_text import is_blank
from nat.data.summary import summarise, told
from nat.data.vocabulary import Vocabularies
from nat.files import read_json
from tests.data.test_text import make
from tests.made_up_corpus import as_corpus, corpus_file, prepare_corpus, write_text
from tests.messages import must_name
from tests.messages import told as refused


def corpus_of(root: Path, source: str = "en", target: str = "de", **keys: Any) -> dict[str, Any]:
    """A corpus of forty pairs, with a validation and a test set of other words."""
    content = corpus_file(source, target)
    content["preprocessing"] |= {"bpe_merges": 20, **keys}
    content["least_perfect_score"] = 0  # few subwords are known
    for split, count in (("train", 40), ("valid", 4), ("test", 4)):
        sides = (
            [f"{split} {side} word {number} end" for number in range(count)]
            for side in (source, target)
        )
        write_text(root, (source, target), **{split: [*sides]})
    return content


def report(root: Path, content: dict[str, Any]) -> dict[str, Any]:
    corpus = as_corpus(content)
    return summarise(corpus, prepare_corpus("own", corpus, root).parent)


def flags(summary: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    for flag in summary["flags"]:
        assert flag["count"] and flag["remedy"] and re.search(r"\d+ of .*: '", flag["example"])
    lines = [*told(summary)]
    assert all(any(each["kind"] in line for line in lines) for each in summary["flags"])
    own = (flag for flag in summary["flags"] if "vocabulary lacks" not in flag["kind"])
    return {(flag["split"], flag["kind"]): flag for flag in own}


def one(found: dict[tuple[str, str], dict[str, Any]], split: str, word: str) -> dict[str, Any]:
    [flag] = [flag for (of, kind), flag in found.items() if of == split and word in kind]
    return flag


WORDS = ("the dog, a cat", "der Hund, eine Katze")


@pytest.mark.parametrize("merges", [15, {"en": 5, "de": 15}])
def test_sizes_are_those_of_the_steps(tmp_path: Path, merges: Any) -> None:
    content = corpus_of(tmp_path, bpe_merges=merges, tokeniser="moses")
    sides = [[f"{words} {n % 9}." for n in range(60)] for words in WORDS]
    sides[0][1] = sides[1][1] = ""
    write_text(tmp_path, train=sides, test=[side[:4] for side in sides])
    summary = report(tmp_path, content)
    folder = tmp_path / "results/corpora/own/train"
    assert json.loads(json.dumps(summary)) == summary
    train, test = summary["splits"]["train"], summary["splits"]["test"]
    assert (train["read"], train["pairs"], train["dropped"]["empty"]) == (60, 59, 1)
    assert (test["pairs"], test["faulty"]["empty"], test["languages"]["de"]["empty"]) == (4, 1, 1)
    assert (test["perfect"]["sacrebleu"], "perfect" in train) == (100, False)
    assert train["languages"]["en"]["words"] == 59 * 7
    subwords = [len(line.split()) for line in read_lines(folder / "bpe" / "train.de")]
    described = train["languages"]["de"]
    assert (described["tokens"], described["max_length"]) == (sum(subwords), max(subwords))
    assert described["mean_length"] == pytest.approx(sum(subwords) / 59, abs=1e-3)
    assert described["unknown_rate"] == 0
    vocabularies, found = Vocabularies.load(folder / "binarised"), summary["vocabulary"]
    if isinstance(merges, dict):
        sizes = found["target"]["size"], found["source"]["size"]
        assert (found["source"]["merges"], found["target"]["merges"]) == (5, 15)
    else:
        sizes = found["size"], None
        assert found["merges"] == 15
    assert sizes == vocabularies.sizes


def test_clean_text_has_no_flags_but_its_lengths(tmp_path: Path) -> None:
    summary = report(tmp_path, corpus_of(tmp_path))
    assert flags(summary) == {}
    train = summary["splits"]["train"]
    low, median, high = train["languages"]["en"]["lengths"].values()
    assert 0 < low <= median <= high and 0.5 < train["ratios"]["0.5"] < 2
    lines = [line for line in told(summary) if "vocabulary lacks" not in line]
    must_name(lines[0], "train", "40 pairs", "en", "de", f"median {median:g}")
    assert [line.partition(":")[0] for line in lines] == ["train", "valid", "test", "test"]
    must_name(lines[-1], "a perfect translation", "only")


@pytest.mark.parametrize(("source", "target"), [("en", "de"), ("ja", "ar"), ("hi", "en")])
def test_what_is_in_the_training_text_is_counted_on_every_held_out_split(
    tmp_path: Path, source: str, target: str
) -> None:
    content = corpus_of(tmp_path, source, target, bpe_merges=0)
    sources = [*["猫が来た。"] * 3, "मैं घर", "x", "Mixed Case"]
    targets = [*["القطة جاءت"] * 3, "home", "y", "gross"]
    held_out = [["new", "मैं  घर", "猫が来た。", "mixed case"], ["neu", "home ", "other", "Gross"]]
    splits = {"train": [sources, targets], "valid": held_out, "test": held_out}
    write_text(tmp_path, (source, target), **splits)
    found = flags(report(tmp_path, content))
    repeated = one(found, "train", "repeated")
    assert repeated["count"] == 2
    must_name(repeated["example"], "line 2 of", "猫が来た。", "القطة جاءت")
    must_name(repeated["remedy"], "drop_duplicates")
    for split in ("valid", "test"):
        assert one(found, split, "pairs that are in")["count"] == 1
        must_name(one(found, split, "pairs that are in")["example"], "line 2 of", "मैं घर")
        assert one(found, split, "whose source is")["count"] == 1
    content["preprocessing"] |= {"lowercase": True, "drop_duplicates": True}
    found = flags(report(tmp_path, content))
    assert one(found, "test", "pairs that are in")["count"] == 2  # a model sees no case
    assert one(found, "train", "repeated")["count"] == 2
    assert "left out" in one(found, "train", "repeated")["remedy"]


def test_lines_that_cannot_be_seen_and_entities(tmp_path: Path) -> None:
    content = corpus_of(tmp_path, tokeniser="moses")
    for split, count in (("train", 40), ("test", 4)):
        rest = [f"Wort {number}" for number in range(count - 3)]
        source = ["\u200b", "", "Tom &amp; I &#39;s", *rest]
        write_text(tmp_path, **{split: [source, ["so", "so", "R&D & S&P; AT&T", *rest]]})
    found = flags(report(tmp_path, content))
    for split, what in (("train", "left out"), ("test", "stay")):
        hidden = one(found, split, "cannot be seen")
        assert hidden["count"] == 1 and what in hidden["remedy"]
        must_name(hidden["example"], "line 1 of", r"\u200b", "so")
        assert one(found, split, "without text")["count"] == 1
        assert one(found, split, "entities")["count"] == 1
        assert "&amp;" in one(found, split, "entities")["example"]


def test_lines_without_ink() -> None:
    for line in ("", " ", "\u200b", "\ufeff \u2060\u00ad", "\u3164", "\u200e\t"):
        assert is_blank(line)
    for line in ("x", "\u200b.", "猫", "🙂", "\ue000"):
        assert not is_blank(line)
    assert shown("a\u200bb " + "x" * 90) == r"'a\u200bb " + "x" * 56 + "...'"


def test_languages_without_rules(tmp_path: Path) -> None:
    content = corpus_of(tmp_path, "tr", "en", tokeniser="moses")
    flag = one(flags(report(tmp_path, content)), "train", "'tr'")
    assert flag["count"] == 40
    must_name(flag["remedy"], "'tokeniser: unicode'")
    content["preprocessing"]["tokeniser"] = {"tr": "none", "en": "moses"}
    assert not flags(report(tmp_path, content))


# Files


def test_line_ends_are_told_where_they_are_odd(tmp_path: Path) -> None:
    content = corpus_of(tmp_path)
    text = (tmp_path / "train.en").read_text()
    odd = text.replace("word 3 end", "word\u20283 end").replace("word 5 end", "word\r5 end")
    (tmp_path / "train.en").write_bytes(odd.replace("\n", "\r\n").encode())
    flag = one(flags(report(tmp_path, content)), "train", "line ends")
    assert flag["count"] == 2
    must_name(flag["example"], "line 4 of", "train.en", r"word\u20283")
    for lines in ("a\rb\rc\r", "a\rb"):
        (tmp_path / "train.en").write_bytes(lines.encode())
        with refused("splits.train", "train.en", "carriage returns", "no line feed", r"tr '\r'"):
            make(tmp_path, content)
    (tmp_path / "train.en").write_text(text)
    content["distilled"] = {"at-base": {"files": {"de": "other.de"}}}
    (tmp_path / "other.de").write_bytes(b"a\rb\rc")
    with refused("distilled.at-base", "other.de", "carriage returns"):
        make(tmp_path, content)


def tsv(root: Path, lines: list[str], **keys: Any) -> dict[str, Any]:
    content = corpus_of(root)
    (root / "all.tsv").write_text("".join(f"{line}\n" for line in lines))
    of_tsv = {"files": {"pairs": "all.tsv"}, "format": "tsv", "columns": {"en": 0, "de": 1}}
    content["splits"]["train"] = of_tsv | keys
    return content


@pytest.mark.parametrize("place", [0, 3, 20])
def test_a_tab_inside_a_sentence_moves_no_columns(tmp_path: Path, place: int) -> None:
    lines = [f"word {number} end\tWort {number} Ende" for number in range(40)]
    lines[place] = "two\thalves\tzwei Hälften"
    content = tsv(tmp_path, lines)
    summary = report(tmp_path, content)
    flag = one(flags(summary), "train", "more columns")
    assert flag["count"] == 1 and summary["splits"]["train"]["pairs"] == 39
    must_name(flag["example"], f"line {place + 1} of", "all.tsv", r"two\thalves\tzwei Hälften")
    assert "halves" not in (tmp_path / "results/corpora/own/train/clean/train.de").read_text()
    content["splits"] |= {"train": content["splits"]["valid"], "valid": content["splits"]["train"]}
    with refused("splits.valid", "all.tsv", f"line {place + 1}", "columns 0 to 2", "most lines"):
        make(tmp_path, content)


def test_scores_that_are_no_numbers_leave_their_lines_out(tmp_path: Path) -> None:
    scores = ["nan", *["0.9"] * 40, "NaN"]
    lines = [f"word {number}\tWort {number}\t{score}" for number, score in enumerate(scores)]
    content = tsv(tmp_path, lines, minimum={"column": 2, "value": 0.5})
    summary = report(tmp_path, content)
    flag = one(flags(summary), "train", "no number")
    assert flag["count"] == 2 and summary["splits"]["train"]["read"] == 40
    must_name(flag["example"], "line 1 of", r"\tnan")


# Splits that are cut out


@pytest.mark.parametrize("drop_duplicates", [True, False])
def test_no_pair_is_in_two_splits_that_are_cut_out(tmp_path: Path, drop_duplicates: bool) -> None:
    content = corpus_of(tmp_path, lowercase=True, drop_duplicates=drop_duplicates)
    pairs = [f"Word {number // 3} End" for number in range(90)]
    pairs[1::3] = [f"word  {number} end" for number in range(30)]  # the same when it is clean
    write_text(tmp_path, train=[pairs, pairs])
    content["splits"] |= {"valid": {"every": 5}, "test": {"every": 7}}
    place = tmp_path / "results/corpora/own"
    found = flags(report(tmp_path, content))
    folders = {"train": place / "train", "valid": place / "train", "test": place / "test"}
    texts = {
        split: [" ".join(line.lower().split()) for line in read_lines(folder / f"text/{split}.en")]
        for split, folder in folders.items()
    }
    several = [{*lines} for lines in texts.values()]
    assert len(set.union(*several)) == sum(map(len, several)) == 30
    for split, count in (("valid", 6), ("test", 3)):
        assert len(texts[split]) == count
        assert not [kind for of, kind in found if of == split]
    assert read_json(place / "train/text/text.json")["pairs"]["train"] == len(texts["train"])
    gone = one(found, "train", "cut out")
    assert gone["count"] == 90 - sum(map(len, texts.values())) and "keep" in gone["remedy"]


def test_repeated_pairs_stay_where_a_recipe_keeps_them(tmp_path: Path) -> None:
    content = corpus_of(tmp_path)
    pairs = [f"word {number // 3}" for number in range(90)]
    write_text(tmp_path, train=[pairs, pairs])
    content["splits"]["valid"] = {"every": 5, "keep_repeated": True}
    found = flags(report(tmp_path, content))
    place = tmp_path / "results/corpora/own/train/text"
    assert (place / "valid.en").read_text().splitlines() == pairs[4::5]
    assert read_json(place / "text.json")["pairs"]["train"] == 72
    assert one(found, "valid", "in the training text")["count"] == 18
    content["splits"]["test"]["keep_repeated"] = True
    with refused("splits.test", "keep_repeated", "every"):
        check_corpus("own", as_corpus(content))
