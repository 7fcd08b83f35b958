"""The estimate of a total correlation against its exact value, on a language of undivided words."""

import os
import shutil
from pathlib import Path

import pytest

from nat.analyses import likelihood
from nat.artifacts import Analysis, Model, step_of
from nat.configuration.reading import read
from nat.data.binarised import write_binarised
from nat.data.invented.language import language_of
from nat.data.invented.law import corpus_subword_entropies
from nat.data.invented.text import generate
from nat.data.splits import sides
from nat.data.vocabulary import Vocabulary
from nat.jobs.train import train_system
from nat.measures.total_correlation import estimate
from nat.workflow.specification import job

REPOSITORY = Path(__file__).resolve().parents[2]
CORPUS, PAIR = "toy-words", ("likelihood-nat-raw", "likelihood-at-base")
TOLERANCE = 0.1
"""How far the estimate may be from the exact value, as a share of it."""

RECIPE = """
  updates: 1000
  batch_tokens: 1024
  learning_rate: 0.005
  betas: [0.9, 0.98]
  warmup_updates: 50
  save_every: 250
  validate_every: 250
"""
SCALE = f"""
description: a test
seeds: [1]
tasks: {{known-law: {CORPUS}}}
sizes:
  base:
    {{model_dim: 32, ffn_dim: 64, encoder_layers: 1, decoder_layers: 1, heads: 2, pre_norm: true}}
recipes:
 likelihood-nat: {RECIPE}
 likelihood-at: {RECIPE}
shards: {{train: 1, valid: 1, test: 1}}
decoding_tokens: 4096
"""


@pytest.mark.skipif(
    "NAT_LEARNING" not in os.environ, reason="trains two models; `make test-learning`"
)
def test_estimate_and_truth_meet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(REPOSITORY / "config", tmp_path / "config")
    monkeypatch.chdir(tmp_path)
    Path("config/scales/words.yaml").write_text(SCALE)
    configuration = read("words", Path())
    corpus = configuration.corpus(CORPUS)
    language, pairs = language_of(corpus.generator), corpus.generator.pairs
    texts = {split: list(generate(language, split, number)) for split, number in pairs.items()}
    vocabulary = Vocabulary.from_lines(line for pair in texts["train"] for line in pair)
    for split, lines in texts.items():
        folder = Path(step_of(CORPUS, split, "binarised").path)
        folder.mkdir(parents=True, exist_ok=True)
        vocabulary.save(folder / "vocabulary.txt")
        for side, written in zip(sides(corpus), zip(*lines, strict=True), strict=True):
            write_binarised(written, vocabulary, folder / f"{split}.{side}")
    exact = {
        split: {
            "subwords": corpus_subword_entropies(language, str, (each for each, _ in texts[split]))
        }
        for split in ("valid", "test")
    }
    likelihoods = []
    for system in PAIR:
        train_system(job(configuration, Model(configuration.run, CORPUS, system, 1)))
        measured = likelihood.analyse(
            job(configuration, Analysis(configuration.run, CORPUS, system, 1, "likelihood"))
        )
        likelihoods.append({"corpus": CORPUS, "system": system, "seed": 1, "splits": measured})
    numbers = estimate(*likelihoods, {"entropies": exact})["measures"]["test"]
    bits = {name: number["value"] for name, number in numbers.items()}
    truth = bits["exact_total_correlation"]
    # the length follows from the source, so it makes no difference whether a model uses it
    assert bits["exact_total_correlation_padded"] == pytest.approx(truth)
    # neither error hides the other
    assert 0 < bits["autoregressive_excess"] < bits["parallel_excess"] < TOLERANCE * truth
    assert bits["total_correlation"] == pytest.approx(truth, rel=TOLERANCE)
