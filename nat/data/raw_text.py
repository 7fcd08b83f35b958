"""Raw text to subwords and back, line by line, as the steps of a corpus do it."""

from nat.data.bpe import Segments, merge
from nat.data.clean import normaliser
from nat.data.corpus import Corpus
from nat.data.diacritics import line_change
from nat.data.lines import single_line
from nat.data.splits import sides
from nat.data.tokenise import detokenise, tokenise


class RawText:
    """The preparation of source lines and the detokenisation of target lines of a corpus.

    Args:
        corpus: its languages, diacritics and preprocessing.
        segments: what splits tokens into its subwords.
    """

    def __init__(self, corpus: Corpus, segments: Segments) -> None:
        self._options = corpus.preprocessing
        self._source, self._target = sides(corpus)
        self._change = line_change(corpus, self._source)
        punctuation = self._options.normalise_punctuation
        self._normalise = normaliser(self._source, normalise_punctuation=punctuation)
        self._segments = segments

    def subwords(self, line: str) -> str:
        """The subwords of a source line, joined by spaces: diacritics, punctuation, tokens, case
        and subwords."""
        clean = self._normalise(self._change(single_line(line)))
        tokens = tokenise(clean, self._source, self._options.tokeniser)
        return self._segments.split(tokens.lower() if self._options.lowercase else tokens)

    def text(self, subwords: str) -> str:
        """The text of a target line of subwords."""
        return self.joined([subwords])

    def joined(self, parts: list[str]) -> str:
        """The text of several lines of subwords, one after the other."""
        tokens = " ".join(merge(part) for part in parts)
        return detokenise(tokens, self._target, self._options.tokeniser)
