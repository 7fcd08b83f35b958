"""Text of any script becomes tokens, subwords, ids and the same text again."""

import json
import random
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from sacremoses import MosesTokenizer

from nat.data.lines import read_lines
from nat.data.raw_text import Preparation, RawText, bpe_splitter, merge, piece_splitter
from nat.data.subwords import learn, learn_pieces, splitter_at, subwords_file
from nat.data.vocabulary import Vocabularies
from nat.export.huggingface_code import NatTokenizer
from tests.made_up_corpus import as_corpus, corpus_file, prepare_corpus

LINES = [
    "П'ять м’ячів, сім'я та об'єкт!",
    "İstanbul'da saat 14:30'da; IĞDIR'ı gördüm.",
    "L'amic d'en Pere—col·lega, «bé»; qu'il aujourd'hui",
    "Tá an t-uisce fuar, d'ól sé é.",
    "مرحبا، كيف حالك؟ ١٤٫٣ (لا)!",
    "यह क़िताब है। नमस्ते, दुनिया॥",
    "আমি ভাত খাই। কেমন আছো?",
    "ක්\u200dරියාව, ශ්\u200dරී ලංකාව.",
    "👩\u200d👩\u200d👧\u200d👦🇩🇪👍🏽 ok 😀😀!",
    "„Gut“, sagte er – 3,50€ un po’ Peters’ und/oder",
    "foo@@ @-@ @@@ @@x a@@b &amp; &amp;amp; & a@b.com https://x.org/a?b=1",
    "今日は良い天気ですね。カタカナ 漢字 ไทยภาษา 한국어는 좋다",
    "a\u200bb\u00adc \ufeffx \u0301 e\u0301 @\u0301 ﬁ № ½ ①",
    '‿x⁀ ￭ ▁ ⁀203F ‿⁀‿ x‿ ▁a ￭￭ <unk> </w> [x|y] "q"',
]
SPACES = ["", " ", "  ", "\u00a0", "\t", "\u3000", "\u2009"]


def mixtures(number: int, seed: int = 1) -> list[str]:
    """Random pieces of the lines with random spaces between them."""
    draw, whole = random.Random(seed), " ".join(LINES)
    lines = []
    for _ in range(number):
        starts = [draw.randrange(len(whole)) for _ in range(draw.randint(1, 9))]
        pieces = [whole[start : start + draw.randint(1, 6)] for start in starts]
        lines.append("".join(piece + draw.choice(SPACES) for piece in pieces))
    return lines


@pytest.mark.parametrize(
    ("tokeniser", "escaped", "kind"),
    [*product(("unicode", "none"), (False, True), ("bpe", "letters", "pieces"))],
)
def test_every_line_is_restored(tokeniser: str, escaped: bool, kind: str) -> None:
    how = Preparation("xx", tokeniser, escaped)
    lines = [*map(how.normalised, [*LINES, *mixtures(1000)])]
    tokens = [*map(how.tokens, lines)]
    if kind == "pieces":
        split = piece_splitter(learn_pieces(tokens, 400))
    else:
        split = bpe_splitter(learn(tokens, 5 if kind == "letters" else 600))
    for line, its_tokens in zip(lines, tokens, strict=True):
        assert merge(split(its_tokens)) == its_tokens
        assert how.text(split(its_tokens)) == line
        assert how.text(its_tokens.lower()).lower() == line.lower()


def test_marks_stand_at_punctuation_so_that_words_look_alike() -> None:
    how = Preparation("xx", "unicode")
    line = "„Ja“, П'ять (x/y): 14:30 今日。 e-mail"
    tokens = "„‿ Ja ‿“ ‿, П'ять (‿ x ‿/‿ y ‿) ‿: 14 ‿:‿ 30 今 ‿日 ‿。 e ‿-‿ mail"
    assert how.tokens(line) == tokens
    # a model may write a mark too many
    assert how.text("‿ a ‿ ‿b‿ ‿, c ‿") == "ab, c"
    assert how.text("⁀D800 ⁀000A ⁀ffed") == "⁀D800 ⁀000A \uffed"


def test_escapes_are_those_of_moses() -> None:
    line = "AT&T's \"1 < 2\" [a|b] &amp; it's > ''."
    how = Preparation("en", "moses", escaped=True)
    assert how.tokens(line) == MosesTokenizer("en").tokenize(line, return_str=True)
    assert how.text("it &apos;s &amp;lt; &quot; x &quot;") == 'it\'s &lt; "x"'


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("preprocessing", [{"bpe_merges": 90}, {"sentencepiece": 300}])
def test_a_prepared_corpus_and_an_exported_tokeniser_restore_text(
    tmp_path: Path, preprocessing: dict[str, Any], lowercase: bool
) -> None:
    lines = [line.replace("<unk>", "") for line in LINES]
    for split, side in product(("train", "valid", "test"), ("xx", "yy")):
        (tmp_path / f"{split}.{side}").write_text("".join(f"{line}\n" for line in lines * 3))
    own = {**preprocessing, "tokeniser": "unicode", "lowercase": lowercase}
    content = corpus_file("xx", "yy") | {"preprocessing": own}
    corpus = as_corpus(content)
    folder = prepare_corpus("own", corpus, tmp_path)
    (folder / "bpe/corpus.json").write_text(json.dumps(corpus.as_written()))
    expected = [*map(corpus.preparation("xx").normalised, lines)]
    path, vocabularies = subwords_file(folder / "bpe", "source"), Vocabularies.load(folder / "bpe")
    raw_text = RawText(corpus.as_written(), splitter_at(path))
    ids = [vocabularies.target.encode(line) for line in read_lines(folder / "bpe/train.yy")]
    written = [raw_text.text(vocabularies.target.decode(each)) for each in ids[: len(lines)]]
    assert [*map(str.lower, written)] == [*map(str.lower, expected)]
    tokeniser = NatTokenizer(str(folder / "bpe/corpus.json"))
    for line, due in zip(lines, written, strict=True):
        assert tokeniser.decode(tokeniser(line).input_ids, skip_special_tokens=True) == due
