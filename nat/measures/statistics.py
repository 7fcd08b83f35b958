"""The counts of each sentence behind a score file: `{split}.npz` beside `{split}.json`.

A measure of translations is a function of counts that are summed over sentences. The file holds
them sentence by sentence, so that intervals and paired tests are computed from it alone. A measure
of part of a test set, such as its long sentences, has the numbers of these sentences instead of its
own counts.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from sacrebleu.significance import estimate_ci

from nat.checksums import remedy, sha256_of
from nat.data.arrays import read_arrays
from nat.data.corpus import Corpus
from nat.data.translations import OK
from nat.errors import UserError
from nat.files import atomic_path
from nat.measures import bleu
from nat.measures.bleu import Counts
from nat.measures.results import DIGITS
from nat.measures.significance import Estimate, Value, resample

BUCKET, LONG = "tokenised_bleu_bucket_", "tokenised_bleu_long"
"""Tokenised BLEU of part of a test set."""

BUCKETS = 5  # equally large parts of a test set by target length (Norouzi et al. 2022, figure 5),
# and of a sentence
LONG_WORDS = 40  # number of words from which a source sentence is long (Li et al. 2019, table 2)

PARTS = (LONG, *(f"{BUCKET}{number}" for number in range(1, BUCKETS + 1)))

CHECKSUM = "statistics"  # key of a score: SHA-256 of its counts

PART = "sentences_of_"  # prefix of the name of a measure: the numbers of its sentences, [m]


def percent(sums: np.ndarray) -> np.ndarray:
    """Share of the first count in the second in percent, [S, 2] to [S]; 0 if the second is 0."""
    return 100 * ratio(sums)


def ratio(sums: np.ndarray) -> np.ndarray:
    """The first count divided by the second, [S, 2] to [S]; 0 if the second is 0."""
    first, second = sums[:, 0].astype(np.float64), sums[:, 1].astype(np.float64)
    return np.divide(first, second, out=np.zeros_like(first), where=second > 0)


def lacking(words: Iterable[Hashable], other: Iterable[Hashable]) -> list[bool]:
    """For each word, from left to right, whether another text lacks it, or has it less often."""
    left, marked = Counter(other), []
    for word in words:
        marked.append(left[word] <= 0)
        left[word] -= 1
    return marked


OF_HUNDRED: tuple[Value, ...] = (bleu.smoothed, bleu.unsmoothed, bleu.chrf_score, percent)
HIGHEST: dict[Value, float] = dict.fromkeys(OF_HUNDRED, 100.0) | {bleu.brevity_penalty: 1.0}
"""The largest value of a measure; there is none of the others."""


@dataclass(frozen=True)
class TranslatedText:
    """The translations of a test set of a corpus and its references, by sentence.

    `rows` are the lines of the file of translations (`nat.data.translations`), and `words` these
    translations, tokenised and split into the unit of the corpus. `reference` is one reference as
    it is, and `several` are all of the sentences that have several, by number; `tokens` and
    `several_tokens` are the same like `words`.
    """

    corpus: Corpus
    rows: Sequence[Mapping[str, Any]]
    words: Sequence[str]
    reference: Sequence[str]
    tokens: Sequence[str]
    several: Mapping[int, Sequence[str]]
    several_tokens: Mapping[int, Sequence[str]]

    @property
    def lowercase(self) -> bool:
        """True if the preprocessing lower-cases, so that case does not count."""
        return self.corpus.preprocessing.lowercase

    @property
    def text(self) -> list[str]:
        """The translations, detokenised."""
        return [row["text"] for row in self.rows]

    @cached_property
    def repeated(self) -> list[list[bool]]:
        """For each word of each translation, whether it equals the one before."""
        rows = (sentence.split() for sentence in self.words)
        return [[i > 0 and word == row[i - 1] for i, word in enumerate(row)] for row in rows]

    @cached_property
    def wrong(self) -> list[list[bool]]:
        """For each word of each translation, whether the nearest reference lacks it.

        The nearest reference has most words of the translation.
        """
        marked = []
        for number, sentence in enumerate(self.words):
            words, several = sentence.split(), self.several_tokens.get(number)
            own = Counter(words)
            references = [Counter(each.split()) for each in several or [self.tokens[number]]]
            in_common = [(each & own).total() for each in references]
            nearest = references[in_common.index(max(in_common))]
            marked.append(lacking(words, nearest))
        return marked


def _bleu(of: TranslatedText, tokens: bool = False, several: bool = False) -> Counts | None:
    """Of detokenised text or tokens, with one reference or, where there are any, with several."""
    lines, single = (of.words, of.tokens) if tokens else (of.text, of.reference)
    references: Sequence[Sequence[str]] = [[line] for line in single]
    if several:
        lines = [lines[number] for number in of.several]
        references = [*(of.several_tokens if tokens else of.several).values()]
    if not lines:
        return None
    if tokens:
        return bleu.tokenised_bleu(lines, references, of.corpus.unit)
    return bleu.sacrebleu(lines, references, of.lowercase, of.corpus.counted_as)


def _marked(marked: Iterable[Sequence[bool]]) -> Counts:
    """Marked words and all words of each translation."""
    return Counts(np.array([[sum(each), len(each)] for each in marked]))


def _at(of: TranslatedText, kind: str, place: int) -> Counts:
    """The same of a fifth of each translation: word i of n is in fifth 5i / n."""
    return _marked(
        [each for i, each in enumerate(words) if i * BUCKETS // len(words) == place - 1]
        for words in getattr(of, kind)
    )


def _wrong_ranked(of: TranslatedText, fifth: int) -> Counts:
    """Wrong words of a fifth of the translations, of which the last has the highest scores.

    The score is that of the decoding, nats; of equal ones, the order in the test set decides.
    """
    ranked = np.argsort([row["score"] for row in of.rows], kind="stable")
    own = {*np.array_split(ranked, BUCKETS)[fifth - 1].tolist()}
    return _marked(each if number in own else [] for number, each in enumerate(of.wrong))


def _passes(of: TranslatedText) -> Counts:
    """Passes of the sentences that could be decoded."""
    return Counts(
        np.array([[row["steps"], 1] if row["status"] == OK else [0, 0] for row in of.rows])
    )


@dataclass(frozen=True)
class Measured:
    """The computation of a measure from counts in each sentence, and its smallest value.

    `counts` are None for a test set where there is nothing to count, or name the measure whose
    counts are shared; `part` names the measure whose sentences are taken, if they are not all.
    """

    counts: Callable[[TranslatedText], Counts | None] | str
    value: Value
    part: str = ""
    lowest: float = 0.0


FIFTHS = range(1, BUCKETS + 1)

MEASURED = {
    "sacrebleu": Measured(_bleu, bleu.smoothed),
    "tokenised_bleu": Measured(partial(_bleu, tokens=True), bleu.unsmoothed),
    "multi_reference_bleu": Measured(partial(_bleu, several=True), bleu.smoothed),
    "multi_reference_tokenised_bleu": Measured(
        partial(_bleu, tokens=True, several=True), bleu.unsmoothed
    ),
    "chrf": Measured(lambda of: bleu.chrf(of.text, of.reference, of.lowercase), bleu.chrf_score),
    "brevity_penalty": Measured("tokenised_bleu", bleu.brevity_penalty),
    "sacrebleu_brevity_penalty": Measured("sacrebleu", bleu.brevity_penalty),
    "length_ratio": Measured("tokenised_bleu", ratio),
    "repeated_tokens": Measured(lambda of: _marked(of.repeated), percent),
    **{
        f"{kind}_tokens_place_{place}": Measured(partial(_at, kind=kind, place=place), percent)
        for kind in ("repeated", "wrong")
        for place in FIFTHS
    },
    **{
        f"wrong_tokens_confidence_{fifth}": Measured(partial(_wrong_ranked, fifth=fifth), percent)
        for fifth in FIFTHS
    },
    "passes": Measured(_passes, ratio, lowest=1.0),
    **{name: Measured("tokenised_bleu", bleu.unsmoothed, part=name) for name in PARTS},
    **{
        name.replace("tokenised_bleu", "multi_reference_bleu"): Measured(
            "multi_reference_bleu", bleu.smoothed, part=name
        )
        for name in PARTS
    },
}
"""Every measure of a score file; a new one is an entry here and a line of `known.csv`."""


def counted(text: TranslatedText) -> dict[str, Counts]:
    """The counts of each measure that has its own, and something to count in a text."""
    own = {name: each.counts for name, each in MEASURED.items() if not isinstance(each.counts, str)}
    counts = {name: count(text) for name, count in own.items()}
    return {name: each for name, each in counts.items() if each is not None}


def counted_as(measure: str) -> str:
    """The measure whose counts a measure is a function of, as the arrays are named."""
    counts = MEASURED[measure].counts
    return counts if isinstance(counts, str) else measure


def counts_of(measure: str, arrays: Mapping[str, np.ndarray]) -> np.ndarray | None:
    """Counts of the sentences that a measure is about, [m, K]; `None` if it was not measured."""
    counts, part = arrays.get(counted_as(measure)), MEASURED[measure].part
    if counts is None or not part:
        return counts
    chosen = arrays.get(PART + part)
    # Where some sentences have no further references, the counts are not those of all sentences.
    complete = len(counts) == len(arrays["tokenised_bleu"])
    return counts[chosen] if chosen is not None and complete else None


def sentences_by_length(
    references: Sequence[str], sources: Sequence[str] | None
) -> dict[str, list[int]]:
    """Numbers of the sentences that each measure of `PARTS` is about; none of them is empty.

    Buckets are by tokenised references, the shortest first, and differ by at most one sentence in
    size; of equal lengths the order in the test set decides. Sentences are long by their tokenised
    sources, if these are known.
    """
    lengths, words = (
        [len(sentence.split()) for sentence in side] for side in (references, sources or ())
    )
    chosen = {LONG: [sentence for sentence, length in enumerate(words) if length >= LONG_WORDS]}
    if len(lengths) >= BUCKETS:
        order = np.argsort(lengths, kind="stable")
        borders = [len(order) * part // BUCKETS for part in range(1, BUCKETS)]
        for number, bucket in enumerate(np.split(order, borders), 1):
            chosen[f"{BUCKET}{number}"] = sorted(bucket.tolist())
    return {name: sentences for name, sentences in chosen.items() if sentences}


def resampled(measure: str, arrays: Mapping[str, np.ndarray]) -> Estimate:
    """A measure on a test set and on resamples of the sentences that it is about."""
    counts = counts_of(measure, arrays)
    assert counts is not None
    return resample(counts, MEASURED[measure].value)


def number(counts: np.ndarray, value: Value, lowest: float = 0.0) -> dict[str, float | None]:
    """A measure of counts [n, K] and its 95% interval, as files hold them; none of one sentence.

    The interval is sacreBLEU's, half the spread around the mean, within the values that there are.
    """
    measured = resample(counts, value)
    low = high = None
    if measured.samples is not None:
        mean, half = map(float, estimate_ci(measured.samples))
        low = round(max(min(lowest, measured.value), mean - half), DIGITS)
        high = round(min(HIGHEST.get(value, math.inf), mean + half), DIGITS)
    return {"value": round(measured.value, DIGITS), "low": low, "high": high}


def read(score: Path, content: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The arrays beside a score, or beside the one that it is a link to, of another run.

    Raises as `read_arrays`, and if they are of another score.
    """
    path = score.with_suffix(".npz")
    path = path if path.exists() else score.resolve().with_suffix(".npz")
    if content.get(CHECKSUM) not in (None, sha256_of(path)):
        raise UserError(f"{path} and {score} do not belong together; {remedy(score)}")
    return read_arrays(path)


def write(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays by name, atomically."""
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **dict(sorted(arrays.items())))
