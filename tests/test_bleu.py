import csv
import gzip
import os
import re
from pathlib import Path

import pytest

from nat.measures import bleu

REPOSITORY = Path(__file__).resolve().parents[1]
PUBLISHED = Path(
    os.environ.get("NAT_PUBLISHED_OUTPUTS", REPOSITORY.parent / "shared/data/published-outputs")
)
REPORTED = PUBLISHED / "reported_bleu.tsv"
FIELDS = re.compile(
    r"(?P<bleu>[\d.]+), (?P<precisions>[\d./]+) \(BP=(?P<bp>[\d.]+), ratio=(?P<ratio>[\d.]+), "
    r"syslen=(?P<hypothesis>\d+), reflen=(?P<reference>\d+)\)"
)


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
        found = bleu.tokenised_bleu(hypotheses, [[line] for line in references], samples=0)
        reported = FIELDS.fullmatch(row["bleu_line_reported"])
        assert reported is not None
        assert found.value == pytest.approx(float(reported["bleu"]), abs=0.01)
        assert found.hypothesis_length == int(reported["hypothesis"])
        assert found.reference_length == int(reported["reference"])
        assert found.line() == row["bleu_line_reported"]


def test_tokenised_bleu_splits_at_blanks_only() -> None:
    assert bleu.tokenised_bleu(["a-b c , d e"], [["a-b c , d e"]], 0).hypothesis_length == 5
    assert bleu.sacrebleu(["a-b c, d e"], [["a-b c, d e"]], samples=0).hypothesis_length == 5
    # The 13a tokenisation takes punctuation off, so text that differs there agrees less.
    assert bleu.tokenised_bleu(["a b c d."], [["a b c d ."]], 0).value == 0
    assert bleu.sacrebleu(["a b c d."], [["a b c d ."]], samples=0).value == pytest.approx(100)


def test_no_smoothing_in_tokenised_bleu() -> None:
    hypothesis, reference = ["a b x c d"], [["a b y c d"]]
    assert bleu.tokenised_bleu(hypothesis, reference, 0).value == 0
    assert bleu.sacrebleu(hypothesis, reference, samples=0).value > 0


def test_several_references_may_differ_in_number() -> None:
    hypotheses = ["a b c d e", "f g h i j"]
    score = bleu.sacrebleu(hypotheses, [["x", "a b c d e"], ["f g h i j"]], samples=0)
    assert score.value == pytest.approx(100)
    assert "nrefs:var" in score.signature
    assert bleu.sacrebleu(hypotheses, [["x"], ["f g h i j"]], samples=0).value < 100


def test_lowercase_is_in_the_signature() -> None:
    assert bleu.sacrebleu(["A b c d"], [["a b c d"]], samples=0).value < 100
    score = bleu.sacrebleu(["A b c d"], [["a b c d"]], lowercase=True, samples=0)
    assert score.value == pytest.approx(100) and "case:lc" in score.signature
    assert bleu.chrf(["A b c d"], [["a b c d"]], True, 0).value == pytest.approx(100)


def test_interval_holds_the_score_and_does_not_depend_on_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hypotheses = [f"a b c d e f{number % 3}" for number in range(40)]
    references = [[f"a b c d e f{number % 2}"] for number in range(40)]
    monkeypatch.setenv("SACREBLEU_SEED", "7")
    first = bleu.sacrebleu(hypotheses, references, samples=100)
    monkeypatch.delenv("SACREBLEU_SEED")
    second = bleu.sacrebleu(hypotheses, references, samples=100)
    assert first == second
    assert first.low is not None and first.high is not None
    assert first.low < first.value < first.high
    assert "bs:100" in first.signature and f"seed:{bleu.BOOTSTRAP_SEED}" in first.signature
    assert bleu.chrf(hypotheses, references, samples=100).low is not None


def test_nothing_translated_scores_zero_with_an_interval() -> None:
    score = bleu.tokenised_bleu(["", ""], [["a b"], ["c d"]], samples=10)
    assert (score.value, score.low, score.high, score.brevity_penalty) == (0, 0, 0, 0)


@pytest.mark.parametrize(("hypotheses", "references"), [(["a"], [["a"], ["b"]]), ([], [["a"]])])
def test_counts_must_agree(hypotheses: list[str], references: list[list[str]]) -> None:
    with pytest.raises(ValueError, match="hypotheses for"):
        bleu.sacrebleu(hypotheses, references)
    with pytest.raises(ValueError, match="at least one reference"):
        bleu.sacrebleu(["a"], [[]])
