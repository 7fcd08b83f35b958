"""BLEU and chrF of a corpus, by sacreBLEU, and the counts of each sentence behind them.

Papers and users mean two things by BLEU: sacreBLEU (Post, 2018) of detokenised text, and tokenised
BLEU (`multi-bleu`), without smoothing. Both are functions of counts summed over sentences, from
which intervals and tests follow (`significance`). `references[i]` lists all references of sentence
`i`; their number may differ between sentences.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Any

import numpy as np
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.metrics.base import Metric, Signature
from sacrebleu.metrics.bleu import MAX_NGRAM_ORDER as ORDERS
from sacrebleu.metrics.bleu import BLEUScore
from sacrebleu.metrics.helpers import extract_all_char_ngrams

from nat.errors import UserError
from nat.measures import significance
from nat.measures.results import DIGITS

SMOOTHED, UNSMOOTHED = "exp", "none"

WORDS, NOTHING = "13a", "none"
"""Tokenisations: that of sacreBLEU for languages with spaces, and tokens as they are."""

ROWS = 2**16
"""Most rows of counts that are remembered, tens of MB. A job compares many decodings of one text,
and most of their translations are equal."""

_chrf = cache(CHRF)

References = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Counts:
    """The counts that a measure is a function of, in each sentence, and sacreBLEU's signature.

    Those of BLEU are the lengths of hypothesis and reference (tokens), the matching n-grams by
    order and the n-grams of the hypothesis by order, [n, 2 + 4 + 4]; those of chrF, order by order,
    n-grams of the hypothesis, of the reference, and matching ones, [n, 6 x 3].
    """

    sentences: np.ndarray
    signature: str = ""


def sacrebleu(
    hypotheses: Sequence[str],
    references: References,
    lowercase: bool = False,
    tokeniser: str = WORDS,
) -> Counts:
    """Counts of sacreBLEU of detokenised text with one of its tokenisers; `smoothed` scores them.

    Raises a `UserError` if the packages of a tokeniser are not installed.
    """
    return _bleu_counts(_metric(tokeniser, lowercase=lowercase), hypotheses, references)


def tokenised_bleu(
    hypotheses: Sequence[str], references: References, unit: str = NOTHING
) -> Counts:
    """Counts of BLEU of text, split at spaces into a `unit`, see `split`; `unsmoothed` scores them.

    The signature names the unit.
    """
    metric = _metric(NOTHING, smooth_method=UNSMOOTHED)
    return _bleu_counts(metric, hypotheses, references, unit)


def split(lines: Iterable[str], unit: str) -> list[str]:
    """Lines split at spaces into the units of a tokeniser of sacreBLEU; raises as `sacrebleu`."""
    return [*map(_metric(unit).tokenizer, lines)]


def chrf(hypotheses: Sequence[str], references: Sequence[str], lowercase: bool = False) -> Counts:
    """Counts of chrF2 (character 6-grams, beta 2) of detokenised text, with one reference."""
    metric = _chrf(lowercase=lowercase)
    metric.sentence_score(hypotheses[0], [references[0]])  # a signature needs one score
    rows = [
        _character_counts(hypothesis, reference, metric)
        for hypothesis, reference in zip(hypotheses, references, strict=True)
    ]
    return Counts(np.array(rows, dtype=np.int64), str(_signature(metric, {1})))


def parts(sums: np.ndarray, smooth: bool) -> dict[str, Any]:
    """The components of the score of summed counts [10], JSON-able: percent by order, tokens."""
    score = _bleu(sums, SMOOTHED if smooth else UNSMOOTHED)
    return {
        "precisions": [round(float(precision), DIGITS) for precision in score.precisions],
        "brevity_penalty": round(float(score.bp), DIGITS),
        "length_ratio": round(float(score.ratio), DIGITS),
        "hypothesis_length": int(score.sys_len),
        "reference_length": int(score.ref_len),
    }


def _scores(sums: np.ndarray, value: str = "score", **options: Any) -> np.ndarray:
    return np.array([getattr(_bleu(row, **options), value) for row in sums])


smoothed, unsmoothed = partial(_scores), partial(_scores, smooth_method=UNSMOOTHED)
"""BLEU of counts that were summed over sentences, [S, 10] to [S]."""

brevity_penalty = partial(_scores, value="bp")
"""BLEU's brevity penalty of summed counts, [S, 10] to [S]; 0 for empty hypotheses."""

of_sentences = partial(_scores, effective_order=True)
"""BLEU of each sentence by its own counts, [n, 10] to [n].

Plain BLEU of a sentence without a common 4-gram is 0, so orders are smoothed (Chen and Cherry,
2014, as in sacreBLEU) and shorter sentences are judged by the orders that they have.
"""


def chrf_score(sums: np.ndarray) -> np.ndarray:
    """ChrF2 of summed counts, [S, 18] to [S]: F with beta 2 of mean precision and recall.

    Means are over the orders that hypothesis and reference have (sacreBLEU's effective order).
    """
    by_order = sums.reshape(len(sums), CHRF.CHAR_ORDER, 3).astype(np.float64)
    hypothesis, reference, matching = np.moveaxis(by_order, 2, 0)
    counted = (hypothesis > 0) & (reference > 0)
    orders = np.maximum(counted.sum(1), 1)
    precision, recall = (
        np.divide(matching, whole, out=np.zeros_like(matching), where=counted).sum(1) / orders
        for whole in (hypothesis, reference)
    )
    factor = CHRF.BETA**2
    denominator = factor * precision + recall
    both = (1 + factor) * precision * recall
    return 100 * np.divide(both, denominator, out=np.zeros_like(both), where=denominator > 0)


@cache
def _metric(tokeniser: str, **options: Any) -> BLEU:
    """The same object for the same options: it remembers how it splits lines into tokens."""
    try:
        return BLEU(tokenize=tokeniser, force=True, effective_order=True, **options)
    except RuntimeError as error:
        raise UserError(
            f"BLEU with the tokeniser {tokeniser} needs packages that are not installed; run "
            f"\".venv/bin/python -m pip install 'sacrebleu[{tokeniser[:2]}]'\", or set the key "
            "'bleu_tokeniser: char' of the corpus"
        ) from error


def _bleu(
    sums: np.ndarray, smooth_method: str = SMOOTHED, effective_order: bool = False
) -> BLEUScore:
    hypothesis, reference, *counts = (int(round(count)) for count in sums.tolist())
    return BLEU.compute_bleu(
        correct=counts[:ORDERS],
        total=counts[ORDERS:],
        sys_len=hypothesis,
        ref_len=reference,
        smooth_method=smooth_method,
        effective_order=effective_order,
    )


def _bleu_counts(
    metric: BLEU, hypotheses: Sequence[str], references: References, unit: str = NOTHING
) -> Counts:
    rows = [
        _word_counts(hypothesis, tuple(its_references), metric)
        for hypothesis, its_references in zip(hypotheses, references, strict=True)
    ]
    signature = _signature(metric, set(map(len, references)))
    # Orders that exceed the length of a sentence do not affect its counts, but sacreBLEU's
    # warnings; the corpus is scored with all orders.
    signature.update("eff", "no")
    if unit != NOTHING:
        signature.update("tok", unit)
    return Counts(np.array(rows, dtype=np.int64), str(signature))


@lru_cache(maxsize=ROWS)
def _word_counts(hypothesis: str, references: tuple[str, ...], metric: BLEU) -> tuple[int, ...]:
    score = metric.sentence_score(hypothesis, references)
    return (score.sys_len, score.ref_len, *score.counts, *score.totals)


@lru_cache(maxsize=ROWS)
def _character_counts(hypothesis: str, reference: str, metric: CHRF) -> tuple[int, ...]:
    ngrams = [
        extract_all_char_ngrams(text.lower() if metric.lowercase else text, metric.char_order)
        for text in (hypothesis, reference)
    ]
    row: list[int] = []
    for translated, expected in zip(*ngrams, strict=True):
        # sacreBLEU counts no n-grams of an order that exceeds the length of the reference
        common = (translated & expected).total()
        row += [translated.total() if expected else 0, expected.total(), common]
    return tuple(row)


def _signature(metric: Metric, references: set[int]) -> Signature:
    signature = metric.get_signature()
    signature.update("nrefs", references.pop() if len(references) == 1 else "var")
    signature.update("bs", significance.SAMPLES)
    signature.update("seed", significance.SEED)
    return signature
