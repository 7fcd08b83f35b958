"""Is the difference between two systems more than the choice of test sentences?

Paired bootstrap resampling (Koehn, 2004) as implemented by sacreBLEU: both systems are scored on
the same resampled sentences.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest, Result

from nat.measures import bleu


@dataclass(frozen=True)
class Comparison:
    """Difference in BLEU of a system to its baseline, with the p-value of the paired test."""

    difference: float
    p_value: float
    samples: int
    signature: str


def paired_bootstrap(
    baseline: Sequence[str],
    system: Sequence[str],
    metric: BLEU,
    samples: int = bleu.BOOTSTRAP_SAMPLES,
) -> Comparison:
    """Compare translations of the same sentences.

    Args:
        baseline: translations of the baseline, one for each sentence.
        system: translations of the system under test.
        metric: `bleu.sacrebleu_metric` (detokenised text) or `bleu.tokenised_metric`.
        samples: bootstrap resamples; the smallest p-value is 1 / (samples + 1).

    Raises:
        ValueError: if the numbers of sentences differ.
    """
    bleu.check_counts(metric, baseline)
    bleu.check_counts(metric, system)
    first, second = list(baseline), list(system)
    with bleu.fixed_seed():
        test = PairedTest(
            [("baseline", first), ("system", second)],
            {"BLEU": metric},
            None,
            test_type="bs",
            n_samples=samples,
        )
        signatures, scores = test()
    of_first, of_second = scores["BLEU"]
    assert isinstance(of_first, Result) and isinstance(of_second, Result)
    assert of_second.p_value is not None
    difference = round(of_second.score - of_first.score, bleu.DIGITS)
    # Where samples differ by nothing at all, sacreBLEU takes that for the rarest outcome.
    p_value = of_second.p_value if difference else 1.0
    return Comparison(
        difference=difference,
        p_value=round(p_value, bleu.DIGITS),
        samples=samples,
        signature=str(signatures["BLEU"]),
    )
