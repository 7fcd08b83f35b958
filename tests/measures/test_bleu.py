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

REPOSITORY = Path(__file__).resolve().parents[2]
PUBLISHED = Path(
    os.environ.get("NAT_PUBLISHED_OUTPUTS", REPOSITORY.parent / "shared/data/published-outputs")
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


def sacrebleu(hypotheses: list[str], references: bleu.References, **options: bool) -> float:
    counts = bleu.sacrebleu(hypotheses, references, **options).sentences
    return float(bleu.smoothed(counts.sum(0, keepdims=True))[0])


def tokenised(hypotheses: list[str], references: bleu.References) -> float:
    counts = bleu.tokenised_bleu(hypotheses, references).sentences
    return float(bleu.unsmoothed(counts.sum(0, keepdims=True))[0])


def length(counts: bleu.Counts) -> int:
    return int(counts.sentences[:, 0].sum())


def test_tokenised_bleu_splits_at_blanks_only() -> None:
    assert length(bleu.tokenised_bleu(["a-b c , d e"], [["a-b c , d e"]])) == 5
    assert length(bleu.sacrebleu(["a-b c, d e"], [["a-b c, d e"]])) == 5
    # The 13a tokenisation takes punctuation off, so text that differs there agrees less.
    assert tokenised(["a b c d."], [["a b c d ."]]) == 0
    assert sacrebleu(["a b c d."], [["a b c d ."]]) == pytest.approx(100)


def test_several_references_may_differ_in_number() -> None:
    hypotheses = ["a b c d e", "f g h i j"]
    references = [["x", "a b c d e"], ["f g h i j"]]
    assert sacrebleu(hypotheses, references) == pytest.approx(100)
    assert "nrefs:var" in bleu.sacrebleu(hypotheses, references).signature
    assert sacrebleu(hypotheses, [["x"], ["f g h i j"]]) < 100


def test_lowercase_is_in_the_signature() -> None:
    assert sacrebleu(["A b c d"], [["a b c d"]]) < 100
    assert sacrebleu(["A b c d"], [["a b c d"]], lowercase=True) == pytest.approx(100)
    assert "case:lc" in bleu.sacrebleu(["A b c d"], [["a b c d"]], True).signature
    assert chrf(["A b c d"], ["a b c d"], True) == pytest.approx(100)


def chrf(hypotheses: list[str], references: list[str], lowercase: bool = False) -> float:
    counts = bleu.chrf(hypotheses, references, lowercase).sentences
    return float(bleu.chrf_score(counts.sum(0, keepdims=True))[0])


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
    counts: bleu.Counts, value: significance.Value, metric: Metric, found: Score
) -> None:
    """The score exactly; signature and interval, which sacreBLEU takes of float32, as printed.

    But no interval begins below 0.
    """
    sums = counts.sentences.sum(0, keepdims=True)
    assert value(sums)[0] == found.score
    assert counts.signature == str(metric.get_signature())
    low, high = significance.interval(significance.resample(counts.sentences, value))
    printed = json.loads(found.format(6, is_json=True, signature=counts.signature))
    mean, half = printed.get("confidence_mean", 0.0), printed.get("confidence_var", 0.0)
    assert (low, high) == pytest.approx((max(mean - half, 0), mean + half), abs=1e-4)


@pytest.mark.parametrize("number", range(4))
def test_scores_of_counts_are_sacrebleus_own(number: int, seed: None) -> None:
    hypotheses, references = texts(number)
    streams = [list(stream) for stream in zip_longest(*references)]
    lowercase = bool(number % 2)
    metric = BLEU(lowercase=lowercase, force=True)
    counts = bleu.sacrebleu(hypotheses, references, lowercase)
    found = metric.corpus_score(hypotheses, streams, n_bootstrap=significance.SAMPLES)
    equals_sacrebleu(counts, bleu.smoothed, metric, found)
    parts = bleu.parts(counts.sentences.sum(0), smooth=True)
    assert parts["precisions"] == [round(precision, 6) for precision in found.precisions]
    assert parts["brevity_penalty"] == round(found.bp, 6)
    assert (parts["hypothesis_length"], parts["reference_length"]) == (found.sys_len, found.ref_len)
    metric = BLEU(tokenize="none", force=True, smooth_method="none")
    found = metric.corpus_score(hypotheses, streams, n_bootstrap=significance.SAMPLES)
    counts = bleu.tokenised_bleu(hypotheses, references)
    equals_sacrebleu(counts, bleu.unsmoothed, metric, found)
    sums = counts.sentences.sum(0, keepdims=True)
    assert bleu.brevity_penalty(sums)[0] == pytest.approx(found.bp, abs=1e-12)
    assert statistics.ratio(sums)[0] == found.ratio


@pytest.mark.parametrize("number", range(4))
def test_chrf_of_counts_is_sacrebleus_own(number: int, seed: None) -> None:
    hypotheses, references = texts(number)
    lowercase = bool(number % 2)
    single = [its[0] for its in references]
    metric = CHRF(lowercase=lowercase)
    found = metric.corpus_score(hypotheses, [single], n_bootstrap=significance.SAMPLES)
    counts = bleu.chrf(hypotheses, single, lowercase)
    assert chrf(hypotheses, single, lowercase) == pytest.approx(found.score, abs=1e-12)
    assert counts.signature == str(metric.get_signature())
    low, high = significance.interval(significance.resample(counts.sentences, bleu.chrf_score))
    printed = json.loads(found.format(6, is_json=True, signature=counts.signature))
    mean, half = printed["confidence_mean"], printed["confidence_var"]
    assert (low, high) == pytest.approx((mean - half, mean + half), abs=1e-3)
