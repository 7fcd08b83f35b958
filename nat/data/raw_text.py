"""Raw text to subwords and back, as the keys of a corpus say.

A line is changed in its diacritics, which belong to the text that translations are compared with,
then in its punctuation, is tokenised and, since the rules of tokenisers depend on case, lower-cased
last. Tokens are not escaped for XML (`&`, `<`, `|`, quotes and brackets stay), unless the subwords
of others ask for it (`escaped`).

The tokeniser `unicode` splits each word at the boundaries of Unicode's standard annex 29, and marks
a token that has no space before or after it with an undertie there: `(so)!` becomes `(‿ so ‿) ‿!`.
So text is restored exactly. Characters that mean something in tokens or subwords are written as a
character tie and their number, whatever the tokeniser is: `‿` becomes `⁀203F`.

Byte pair encoding (Sennrich et al. 2016) marks a subword that is not the last of its token with
`@@` at its end. A SentencePiece (Kudo and Richardson 2018) that does not begin a word is marked
with a halfwidth black square (U+FFED) at its beginning instead, since Japanese text has no words to
split; a beginning that belongs to no subword is a lower one eighth block (U+2581). Therefore each
subword shows how it is joined, and `merge` works for both kinds.

This file imports nothing of its project, and a package only where a corpus needs it: exported
models carry a copy of it.
"""

import io
import json
import logging
import re
import tempfile
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import regex

CODES = "codes"
PIECES = "pieces.model"
"""Files of subwords. The codes of one side have its name at their end, as in `codes.source`."""

NO_CODES = "#version: 0.2\n"
SPACE = "\u2581"
_JOINED = "\uffed"
_CONTINUED = re.compile(f"@@(?: |$)|{SPACE}(?: {_JOINED})?| ?{_JOINED}")
_MOST_CACHED = 200_000  # types whose subwords a segmenter caches

# Characters that str.splitlines breaks at, other than the line feed.
_SEPARATORS = str.maketrans(dict.fromkeys("\r\v\f\x1c\x1d\x1e\x85\u2028\u2029", " "))

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

# The two marks above, those of subwords, and how they are written.
_RESERVED = re.compile(f"[{_TIE}{_NUMBER}\u2581\uffed]|(?<=@)@")
_WRITTEN = re.compile(f"{_NUMBER}(203f|2040|2581|ffed|0040)", re.IGNORECASE)

MOSES = ("moses", "moses_dashes")

# The first characters that rules of the punctuation normaliser can match. A line without them does
# not change, so most lines need none of its fifty regular expressions.
_PUNCTUATION = re.compile("[\r()`\"„“”–—´‘’‚…«»\u00a0]|''|  | [:;%]")

# A space beside a character that is not a letter or digit of a Western script.
_NO_SPACE = re.compile(r"(?<![A-Za-z0-9]) | (?![A-Za-z0-9])")


_BOUNDARIES = regex.compile(r"(?V1w)\b")


@cache
def _moses(tool: str, *language: str) -> Any:
    import sacremoses  # takes as long as the rest of the program

    return getattr(sacremoses, tool)(*language)


def has_rules(language: str) -> bool:
    """Return True for a language that Moses has rules for; others get those of English."""
    return language.lower() in _moses("NonbreakingPrefixes").available_langs


@lru_cache(maxsize=2**16)
def _tied(word: str) -> str:
    """The tokens of a word without spaces; where they join, one of them has a mark.

    It is the one that is punctuation, so that words look the same wherever they stand.
    """
    tokens = [token for token in _BOUNDARIES.split(word) if token]
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


_UNSEEN = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp", "Zs"))  # categories of characters without ink
_FILLERS = "\u115f\u1160\u2800\u3164\uffa0"  # letters and symbols without ink

Splitter = Callable[[str], str]  # splits a line of tokens into subwords, joined by spaces


def single_line(text: str) -> str:
    """A line without its end, and with spaces for line separators within it."""
    return text.rstrip("\r\n").translate(_SEPARATORS)


def is_blank(line: str) -> bool:
    """Return True for a line without any character that can be seen."""
    return all(unicodedata.category(each) in _UNSEEN or each in _FILLERS for each in line)


@dataclass(frozen=True)
class Preparation:
    """How the lines of a language become tokens, and tokens or subwords become text again.

    The tokeniser `moses_dashes` also splits words at dashes (`@-@`), `none` leaves words as they
    are.
    """

    language: str
    tokeniser: str
    escaped: bool = False
    lowercase: bool = False
    normalise_punctuation: bool = False
    diacritics: str | None = None

    @classmethod
    def of(cls, corpus: Mapping[str, Any], language: str) -> "Preparation":
        """That of a language of a corpus, from the keys of a file of `config/corpora`."""
        how, diacritics = corpus["preprocessing"], corpus.get("diacritics", {})
        name, escaped = how["tokeniser"], how.get("escaped", False)
        tokeniser = name if isinstance(name, str) else name[language]
        changes = how["lowercase"], how["normalise_punctuation"], diacritics.get(language)
        return cls(language, tokeniser, escaped, *changes)

    def changed(self, line: str) -> str:
        """A raw line with its diacritics as the corpus has them."""
        return line.translate(_DIACRITICS[self.diacritics]) if self.diacritics else line

    def normalised(self, line: str) -> str:
        """A line with normal punctuation, if that is asked for, as the Moses script makes it.

        Whitespace of any kind becomes single spaces, and control characters are removed, since a
        tokeniser would drop them later and could leave a line empty.
        """
        if self.normalise_punctuation and _PUNCTUATION.search(line):
            line = _moses("MosesPunctNormalizer", self.language).normalize(line)
        return " ".join(line.translate(_REMOVED).split())

    def tokens(self, line: str) -> str:
        """The tokens of a normalised line, joined by single spaces."""
        if is_blank(line):
            return ""
        if self.tokeniser == "unicode":
            line = " ".join(map(_tied, line.split()))
        else:
            tokens = [line]
            if self.tokeniser in MOSES:
                tokens = _moses("MosesTokenizer", self.language).tokenize(
                    line, aggressive_dash_splits=self.tokeniser == "moses_dashes", escape=False
                )
            elif self.tokeniser == "jieba":
                tokens = _jieba().lcut(line)
            line = _protected(" ".join(" ".join(tokens).split()))
        if self.escaped:
            line = _moses("MosesTokenizer", self.language).escape_xml(line)
        return line.lower() if self.lowercase else line

    def prepared(self, line: str) -> str:
        """The tokens of a raw line, as the steps of a corpus make them."""
        return self.tokens(self.normalised(self.changed(line)))

    def text(self, *parts: str) -> str:
        """The text of tokens or subwords, one line after the other: the inverse of `tokens`.

        It is exact for `unicode` and `none`, spaces aside, and for the others where the tokens
        determine the text (99.7% of the lines of Multi30k, English and German; the others have
        stray spaces or single quotes; in Chinese, spaces beside Western words).
        """
        line = " ".join(map(merge, parts))
        if self.escaped:
            line = _moses("MosesDetokenizer", self.language).unescape_xml(line)
        if self.tokeniser in MOSES:
            words = line.split()
            text = _moses("MosesDetokenizer", self.language).detokenize(words, unescape=False)
        else:
            text = " ".join(line.split())
            if self.tokeniser == "unicode":
                text = _TIES.sub("", text)
            elif self.tokeniser == "jieba":
                text = _NO_SPACE.sub("", text)
        return _WRITTEN.sub(lambda match: chr(int(match[1], 16)), text)


def untied(token: str) -> str:
    """A token without the marks of `unicode`."""
    return token.strip(_TIE)


def bpe_splitter(codes: str) -> Splitter:
    """Byte pair encoding; codes without any merge (`bpe_merges: 0`) leave the tokens whole."""
    if codes == NO_CODES:
        return str
    from subword_nmt.apply_bpe import BPE

    bpe = BPE(io.StringIO(codes))

    def split(line: str) -> str:
        if len(bpe.cache) > _MOST_CACHED:
            bpe.cache.clear()
        return str(bpe.segment(line))

    return split


def piece_splitter(model: bytes) -> Splitter:
    """SentencePieces, with the marks described above."""
    from sentencepiece import SentencePieceProcessor

    pieces = SentencePieceProcessor()
    pieces.LoadFromSerializedProto(model)  # unlike the constructor, refuses an empty one
    return lambda line: " ".join(map(marked, pieces.encode(line, out_type=str)))


def splitter_of(name: str, content: bytes) -> Splitter:
    """The splitter that a file of subwords describes; errors are those of its package."""
    return piece_splitter(content) if name.endswith(PIECES) else bpe_splitter(content.decode())


def marked(piece: str) -> str:
    """A piece as SentencePiece writes it, with the marks that it has here."""
    if piece.startswith(SPACE):
        return piece.removeprefix(SPACE) or SPACE
    return _JOINED + piece


def merge(line: str) -> str:
    """Join subwords to tokens: the inverse of a `Splitter`.

    A model may end a sentence with a subword that should be continued; its mark is removed too.
    """
    return _CONTINUED.sub("", line)


class RawText:
    """Raw source lines to subwords, and subwords of the target to text, as a corpus has them.

    `corpus` has the keys of a file of `config/corpora`, or of `corpus.json` beside a model.
    """

    def __init__(self, corpus: Mapping[str, Any], splitter: Splitter) -> None:
        self._splitter = splitter
        self._source = Preparation.of(corpus, corpus["source"])
        self._target = Preparation.of(corpus, corpus["target"])

    @classmethod
    def of_folder(cls, folder: Path) -> "RawText":
        """As the files of an exported model say."""
        corpus = json.loads((folder / "corpus.json").read_text(encoding="utf-8"))
        names = (f"{CODES}.source", CODES, PIECES)
        file = next(path for path in map(folder.joinpath, names) if path.exists())
        return cls(corpus, splitter_of(file.name, file.read_bytes()))

    def subwords(self, line: str) -> str:
        """The subwords of a source line, joined by spaces."""
        return self._splitter(self._source.prepared(single_line(line)))

    def text(self, *parts: str) -> str:
        """The text of lines of subwords of the target, one after the other."""
        return self._target.text(*parts)
