"""BLEU and chrF of a corpus, by sacreBLEU, with bootstrap intervals.

Two kinds of BLEU are reported side by side because papers and users mean different things:

- *sacreBLEU* (Post, 2018): detokenised text against the untouched reference, `13a` tokenisation;
- *tokenised BLEU*: what NAT papers print, `multi-bleu`: the Moses-tokenised text is split at
  blanks and nothing else, no smoothing (a missing n-gram order gives 0).

References are given per sentence: `references[i]` lists all references of sentence `i`, and the
sentences may differ in how many they have.
"""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import Any

from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.metrics.base import Metric

BOOTSTRAP_SAMPLES = 1000
BOOTSTRAP_SEED = 12345
DIGITS = 6

References = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Score:
    """A corpus score on the scale 0 to 100 with its 95% bootstrap interval.

    `precisions` (percent), `brevity_penalty` and the lengths (tokens) are those of BLEU; chrF has
    none of them.
    """

    value: float
    signature: str
    low: float | None = None
    high: float | None = None
    precisions: tuple[float, ...] | None = None
    brevity_penalty: float | None = None
    length_ratio: float | None = None
    hypothesis_length: int | None = None
    reference_length: int | None = None

    def line(self) -> str:
        """The line of `multi-bleu`: BLEU, precisions, brevity penalty, ratio and lengths."""
        precisions = "/".join(f"{precision:.1f}" for precision in self.precisions or ())
        return (
            f"{self.value:.2f}, {precisions} (BP={self.brevity_penalty:.3f}, "
            f"ratio={self.length_ratio:.3f}, syslen={self.hypothesis_length}, "
            f"reflen={self.reference_length})"
        )

    def as_dict(self) -> dict[str, Any]:
        """The fields that are set, ready for JSON."""
        return {key: value for key, value in asdict(self).items() if value is not None}


def sacrebleu(
    hypotheses: Sequence[str],
    references: References,
    lowercase: bool = False,
    samples: int = BOOTSTRAP_SAMPLES,
) -> Score:
    """SacreBLEU with `13a` tokenisation of detokenised text.

    `lowercase` is for corpora whose preprocessing lower-cases: their models cannot know the case
    of the reference. `samples` is the number of bootstrap resamples (0: no interval).
    """
    return corpus_score(sacrebleu_metric(references, lowercase), hypotheses, samples)


def tokenised_bleu(
    hypotheses: Sequence[str], references: References, samples: int = BOOTSTRAP_SAMPLES
) -> Score:
    """BLEU of tokenised text, words as they stand between blanks, without smoothing."""
    return corpus_score(tokenised_metric(references), hypotheses, samples)


def chrf(
    hypotheses: Sequence[str],
    references: References,
    lowercase: bool = False,
    samples: int = BOOTSTRAP_SAMPLES,
) -> Score:
    """ChrF2 (character 6-grams, beta 2) of detokenised text."""
    metric = CHRF(lowercase=lowercase, references=_streams(references))
    return corpus_score(metric, hypotheses, samples)


def sacrebleu_metric(references: References, lowercase: bool) -> BLEU:
    """SacreBLEU's metric with these references."""
    return BLEU(lowercase=lowercase, force=True, references=_streams(references))


def tokenised_metric(references: References) -> BLEU:
    """The metric of tokenised BLEU with these references."""
    return BLEU(tokenize="none", force=True, smooth_method="none", references=_streams(references))


def corpus_score(metric: Metric, hypotheses: Sequence[str], samples: int) -> Score:
    """Score `hypotheses` with a metric that holds its references.

    The interval is sacreBLEU's: the middle 95% of the resampled scores, around their mean.

    Raises:
        ValueError: if there are no hypotheses or another number of them than of references.
    """
    check_counts(metric, hypotheses)
    with fixed_seed():
        # sacreBLEU takes 1 for "no resampling".
        result = metric.corpus_score(list(hypotheses), None, n_bootstrap=max(samples, 1))
    signature = str(metric.get_signature())
    low = high = None
    if samples > 1:
        printed = json.loads(result.format(DIGITS, signature=signature, is_json=True))
        # sacreBLEU leaves out an interval around 0, where every resample scores 0.
        mean, half = printed.get("confidence_mean", 0.0), printed.get("confidence_var", 0.0)
        low, high = round(mean - half, DIGITS), round(mean + half, DIGITS)
    value = round(float(result.score), DIGITS)
    if not isinstance(metric, BLEU):
        return Score(value, signature, low, high)
    return Score(
        value=value,
        signature=signature,
        low=low,
        high=high,
        precisions=tuple(round(float(precision), DIGITS) for precision in result.precisions),
        brevity_penalty=round(float(result.bp), DIGITS),
        length_ratio=round(float(result.ratio), DIGITS),
        hypothesis_length=int(result.sys_len),
        reference_length=int(result.ref_len),
    )


def check_counts(metric: Metric, hypotheses: Sequence[str]) -> None:
    """Refuse what sacreBLEU would cut silently to the shorter of both sides."""
    expected = len(metric._ref_cache or ())
    if not hypotheses or len(hypotheses) != expected:
        raise ValueError(f"{len(hypotheses)} hypotheses for {expected} references")


@contextmanager
def fixed_seed() -> Iterator[None]:
    """Resample with our seed, whatever the environment says; sacreBLEU reads it from there."""
    before = os.environ.get("SACREBLEU_SEED")
    os.environ["SACREBLEU_SEED"] = str(BOOTSTRAP_SEED)
    try:
        yield
    finally:
        if before is None:
            del os.environ["SACREBLEU_SEED"]
        else:
            os.environ["SACREBLEU_SEED"] = before


def _streams(references: References) -> Any:
    """From references per sentence to sacreBLEU's streams, `None` where a sentence has fewer."""
    if not references or not all(references):
        raise ValueError("every sentence needs at least one reference")
    return [list(stream) for stream in zip_longest(*references)]
