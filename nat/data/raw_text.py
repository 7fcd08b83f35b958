"""Raw text to subwords and back, line by line, as the steps of a corpus do it."""

from nat.data.bpe import Segments, merge
from nat.data.corpus import Corpus
from nat.data.lines import single_line
from nat.data.tokenise import detokenise, tokens_of


class RawText:
    """The preparation of source lines and the detokenisation of target lines of a corpus.

    Args:
        corpus: its languages, diacritics and preprocessing.
        segments: what splits tokens into its subwords.
    """

    def __init__(self, corpus: Corpus, segments: Segments) -> None:
        self._target, self._tokeniser = corpus.target, corpus.preprocessing.tokeniser
        self._prepared = tokens_of(corpus, corpus.source)
        self._segments = segments

    def subwords(self, line: str) -> str:
        """The subwords of a source line, joined by spaces."""
        return self._segments.split(self._prepared(single_line(line)))

    def text(self, subwords: str) -> str:
        """The text of a target line of subwords."""
        return self.joined([subwords])

    def joined(self, parts: list[str]) -> str:
        """The text of several lines of subwords, one after the other."""
        tokens = " ".join(merge(part) for part in parts)
        return detokenise(tokens, self._target, self._tokeniser)
