"""Romanian diacritics, which the two sources of WMT16 En-Ro write in different ways.

Comma and cedilla below s and t are one letter for a reader but two for a model. Most published
results, including those of the papers here, use text without any diacritics (Sennrich et al. 2016).
"""

from collections.abc import Callable

from nat.data.corpus import Corpus

_NORMALISED = str.maketrans("ŞşŢţ", "ȘșȚț")
_REMOVED = str.maketrans("ŞşŢţȘșȚțĂăÂâÎî", "SsTtSsTtAaAaIi")
# Text in decomposed form: a letter followed by breve, circumflex, comma or cedilla below.
_COMBINING = dict.fromkeys((0x0302, 0x0306, 0x0326, 0x0327))


def diacritics(how: str) -> Callable[[str], str]:
    """A function that changes one line.

    Args:
        how: `normalise` replaces cedilla by comma below, `remove` removes all diacritics.
    """
    if how == "normalise":
        return lambda line: line.translate(_NORMALISED)
    return lambda line: line.translate(_REMOVED).translate(_COMBINING)


def line_change(corpus: Corpus, language: str) -> Callable[[str], str]:
    """Return the change of raw lines of a language (key `diacritics` of the corpus)."""
    how = corpus.diacritics.get(language)
    return diacritics(how) if how else lambda line: line
