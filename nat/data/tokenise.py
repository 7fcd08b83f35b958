"""From raw lines to tokens and subwords, and back.

A line is changed in its diacritics, which belong to the text that translations are compared with,
then in its punctuation, is tokenised and, since the rules of tokenisers depend on case, lower-cased
last. Tokens are not escaped for XML (`&`, `<`, `|`, quotes and brackets stay), unless the subwords
of others ask for it (`escaped`).

The tokeniser `unicode` splits each word at the boundaries of Unicode's standard annex 29, and marks
a token that has no space before or after it with an undertie there: `(so)!` becomes `(‿ so ‿) ‿!`.
So text is restored exactly. Characters that mean something in tokens or subwords are written as a
character tie and their number, whatever the tokeniser is: `‿` becomes `⁀203F`.
"""

import logging
import re
import tempfile
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any

from nat.data.corpus import Corpus, Preprocessing
from nat.data.flags import is_blank
from nat.data.lines import single_line
from nat.data.subwords import Splitter, joined, merge

# Romanian text has comma or cedilla below s and t, which are one letter for a reader but two for a
# model. Most published results use text without any diacritics (Sennrich et al. 2016). The last
# four are combining characters.
_DIACRITICS: dict[str, dict[int, Any]] = {
    "normalise": str.maketrans("ŞşŢţ", "ȘșȚț"),
    "remove": str.maketrans("ŞşŢţȘșȚțĂăÂâÎî", "SsTtSsTtAaAaIi", "\u0302\u0306\u0326\u0327"),
}

# Control characters other than whitespace: 0 to 8, 14 to 31, and delete.
_REMOVED = dict.fromkeys([*range(9), *range(14, 32), 127])

_TIE, _NUMBER = "\u203f", "\u2040"
_TIES = re.compile(f" *{_TIE}[ {_TIE}]*")

# The two marks above, those of subwords (see nat.data.subwords), and how they are written.
_RESERVED = re.compile(f"[{_TIE}{_NUMBER}\u2581\uffed]|(?<=@)@")
_WRITTEN = re.compile(f"{_NUMBER}(203f|2040|2581|ffed|0040)", re.IGNORECASE)

_XML = {"&": "amp", "|": "#124", "<": "lt", ">": "gt"}
_XML |= {"'": "apos", '"': "quot", "[": "#91", "]": "#93"}
_ESCAPES = str.maketrans({character: f"&{name};" for character, name in _XML.items()})
_ESCAPED = re.compile(f"&({'|'.join(_XML.values())});")
_UNESCAPED = {name: character for character, name in _XML.items()}

# The first characters that rules of the punctuation normaliser can match. A line without them does
# not change, so most lines need none of its fifty regular expressions.
_PUNCTUATION = re.compile("[\r()`\"„“”–—´‘’‚…«»\u00a0]|''|  | [:;%]")

# A space beside a character that is not a letter or digit of a Western script.
_NO_SPACE = re.compile(r"(?<![A-Za-z0-9]) | (?![A-Za-z0-9])")


@cache
def _moses(tool: str, language: str) -> Any:
    import sacremoses  # takes as long as the rest of the program

    return getattr(sacremoses, tool)(language)


@cache
def _boundaries() -> Any:
    import regex  # only one tokeniser needs it

    return regex.compile(r"(?V1w)\b")


@lru_cache(maxsize=2**16)
def _tied(word: str) -> str:
    """The tokens of a word without spaces; where they join, one of them has a mark.

    It is the one that is punctuation, so that words look the same wherever they stand.
    """
    tokens = [token for token in _boundaries().split(word) if token]
    has_letters = [any(map(str.isalnum, token)) for token in tokens]
    tied = [_protected(token) for token in tokens]
    for at in range(1, len(tokens)):
        if has_letters[at] and not has_letters[at - 1]:
            tied[at - 1] += _TIE
        else:
            tied[at] = _TIE + tied[at]
    return " ".join(tied)


def _protected(text: str) -> str:
    return _RESERVED.sub(lambda match: f"{_NUMBER}{ord(match[0]):04X}", text)


@cache
def _jieba() -> Any:
    import jieba  # only text in Chinese needs it

    jieba.setLogLevel(logging.WARNING)
    tokeniser = jieba.Tokenizer()
    # By default it loads its cache from a folder that all users of the machine can write to.
    with tempfile.TemporaryDirectory() as folder:
        tokeniser.tmp_dir = folder
        tokeniser.initialize()
    return tokeniser


def line_change(corpus: Corpus, language: str) -> Callable[[str], str]:
    """Return the change of raw lines of a language (key `diacritics` of the corpus)."""
    table = _DIACRITICS.get(corpus.diacritics.get(language, ""))
    return str if table is None else lambda line: line.translate(table)


def normaliser(language: str, options: Preprocessing) -> Callable[[str], str]:
    """Return a function that normalises punctuation, if asked to, as the Moses script does.

    Whitespace of any kind becomes single spaces, and control characters are removed, since a
    tokeniser would drop them later and could leave a line empty.
    """
    moses = _moses("MosesPunctNormalizer", language) if options.normalise_punctuation else None

    def normalise(line: str) -> str:
        if moses is not None and _PUNCTUATION.search(line):
            line = moses.normalize(line)
        return " ".join(line.translate(_REMOVED).split())

    return normalise


def token_maker(language: str, options: Preprocessing) -> Callable[[str], str]:
    """Return a function that makes tokens of a normalised line."""

    def tokens(line: str) -> str:
        line = "" if is_blank(line) else tokenise(line, language, options)
        return line.lower() if options.lowercase else line

    return tokens


def tokenise(line: str, language: str, options: Preprocessing) -> str:
    """Split a line of a language into tokens joined by single spaces.

    `moses_dashes` also splits words at dashes (`@-@`), `none` leaves words as they are.
    """
    name = options.tokeniser_of(language)
    if name == "unicode":
        line = " ".join(map(_tied, line.split()))
    else:
        tokens = [line]
        if name in ("moses", "moses_dashes"):
            tokens = _moses("MosesTokenizer", language).tokenize(
                line, aggressive_dash_splits=name == "moses_dashes", escape=False
            )
        elif name == "jieba":
            tokens = _jieba().lcut(line)
        line = _protected(" ".join(" ".join(tokens).split()))
    return line.translate(_ESCAPES) if options.escaped else line


def detokenise(line: str, language: str, options: Preprocessing) -> str:
    """Join the tokens of a line to text: the inverse of `tokenise`.

    It is exact for `unicode` and `none`, spaces aside, and for the others where the tokens
    determine the text (99.7% of the lines of Multi30k, English and German; the others have stray
    spaces or single quotes; in Chinese, spaces beside Western words).
    """
    name = options.tokeniser_of(language)
    if options.escaped:
        line = _ESCAPED.sub(lambda match: _UNESCAPED[match[1]], line)
    if name in ("moses", "moses_dashes"):
        text = _moses("MosesDetokenizer", language).detokenize(line.split(), unescape=False)
    else:
        text = " ".join(line.split())
        if name == "unicode":
            text = _TIES.sub("", text)
        elif name == "jieba":
            text = _NO_SPACE.sub("", text)
    return _WRITTEN.sub(lambda match: chr(int(match[1], 16)), text)


def untied(token: str) -> str:
    """A token without the marks of `unicode`."""
    return token.strip(_TIE)


def text_of(subwords: str, language: str, options: Preprocessing) -> str:
    """The text that a line of predicted subwords stands for."""
    return detokenise(merge(subwords), language, options)


def tokens_of(corpus: Corpus, language: str, segmented: bool = False) -> Callable[[str], str]:
    """Return a function that makes tokens of a raw line of a language, as the steps of a corpus do.

    Lines that are `segmented` consist of subwords, see `nat.data.corpus.Split`.
    """
    options, change = corpus.preparation(segmented), line_change(corpus, language)
    normalise, tokens = normaliser(language, options), token_maker(language, options)

    def prepared(line: str) -> str:
        words = joined(line, corpus.in_pieces) if segmented else line
        return tokens(normalise(change(words)))

    return prepared


def target_tokens(lines: Sequence[str], corpus: Corpus) -> list[str]:
    """Tokens of raw lines of the target language, as they are in the `tokens` of a corpus."""
    return list(map(tokens_of(corpus, corpus.target), lines))


class RawText:
    """Raw source lines to subwords, and subwords of the target to text, as a corpus has them."""

    def __init__(self, corpus: Corpus, splitter: Splitter) -> None:
        self._corpus, self._splitter = corpus, splitter
        self._prepared = tokens_of(corpus, corpus.source)

    def subwords(self, line: str) -> str:
        """The subwords of a source line, joined by spaces."""
        return self._splitter(self._prepared(single_line(line)))

    def text(self, *parts: str) -> str:
        """The text of lines of subwords of the target, one after the other."""
        line, corpus = " ".join(map(merge, parts)), self._corpus
        return detokenise(line, corpus.target, corpus.preprocessing)
