import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import tests.made_up_run as made_up_run
from nat.data.binarised import BinarisedText
from nat.data.lines import write_lines
from nat.data.splits import PERFECT
from nat.data.translations import write_translations
from nat.data.vocabulary import Vocabularies
from nat.decoding.corpus import Translation, records
from nat.decoding.hypothesis import Hypothesis
from nat.files import read_json, write_json
from nat.measures import score
from nat.measures.perfect import differences
from tests.made_up_corpus import as_corpus, corpus_file, prepare_corpus
from tests.messages import told

PLAIN = ["Das Haus ist sehr groß.", "Wir gehen heute in die Stadt."]
TYPOGRAPHY = ["Er sagt „gut“ und geht dann.", "Das ist und/oder war sehr schön."]
UKRAINIAN = ["П'ять котів спали тут.", "У мене є п'ять м'ячів."]
CHINESE = ["今天天气很好，我们去公园玩吧。", "我喜欢吃苹果和香蕉。"]
JAPANESE = ["今日はとても良い天気ですね。", "私は猫が好きです。"]
ESCAPED = ["er sagt &quot; gut &quot; und geht .", "das ist sehr schön ."]
MOSES = {"normalise_punctuation": True, "tokeniser": "moses", "bpe_merges": 9}
QUOTED = ['Er sagt " gut " " und geht " .', '" das " " ist " " sehr schön " .']
ACCEPTED = {"least_perfect_score": 0}
PIECES = {"sentencepiece": 40}
NFKC = PIECES | {"sentencepiece_normalisation": "nmt_nfkc"}
UNICODE = {"tokeniser": "unicode", "bpe_merges": 9}
TORN = ["AT&amp;T und B&amp;B sind &amp; da.", "Das &amp; ist &quot;sehr&quot; schön."]


def perfect(
    root: Path,
    language: str,
    lines: Sequence[str],
    preprocessing: dict[str, Any],
    *,
    train: Sequence[str] = (),
    **keys: Any,
) -> dict[str, Any]:
    """Prepare a corpus with this test set, which is also the training text if none is given."""
    for split, of_target in (("train", train or lines), ("valid", lines), ("test", lines)):
        many = 20 if split == "train" else 1
        write_lines(root / f"{split}.{language}", list(of_target) * many)
        write_lines(root / f"{split}.en", ["one small dog ran over there", "a dog"] * many)
    content = corpus_file("en", language) | keys
    content["preprocessing"] |= preprocessing
    (root / "own.json").write_text(json.dumps(content))
    prepared = prepare_corpus("own", as_corpus(content), root)
    found: dict[str, Any] = read_json(prepared.with_name("test") / "tokens" / PERFECT)
    return found


@pytest.mark.parametrize(
    ("language", "lines", "preprocessing", "keys", "scores", "tokenisers", "first"),
    [
        ("de", PLAIN, MOSES, {}, (100, 100), "13a none", ()),
        ("de", TYPOGRAPHY, MOSES, {}, (69.578942, 100), "13a none", ("„gut“", '"gut"', 1)),
        ("uk", UKRAINIAN, MOSES, ACCEPTED, (30.739408, 100), "13a none", ("П'ять", "П 'ять", 1)),
        ("zh", CHINESE, {"tokeniser": "jieba", "bpe_merges": 9}, {}, (100, 100), "zh none", ()),
        ("zh_TW", CHINESE, PIECES, {}, (100, 100), "zh zh", ()),
        ("zh_TW", CHINESE, NFKC, {}, (87.758338, 87.758338), "zh zh", ("，", ",", 1)),
        ("uk", UKRAINIAN, UNICODE, {}, (100, 100), "13a none", ()),
        ("ja", JAPANESE, PIECES, {"bleu_tokeniser": "char"}, (100, 100), "char char", ()),
    ],
)
def test_a_perfect_translation_scores_what_preparation_leaves(
    tmp_path: Path,
    language: str,
    lines: Sequence[str],
    preprocessing: dict[str, Any],
    keys: dict[str, Any],
    scores: tuple[float, float],
    tokenisers: str,
    first: tuple[str, str, int],
) -> None:
    found = perfect(tmp_path, language, lines, preprocessing, **keys)
    names = ("sacrebleu", "tokenised_bleu")
    assert [found[name] for name in names] == pytest.approx(scores)
    for name, tokeniser in zip(names, tokenisers.split(), strict=True):
        assert f"|tok:{tokeniser}|" in found["signatures"][name]
    [*different] = found["differences"]
    assert (tuple(different[0].values()) if different else ()) == first
    assert len(found["flags"]) == (min(scores) < 99)
    assert ("only" in found["note"]) == (min(scores) < 99)
    # it is what a system scores that writes the subwords of the references
    folder = tmp_path / "results/corpora/own/test"
    corpus = as_corpus(read_json(tmp_path / "own.json"))
    vocabulary = Vocabularies.load(folder / "binarised").target
    text = BinarisedText(folder / f"binarised/test.{language}")
    ids = [Translation(n, Hypothesis(text[n].tolist(), -1.0, 2)) for n in range(len(text))]
    rows = records(ids, vocabulary, corpus.preparation(language))
    write_translations(tmp_path / "test.jsonl", rows)
    references = score.reference_files(folder, corpus, "test", several=False)
    report, _ = score.score(tmp_path / "test.jsonl", references, corpus)
    for name in (*names, "chrf"):
        assert report["measures"][name]["value"] == found[name]
    assert (report["perfect"], report["flags"]) == (found, found["flags"])


@pytest.mark.parametrize(
    ("language", "lines", "preprocessing", "keys", "parts"),
    [
        (
            "uk",
            UKRAINIAN,
            MOSES,
            {},
            ["30.74", "П 'ять", "'tokeniser: unicode'", "'least_perfect_score: 30'"],
        ),
        ("ja", JAPANESE, PIECES, {"bleu_tokeniser": "13a"}, ["0.00", "'bleu_tokeniser'"]),
        ("ja", JAPANESE, PIECES, {}, ["ja-mecab", "sacrebleu[ja]", "'bleu_tokeniser: char'"]),
        ("de", QUOTED, MOSES, {"train": ESCAPED}, ["<unk>", "XML escapes", "'escaped: true'"]),
        ("de", TORN, MOSES, {}, ["AT&amp;T", "XML escapes", "without them"]),
    ],
)
def test_a_low_score_of_a_perfect_translation_stops_with_its_cause_and_key(
    tmp_path: Path,
    language: str,
    lines: Sequence[str],
    preprocessing: dict[str, Any],
    keys: dict[str, Any],
    parts: Sequence[str],
) -> None:
    if "ja-mecab" in parts and find_spec("MeCab"):
        pytest.skip("the packages for Japanese are installed")
    with told(*parts):
        perfect(tmp_path, language, lines, preprocessing, **keys)
    assert not (tmp_path / "results/corpora/own/test/tokens" / PERFECT).exists()


def test_differences_of_one_kind_are_counted_together_and_five_are_shown() -> None:
    truth = ["a/b c", "d/e f", "fi same", *(f"word{n}! x" for n in "!?.,")]
    texts = ["a / b c", "d / e f", "ﬁ same", *(f"word{n} x" for n in "!?.,")]
    long = "a b " * 50_000
    found = differences([*truth, long], [*texts, f"{long} c"])
    assert len(found) == 5
    assert found[0] == {"reference": "a/b", "translation": "a / b", "count": 2}
    assert found[1] == {"reference": "fi", "translation": "ﬁ", "count": 1}


def test_tables_show_what_a_perfect_translation_scores(tmp_path: Path) -> None:
    made_up_run.write_corpus(tmp_path)
    told_ = {"note": "a perfect translation scores only 50", "flags": ["a low score"]}
    run = made_up_run.configuration(tmp_path, {"paper": made_up_run.PAPER})
    made_up_run.publish(tmp_path)
    path = made_up_run.run(tmp_path, "nat-kd", "one-pass", errors=0.2)
    write_json(path, read_json(path) | {"perfect": told_, "flags": told_["flags"]})
    table = made_up_run.make_table(run)
    notes = [note for note in table.notes if "perfect" in note]
    assert notes == ["NAT (En-De): a perfect translation scores only 50."]
    assert any("a low score" in note for note in table.notes)
