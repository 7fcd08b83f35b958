"""From raw lines to tokens, as the steps of a corpus do; see `nat.data.raw_text`."""

from collections.abc import Callable, Sequence

from nat.data import raw_text
from nat.data.corpus import Corpus, Preprocessing
from nat.data.subwords import joined, merge


def line_change(corpus: Corpus, language: str) -> Callable[[str], str]:
    """Return the change of raw lines of a language (key `diacritics` of the corpus)."""
    return raw_text.line_change(corpus.diacritics.get(language))


def normaliser(language: str, options: Preprocessing) -> Callable[[str], str]:
    """Return the normaliser of raw lines that the options ask for."""
    return raw_text.normaliser(language, options.normalise_punctuation)


def token_maker(language: str, options: Preprocessing) -> Callable[[str], str]:
    """Return a function that makes tokens of a normalised line."""
    name, escaped = options.tokeniser_of(language), options.escaped
    return raw_text.token_maker(language, name, escaped, options.lowercase)


def tokenise(line: str, language: str, options: Preprocessing) -> str:
    """Split a line of a language into tokens joined by single spaces."""
    return raw_text.tokenise(line, language, options.tokeniser_of(language), options.escaped)


def detokenise(line: str, language: str, options: Preprocessing) -> str:
    """Join the tokens of a line to text, see `nat.data.raw_text.detokenise`."""
    return raw_text.detokenise(line, language, options.tokeniser_of(language), options.escaped)


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
