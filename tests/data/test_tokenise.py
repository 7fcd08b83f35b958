from pathlib import Path
from typing import Any

import pytest
from made_up_corpus import as_corpus

from nat.data.lines import read_lines, write_lines
from nat.data.tokenise import detokenise, target_tokens, tokenise, tokenise_folder, usefulness
from nat.files import read_json
from tests.messages import told


@pytest.mark.parametrize(
    ("language", "text", "tokens"),
    [
        ("en", "Don't stop, Mr. Smith!", "Don 't stop , Mr. Smith !"),
        ("en", 'AT&T says "1 < 2" [a|b].', 'AT & T says " 1 < 2 " [ a | b ] .'),
        ("de", "Ein T-Shirt für 3,50 Euro...", "Ein T-Shirt für 3,50 Euro ..."),
    ],
)
def test_moses_without_escapes_or_dash_splits(language: str, text: str, tokens: str) -> None:
    assert tokenise(text, language, "moses") == tokens


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Don't stop, Mr. Smith's dog (the big one) won't bite!"),
        ("en", 'She said: "It costs $3.50, or 10%."'),
        ("de", 'Er sagte: "Das T-Shirt, z.B. in Größe 38, kostet 3,50 €?"'),
        ("fr", "L'homme n'a pas d'idée."),
        ("ro", "Aceștia, însă, nu știu (încă) nimic."),
        ("xx", "Words of no known language, all the same."),
    ],
)
def test_detokenised_text_is_as_it_was(language: str, text: str) -> None:
    assert detokenise(tokenise(text, language, "moses"), language, "moses") == text


def test_no_tokeniser_keeps_words() -> None:
    assert tokenise(" ka tu\u00a0ri ", "xx", "none") == "ka tu ri"
    assert detokenise("ka tu ri", "xx", "none") == "ka tu ri"
    assert tokenise("", "en", "moses") == "" == detokenise("", "en", "moses")


def test_dashes_are_split_on_request() -> None:
    text = "A well-known, 21-year-old - and English-German - test."
    tokens = tokenise(text, "en", "moses_dashes")
    assert tokens == "A well @-@ known , 21 @-@ year @-@ old - and English @-@ German - test ."
    assert detokenise(tokens, "en", "moses_dashes") == text


def test_chinese_words() -> None:
    tokens = tokenise("我来到北京清华大学，GPU 很快。", "zh", "jieba")
    assert tokens == "我 来到 北京 清华大学 ， GPU 很快 。"
    assert detokenise(tokens, "zh", "jieba") == "我来到北京清华大学，GPU很快。"
    assert detokenise("GPU 3 ok 。", "zh", "jieba") == "GPU 3 ok。"


def test_a_tokeniser_for_each_language() -> None:
    both = {"zh": "jieba", "en": "moses"}
    assert tokenise("我来到北京", "zh", both) == "我 来到 北京"
    assert tokenise("It's here.", "en", both) == "It 's here ."
    assert detokenise("It 's here .", "en", both) == "It's here."


def test_processes_keep_order_and_empty_lines(tmp_path: Path) -> None:
    corpus = {
        "source": "en",
        "target": "de",
        "splits": {"train": {}},
        "preprocessing": {"tokeniser": "moses"},
    }
    (tmp_path / "clean").mkdir()
    lines = [f"Line {number}, twice." if number % 7 else "" for number in range(4500)]
    for language in ("en", "de"):
        write_lines(tmp_path / "clean" / f"train.{language}", lines)
    for threads in (1, 2):
        tokenise_folder(as_corpus(corpus), tmp_path / "clean", tmp_path / str(threads), threads)
    alone = list(read_lines(tmp_path / "1" / "train.en"))
    assert alone == [f"Line {n} , twice ." if n % 7 else "" for n in range(4500)]
    assert list(read_lines(tmp_path / "2" / "train.en")) == alone


PAIRS = [
    ("Ein Haus, ja.", "A house, yes."),  # 5 and 5 tokens
    ("Eins, zwei, drei.", "One"),  # 6 and 1
    ("Ein Wort " * 6, "A word " * 6),  # 12 and 12
    ("Ende.", "The end."),  # 2 and 3
]
CORPUS: dict[str, Any] = {
    "source": "de",
    "target": "en",
    "splits": {"train": {}, "test": {}},
    "preprocessing": {
        "tokeniser": "moses",
        "lowercase": True,
        "normalise_punctuation": False,
        "measure": "tokens",
        "max_tokens": 10,
        "max_ratio": 1.5,
    },
}


def test_lengths_in_tokens_drop_training_pairs_only(tmp_path: Path) -> None:
    for split in CORPUS["splits"]:
        for number, language in enumerate(("de", "en")):
            write_lines(tmp_path / f"{split}.{language}", [pair[number] for pair in PAIRS])
    tokenise_folder(as_corpus(CORPUS), tmp_path, tmp_path / "tokens")
    facts = read_json(tmp_path / "tokens" / "tokens.json")["splits"]
    dropped = {"empty": 0, "too_long": 1, "ratio": 1}
    assert facts["train"] == {"read": 4, "kept": 2, "dropped": dropped}
    assert facts["test"] == {"read": 4, "kept": 4, "dropped": {}}
    assert list(read_lines(tmp_path / "tokens" / "train.de")) == ["ein haus , ja .", "ende ."]
    references = [pair[1] for pair in PAIRS]
    tokens = list(read_lines(tmp_path / "tokens" / "test.en"))
    assert target_tokens(references, as_corpus(CORPUS)) == tokens
    useful = usefulness(as_corpus(CORPUS))
    assert [useful(*pair) for pair in PAIRS] == [True, False, False, True]


def test_sizes_are_checked_and_nothing_is_kept(tmp_path: Path) -> None:
    for language, line in (("de", "ein zwei drei"), ("en", "one")):
        for split in CORPUS["splits"]:
            write_lines(tmp_path / f"{split}.{language}", [line])
    with told(tmp_path, "max_ratio"):
        tokenise_folder(as_corpus(CORPUS), tmp_path, tmp_path / "tokens")
    corpus = CORPUS | {"expected": {"tokens": {"test": 2}}}
    corpus["preprocessing"] = CORPUS["preprocessing"] | {"max_ratio": 9.0}
    with told("1", "expected.tokens.test"):
        tokenise_folder(as_corpus(corpus), tmp_path, tmp_path / "tokens")
    assert not (tmp_path / "tokens").exists()
