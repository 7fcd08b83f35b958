"""Options of decodings that are chosen on the validation set."""

import functools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nat.artifacts import Converted, Shard, TunedOptions
from nat.checksums import sha256_of
from nat.configuration.configuration import Configuration
from nat.configuration.reading import read
from nat.data.binarised import BinarisedText
from nat.data.vocabulary import Vocabularies, Vocabulary
from nat.decoding.corpus import records, translate
from nat.decoding.ctc_beam import CtcBeam
from nat.export.formats import convert_model
from nat.files import read_json, write_json
from nat.jobs.translate import translate_shard
from nat.jobs.tune_decoding import tune_decoding
from nat.language_model.ngram import LanguageModel, estimate
from nat.measures import bleu
from nat.training.model_file import load_model
from tests.made_up_models import CORPUS, sentences, write_run
from tests.repository import job

SYSTEM, DECODING = "ctc-kd", "ctc-beam5-lm2-tried"
GRID = """
method: ctc_beam
variants:
  ctc-beam{beam}-lm{language_model.order}-tried:
    language_model: {system: at-base, decoding: beam5}
    tuning: {language_model.weight: [0.1, 1.0], word_bonus: [-1.0, 0.0, 2.0]}
"""


@pytest.fixture
def tuned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TunedOptions:
    """Of an untrained model of the micro scale, on a validation set of nine sentences."""
    write_run(tmp_path, sentences(4, 3), [SYSTEM], {})
    (tmp_path / "config/decodings/tried.yaml").write_text(GRID)
    monkeypatch.chdir(tmp_path)
    found = TunedOptions("micro", CORPUS, SYSTEM, 1, DECODING)
    words = vocabulary()
    tokens = np.random.default_rng(1).integers(6, len(words), 300)
    ngrams = estimate(tokens, np.full(50, 6), len(words), 2)
    ngrams.save(found.inputs(configured()).language_model.path)
    return found


def vocabulary() -> Vocabulary:
    return Vocabularies.load(Path("results/corpora", CORPUS, "train/binarised")).target


def configured() -> Configuration:
    return read("micro", Path()).on(CORPUS)


@pytest.mark.parametrize("number", [5, 9])
def test_every_combination_is_recorded_and_the_best_is_chosen(
    tuned: TunedOptions, number: int
) -> None:
    if number < 9:
        scale = Path("config/scales/micro.yaml")
        scale.write_text(f"{scale.read_text()}\ntuning: {{sentences: {number}}}\n")
    tune_decoding(job(configured(), tuned))
    found = read_json(Path(tuned.path))
    inputs = tuned.inputs(configured())
    model = load_model(inputs.model.path).model
    ngrams = LanguageModel.load(inputs.language_model.path, len(vocabulary()))
    corpus = configured().corpus(CORPUS)
    target = corpus.target
    text = BinarisedText(f"{inputs.corpus.path}/valid.{corpus.source}")
    references = Path(f"{inputs.text.path}/valid.{target}").read_text().splitlines()[:number]
    scores = []
    for point in found["points"]:
        options = {"system": "at-base", "decoding": "beam5", "order": 2}
        options["weight"] = point["language_model.weight"]
        search = CtcBeam(beam=5, language_model=options, word_bonus=point["word_bonus"])
        method: Any = functools.partial(search, language_model=ngrams)
        translations = translate(model, method, text, range(number), 50)
        rows = records(translations, vocabulary(), corpus.preparation(target))
        lowercase, unit = corpus.preprocessing.lowercase, corpus.counted_as
        texts, lines = [row["text"] for row in rows], [[line] for line in references]
        counts = bleu.sacrebleu(texts, lines, lowercase, unit)
        scores.append(float(bleu.smoothed(counts.sentences.sum(0)[None])[0]))
        assert point["sacrebleu"] == pytest.approx(scores[-1], abs=1e-6)
    pairs = [(point["language_model.weight"], point["word_bonus"]) for point in found["points"]]
    assert pairs == [(alpha, beta) for alpha in (0.1, 1.0) for beta in (-1.0, 0.0, 2.0)]
    assert len(set(scores)) > 1 or number < 9
    best = int(np.argmax(scores))
    assert tuple(found["chosen"].values()) == pairs[best]
    assert list(found["chosen"]) == ["language_model.weight", "word_bonus"]
    assert found["sentences"] == number and found["split"] == "valid"
    assert found["weights"] == sha256_of(inputs.model.path)


@pytest.mark.parametrize("method", ["ctc", "onnx_parallel"])
def test_a_penalty_of_blank_is_tuned_in_the_engine_that_translates(
    tuned: TunedOptions, method: str
) -> None:
    other = replace(tuned, decoding="penalised")
    Path("config/decodings/penalised.yaml").write_text(
        f"method: {method}\ntuning: {{blank_penalty: [-30.0, 0.0, 2.0]}}\n"
    )
    if method == "onnx_parallel":
        convert_model(job(configured(), Converted("micro", CORPUS, SYSTEM, 1, "onnx")))
    tune_decoding(job(configured(), other))
    found = read_json(Path(other.path))
    assert [point["blank_penalty"] for point in found["points"]] == [-30.0, 0.0, 2.0]
    ratios = [point["length_ratio"] for point in found["points"]]
    assert ratios[0] == 0 < ratios[1] <= ratios[2]
    assert found["chosen"]["blank_penalty"] >= 0
    shard = Shard("micro", CORPUS, SYSTEM, 1, "penalised", "test", 1, 1)
    lengths = []
    for penalty in (-30.0, 30.0):
        write_json(Path(other.path), {**found, "chosen": {"blank_penalty": penalty}})
        translate_shard(job(configured(), shard))
        rows = [json.loads(line) for line in Path(shard.path).read_text().splitlines()]
        lengths.append(sum(len(row["tokens"].split()) for row in rows))
    assert lengths[0] == 0 < lengths[1]
