"""The estimate of a total correlation against its exact value, on a language of undivided words."""

import os
from pathlib import Path

import pytest
import yaml

from nat.analyses import likelihood
from nat.artifacts import Analysis
from nat.data.invented.language import language_of
from nat.data.invented.law import corpus_subword_entropies
from nat.data.invented.text import generate
from nat.measures.total_correlation import estimate
from tests.learning import small_trainings
from tests.learning.small_trainings import CORPUS
from tests.repository import ROOT, job

SPLIT, PAIR = "valid", ("likelihood-nat-raw", "likelihood-at-base")
TOLERANCE = 0.1
"""How far the estimate may be from the exact value, as a share of it."""


@pytest.mark.skipif(
    "NAT_LEARNING" not in os.environ, reason="trains two models; `make test-learning`"
)
def test_estimate_and_truth_meet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    described = yaml.safe_load((ROOT / "config/corpora/toy-words.yaml").read_text())["generator"]
    pairs = described["pairs"] = {"train": 40000, SPLIT: 1000}
    monkeypatch.setattr(small_trainings, "UPDATES", 1000)
    monkeypatch.setattr(small_trainings, "LANGUAGE", described)
    likelihoods = []
    with small_trainings.workplace(tmp_path):
        configuration = small_trainings.configuration()
        language = language_of(configuration.corpus(CORPUS).generator)
        texts = {split: list(generate(language, split, number)) for split, number in pairs.items()}
        monkeypatch.setattr(small_trainings, "_texts", lambda: texts)
        for system in PAIR:
            small_trainings.learn(configuration, system, 1)
            asked = Analysis(configuration.run, CORPUS, system, 1, "likelihood")
            measured = likelihood.analyse(job(configuration, asked))
            likelihoods.append({"corpus": CORPUS, "system": system, "seed": 1, "splits": measured})
    exact = corpus_subword_entropies(language, str, (source for source, _ in texts[SPLIT]))
    numbers = estimate(*likelihoods, {"entropies": {SPLIT: {"subwords": exact}}})
    bits = {name: each["value"] for name, each in numbers["measures"][SPLIT].items()}
    truth = bits["exact_total_correlation"]
    # the length follows from the source, so it makes no difference whether a model uses it
    assert bits["exact_total_correlation_padded"] == pytest.approx(truth)
    # neither error hides the other
    assert 0 < bits["autoregressive_excess"] < bits["parallel_excess"] < TOLERANCE * truth
    assert bits["total_correlation"] == pytest.approx(truth, rel=TOLERANCE)
