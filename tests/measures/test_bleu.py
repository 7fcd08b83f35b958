import csv
import gzip
import json
import os
import random
from itertools import zip_longest
from pathlib import Path

import pytest
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.metrics.base import Metric, Score

from nat.measures import bleu, significance, statistics
from tests.repository import ROOT

PUBLISHED = Path(
    os.environ.get("NAT_PUBLISHED_OUTPUTS", ROOT.parent / "shared/data/published-outputs")
)
REPORTED = PUBLISHED / "reported_bleu.tsv"


def lines(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode("utf-8").split("\n")[:-1]


@pytest.mark.skipif(
    not REPORTED.exists(),
    reason=f"no published outputs at {PUBLISHED}; set NAT_PUBLISHED_OUTPUTS to their folder",
)
def test_tokenised_bleu_equals_every_reported_line() -> None:
    with REPORTED.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert len(rows) == 6
    for row in rows:
        hypotheses = lines(PUBLISHED / row["task"] / f"{row['output']}.hyp.gz")
        references = lines(PUBLISHED / row["task"] / "ref.txt.gz")
        assert len(hypotheses) == len(references) == int(row["sentences"])
        counts = bleu.tokenised_bleu(hypotheses, [[line] for line in references]).sentences
        sums = counts.sum(0)
        found = bleu.parts(sums, smooth=False)
        precisions = "/".join(f"{precision:.1f}" for precision in found["precisions"])
        assert (
            f"{bleu.unsmoothed(sums[None])[0]:.2f}, {precisions} "
            f"(BP={found['brevity_penalty']:.3f}, ratio={found['length_ratio']:.3f}, "
            f"syslen={found['hypothesis_length']}, reflen={found['reference_length']})"
        ) == row["bleu_line_reported"]


@pytest.fixture
def seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SACREBLEU_SEED", str(significance.SEED))


def texts(seed: int, sentences: int = 30) -> tuple[list[str], list[list[str]]]:
    """Translations, and one to three references of each: short, long, empty, with odd blanks."""
    numbers = random.Random(seed)
    words = ["a", "bb", "Cé", "d.", "e-f", "漢字", "g,h", "&quot;", "1,000.5", "\u00a0x"]

    def line() -> str:
        return numbers.choice([" ", "  "]).join(
            numbers.choices(words[: numbers.choice((3, 10))], k=numbers.choice((0, 1, 3, 9, 30)))
        )

    references = [[line() or "z" for _ in range(numbers.randint(1, 3))] for _ in range(sentences)]
    hypotheses = [
        numbers.choice([line(), "", its[0], its[-1] + " " + line(), its[0].upper()])
        for its in references
    ]
    return hypotheses, references


def equals_sacrebleu(
    counts: bleu.Counts,
    value: significance.Value,
    metric: Metric,
    hypotheses: list[str],
    streams: list[list[str]],
) -> Score:
    """The score exactly; signature and interval, which sacreBLEU takes of float32, as printed.

    But no interval begins below 0.
    """
    score = metric.corpus_score(hypotheses, streams, n_bootstrap=significance.SAMPLES)
    assert value(counts.sentences.sum(0, keepdims=True))[0] == pytest.approx(score.score, abs=1e-12)
    assert counts.signature == str(metric.get_signature())
    _, low, high = statistics.number(counts.sentences, value).values()
    printed = json.loads(score.format(6, is_json=True, signature=counts.signature))
    mean, half = printed.get("confidence_mean", 0.0), printed.get("confidence_var", 0.0)
    assert (low, high) == pytest.approx((max(mean - half, 0), mean + half), abs=1e-3)
    return score


@pytest.mark.parametrize("number", range(4))
def test_scores_of_counts_are_sacrebleus_own(number: int, seed: None) -> None:
    hypotheses, references = texts(number)
    streams = [list(stream) for stream in zip_longest(*references)]
    lowercase = bool(number % 2)
    counts = bleu.sacrebleu(hypotheses, references, lowercase)
    metric: Metric = BLEU(lowercase=lowercase, force=True)
    score = equals_sacrebleu(counts, bleu.smoothed, metric, hypotheses, streams)
    parts = bleu.parts(counts.sentences.sum(0), smooth=True)
    assert parts["precisions"] == [round(precision, 6) for precision in score.precisions]
    assert parts["brevity_penalty"] == round(score.bp, 6)
    assert (parts["hypothesis_length"], parts["reference_length"]) == (score.sys_len, score.ref_len)
    counts = bleu.tokenised_bleu(hypotheses, references)
    metric = BLEU(tokenize="none", force=True, smooth_method="none")
    score = equals_sacrebleu(counts, bleu.unsmoothed, metric, hypotheses, streams)
    sums = counts.sentences.sum(0, keepdims=True)
    assert bleu.brevity_penalty(sums)[0] == pytest.approx(score.bp, abs=1e-12)
    assert statistics.ratio(sums)[0] == score.ratio
    single = [its[0] for its in references]
    counts = bleu.chrf(hypotheses, single, lowercase)
    metric = CHRF(lowercase=lowercase)
    equals_sacrebleu(counts, bleu.chrf_score, metric, hypotheses, [single])
