from pathlib import Path

import pytest

from nat.data.text import read_lines, write_lines
from nat.data.tokenise import detokenise, tokenise, tokenise_folder
from nat.errors import UserError


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


def test_unknown_tokeniser() -> None:
    for function in (tokenise, detokenise):
        with pytest.raises(UserError, match=r"tokeniser is 'mosse'.*moses, none"):
            function("a", "en", "mosse")


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
        tokenise_folder(corpus, tmp_path / "clean", tmp_path / str(threads), threads)
    alone = list(read_lines(tmp_path / "1" / "train.en"))
    assert alone == [f"Line {n} , twice ." if n % 7 else "" for n in range(4500)]
    assert list(read_lines(tmp_path / "2" / "train.en")) == alone
