"""Text that others have prepared is looked at: what does not fit is flagged, with an example."""

import random
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nat.data.corpus import Corpus
from nat.data.distilled import distil, of_published
from nat.data.likeness import unlike_others
from nat.data.lines import read_lines, write_lines
from nat.files import read_json
from nat.measures.score import flags as flags_of_score
from tests.made_up_corpus import as_corpus, corpus_file, prepare_corpus, write_text
from tests.messages import must_name

WORDS = ["ärger", "öfter", "größe", "hütte", "tür", "bälle", "Kiste", "Wagen", "Stein", "ist", "zu"]


def pairs_of(count: int, seed: int) -> tuple[list[str], list[str]]:
    """Pairs whose lengths and numbers belong together."""
    draw = random.Random(seed)
    source, target = [], []
    for _ in range(count):
        words, number = draw.choices(WORDS, k=draw.randint(2, 12)), draw.randint(10, 9999)
        source.append(f"{' '.join(word.upper() for word in words)}, {number}.")
        target.append(f"{' '.join(words)}, {number}.")
    return source, target


SPLITS = {"train": (600, 1), "valid": (200, 2), "test": (200, 3)}


def write(root: Path, **changed: tuple[list[str], list[str]]) -> None:
    write_text(root, **{split: pairs_of(*size) for split, size in SPLITS.items()} | changed)


def corpus_of(segmented: bool = False, **preprocessing: Any) -> Corpus:
    content = corpus_file("en", "de") | {"least_perfect_score": 0}
    content["preprocessing"] |= {"bpe_merges": 60, "tokeniser": "unicode", **preprocessing}
    content["splits"]["train"]["segmented"] = segmented
    return as_corpus(content)


def flagged(root: Path, **keys: Any) -> dict[str, list[dict[str, Any]]]:
    """Prepare the corpus; its flags by split."""
    folder = prepare_corpus("own", corpus_of(**keys), root)
    reports = (folder / "bpe/bpe.json", folder.with_name("test") / "bpe/bpe.json")
    flags = [each for path in reports for each in read_json(path).get("flags", [])]
    return {split: [each for each in flags if each["split"] == split] for split in SPLITS}


def shuffled(lines: list[str]) -> list[str]:
    return random.Random(5).sample(lines, len(lines))


def test_text_that_belongs_together_has_no_flags(tmp_path: Path) -> None:
    write(tmp_path)
    assert not any(flagged(tmp_path).values())
    assert (
        read_json(tmp_path / "results/corpora/own/train/bpe/bpe.json")["training"]["pairs"] == 600
    )


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("how", ["shuffled", "shifted", "half"])
def test_sides_that_do_not_belong_together(tmp_path: Path, split: str, how: str) -> None:
    source, target = pairs_of(*SPLITS[split])
    half = len(target) // 2
    changed = {
        "shuffled": shuffled(target),
        "shifted": [*target[1:], target[0]],
        "half": [*target[:half], *target[half + 1 :], target[half]],
    }
    write(tmp_path, **{split: (source, changed[how])})
    flags = flagged(tmp_path)
    [flag] = flags.pop(split)
    must_name(flag["kind"], "belong together")
    must_name(flag["example"], f"of {split}: '", "' | '")
    if (split, how) == ("train", "half"):  # the last 200 of its three parts are unlike the first
        must_name(flag["kind"], "from line 401", "correlate by at most", "others")
        assert flag["count"] == 200 and int(flag["example"].split()[1]) > 400
    else:
        must_name(flag["kind"], "numbers" if how == "half" else "correlate")
        assert flag["count"] == SPLITS[split][0]
    assert not any(flags.values())


def test_parts_of_other_lengths_are_no_wrong_order() -> None:
    draw = np.random.default_rng(1)
    lengths = draw.normal(3, 0.5, (1, 4000)) + draw.normal(0, 0.1, (2, 4000))
    assert unlike_others(lengths) == (slice(0), "")
    short = lengths.copy()
    short[:, 2000:2400] = 1 + draw.normal(0, 0.1, (2, 400))  # as of a list of words
    assert unlike_others(short) == (slice(0), "")
    wrong = lengths.copy()
    wrong[1, 2000:2400] = draw.permutation(wrong[1, 2000:2400])
    assert unlike_others(wrong)[0] == slice(2000, 2400)


@pytest.mark.parametrize("split", ["valid", "test"])
def test_another_form_and_unknown_subwords(tmp_path: Path, split: str) -> None:
    source, target = pairs_of(*SPLITS[split])
    write(tmp_path, **{split: (source, [unicodedata.normalize("NFD", x) for x in target])})
    unknown, form = flagged(tmp_path)[split]
    must_name(unknown["kind"], "'de'", "vocabulary lacks", "%")
    must_name(form["kind"], "'de'", "Unicode form")
    write(tmp_path, **{split: ([f"{line} 猫犬" for line in source], target)})
    [flag] = flagged(tmp_path)[split]
    must_name(flag["kind"], "'en'", "vocabulary lacks")
    assert flag["count"] >= 200 and "猫" in flag["example"]


def spaced(lines: list[str]) -> list[str]:
    return [line.replace(",", " ,").replace(".", " .") for line in lines]


@pytest.mark.parametrize("tokeniser", ["moses", "none"])
def test_text_that_is_tokenised_already(tmp_path: Path, tokeniser: str) -> None:
    write(tmp_path, **{each: tuple(map(spaced, pairs_of(*SPLITS[each]))) for each in SPLITS})
    flags = flagged(tmp_path, tokeniser=tokeniser)
    for split in SPLITS:  # Moses does not change tokens, so only references are compared with text
        languages = [each["kind"].split("'")[1] for each in flags[split]]
        assert languages == (["en", "de"] if tokeniser == "none" else [])
    perfect = read_json(tmp_path / "results/corpora/own/test/tokens/perfect.json")
    must_name(perfect["flags"][-1], "200 references look tokenised")


@pytest.mark.parametrize("segmented", [False, True])
def test_translations_from_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, segmented: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path)
    corpus = corpus_of(tokeniser="moses")
    bpe = prepare_corpus("own", corpus) / "bpe"
    target, path = [*read_lines("train.de")], Path("at-base.de")
    tokens = spaced(target) if segmented else target
    for lines, kinds in (
        (tokens, set()),
        ([f"&quot; {line}" for line in tokens], {"vocabulary lacks", "XML escapes"}),
        (shuffled(tokens), {"belong together"}),
    ):
        write_lines(path, lines)
        published = of_published(path, corpus, bpe, segmented)
        flags = distil(corpus, bpe, published, path, tmp_path / "distilled").get("flags", [])
        assert {each["split"] for each in flags} <= {"at-base"} and len(flags) == len(kinds)
        assert all(any(kind in each["kind"] for each in flags) for kind in kinds)
        assert read_json(tmp_path / "distilled/distillation.json").get("flags", []) == flags


def test_escapes_in_subwords_of_others(tmp_path: Path) -> None:
    source, target = pairs_of(*SPLITS["train"])
    write(tmp_path, train=(source, [f"&apos;s {line}" for line in target]))
    keys = {"segmented": True, "tokeniser": "moses"}
    [flag] = flagged(tmp_path, **keys)["train"]
    must_name(f"{flag['kind']} {flag['remedy']}", "'de'", "XML escapes", "'escaped: true'")
    assert flagged(tmp_path, **keys, escaped=True)["train"] == []


def test_translations_that_cannot_be_compared_are_flagged() -> None:
    references = [f"So it is, number {number}." for number in range(60)]
    assert flags_of_score(references, references) == []
    unknown = ["<unk> it is", *references[1:]]
    assert flags_of_score(unknown, references) == ["unknown words in 1 translation"]
    marked = [f"{line[:4]}@@ {line[4:]}" for line in references]
    assert flags_of_score(marked, references) == ["marks of subwords in 60 translations"]
    assert flags_of_score(marked, marked) == []
    for translations, others, what in (
        (spaced(references), references, "60 translations look tokenised"),
        (references, spaced(references), "60 references look tokenised"),
    ):
        [flag] = flags_of_score(translations, others)
        must_name(flag, what)
