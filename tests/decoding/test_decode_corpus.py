"""Decoding a text: every sentence comes back once, in its place, or with the reason why not."""

import functools
import tempfile
from itertools import starmap
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from nat import registry
from nat.configuration.families import example
from nat.configuration.runnable import cannot_translate
from nat.data.batch import batches, source_tensor
from nat.data.vocabulary import EOS, PAD, SPECIALS, Vocabularies, Vocabulary
from nat.decoding.corpus import Translation, records, translate
from nat.decoding.engines import engine_module
from nat.decoding.hypothesis import NOTHING, Hypothesis
from nat.export.formats import convert
from nat.language_model.ngram import LanguageModel, estimate
from tests.made_up_corpus import as_corpus
from tests.messages import told
from tests.repository import configured
from tests.tiny import make_model

CONFIGURATION = configured()
every_decoding = pytest.mark.parametrize(
    "name",
    [
        name
        for name in starmap(example, CONFIGURATION.files["decodings"].items())
        if not name.startswith("refinement")  # of fairseq's own models, see test_own_models.py
        and not cannot_translate(CONFIGURATION, name)
    ],
)


def of_configuration(name: str, seed: int = 0) -> tuple[Any, Any]:
    """A decoding of `config/decodings` (with its assistant, if it has one) and a model for it."""
    options = CONFIGURATION.decoding(name)
    traits = registry.describe("decoding", options)
    if traits.converted == "ctranslate2":
        pytest.importorskip(traits.converted)
    keywords: dict[str, Any] = {}
    if traits.upsampled:
        keywords = {"decoder": {"copy": "soft", "upsample": 2.5}}
    elif traits.decoding_order == "parallel":
        keywords = {"length": "offset"}
    if traits.encoder_only:
        keywords = {"decoder": {"copy": "repeated", "upsample": 2.5}, "decoder_layers": 0}
    if traits.decoding_order in ("hybrid", "semi-autoregressive"):
        keywords = {"decoder": {"chunk": 2}}
    if traits.part:
        sizes = {"dim": 3, "posterior_layers": 1} if traits.part == "latent" else {}
        keywords["parts"] = {traits.part: sizes}
    # of an option that is tuned, the value that is tried last
    chosen = {
        option: values[-1] for option, values in CONFIGURATION.decoding_file(name).tuning.items()
    }
    method = registry.build("decoding", options.with_options(chosen))
    consulted: dict[str, Any] = {}
    if CONFIGURATION.decoding_file(name).assistant is not None:
        its = {} if traits.assistant == "autoregressive" else keywords
        consulted["assistant"] = make_model(seed=seed + 1, **its)
    if CONFIGURATION.decoding_file(name).language_model is not None:
        consulted["language_model"] = language_model(options.options["language_model"]["order"])
    model = make_model(seed=seed, **keywords)
    if traits.converted:
        method = Converting(method, traits.converted)
    return functools.partial(method, **consulted), model


class Converting:
    """A decoding of another engine, for which a model is converted at the first call."""

    def __init__(self, method: Any, name: str) -> None:
        self.method, self.name = method, name
        self.engine: Any = None

    def __call__(self, model: Any, source: torch.Tensor) -> list[Hypothesis]:
        self.engine = self.engine or engine(model, self.method.precision, self.name)
        return self.method(model, source, self.engine)


def engine(model: Any, precision: str, name: str = "ctranslate2", *, alone: bool = False) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        convert(name, model, VOCABULARIES, Path(folder) / name)
        cpu = torch.device("cpu")
        return engine_module(name).ENGINE(Path(folder) / name, precision, cpu, alone)


JOINT = Vocabulary(f"w{each}" for each in range(29 - len(SPECIALS)))
VOCABULARIES = Vocabularies(JOINT, JOINT)


def language_model(order: int) -> LanguageModel:
    sentences = texts([5, 2, 9, 0, 30])
    lengths = np.array([len(sentence) for sentence in sentences])
    return estimate(np.concatenate(sentences), lengths, 29, order)


def texts(lengths: list[int], vocabulary: int = 29) -> list[np.ndarray]:
    numbers = np.random.default_rng(1)
    return [numbers.integers(6, vocabulary, length).astype(np.uint16) for length in lengths]


def must_agree(ones: Any, others: Any, digits: float) -> None:
    """Check that hypotheses are the same, and their scores but for rounding."""
    for one, other in zip(ones, others, strict=True):
        assert one.tokens == other.tokens
        assert one.score == pytest.approx(other.score, abs=digits)


def echo(model: Any, source: torch.Tensor) -> list[Hypothesis]:
    """Stands for a method: the translation of a sentence is the sentence."""
    rows = ([token for token in row if token not in (PAD, EOS)] for row in source.tolist())
    return [Hypothesis(tokens, -1.0, 1) for tokens in rows]


def stub(positions: int = 40) -> Any:
    return SimpleNamespace(longest_source=positions - 1, parameters=lambda: iter([torch.zeros(1)]))


def test_every_sentence_comes_back_in_its_place() -> None:
    sentences = texts([3, 0, 9, 39, 1, 40, 3, 12, 3])
    done: list[int] = []
    translations = translate(stub(), echo, sentences, range(9), 30, done.append)
    assert [each.id for each in translations] == list(range(9))
    for translation, sentence in zip(translations, sentences, strict=True):
        status = {0: "empty source", 40: "source longer than 40 positions"}.get(len(sentence), "ok")
        assert translation.status == status
        expected = sentence.tolist() if status == "ok" else []
        assert translation.hypothesis.tokens == expected
    assert done == sorted(done) and done[-1] == 9


def test_batches_hold_no_more_tokens_than_asked_for() -> None:
    lengths = {number: 1 + number * 7 % 23 for number in range(100)}
    made = list(batches(lengths, 48))
    assert sorted(number for batch in made for number in batch) == list(range(100))
    for batch in made:
        assert len(batch) * (1 + max(lengths[number] for number in batch)) <= 48
    assert list(batches({0: 100, 1: 3}, 10)) == [[0], [1]]
    assert list(batches({}, 10)) == []


@every_decoding
def test_batch_size_does_not_matter(name: str) -> None:
    method, model = of_configuration(name, seed=4)
    if name.startswith("onnx-int8"):
        pytest.skip("a batch is quantised with one scale")
    digits = 1e-5 if CONFIGURATION.decoding_traits(name).converted else 1e-9  # in float32
    sentences = texts([3, 0, 9, 14, 1, 60, 3, 12, 3])
    alone, *others = (
        translate(model, method, sentences, range(9), tokens) for tokens in (1, 40, 1000)
    )
    for each in others:
        assert [one.status for one in each] == [one.status for one in alone]
        must_agree(*([one.hypothesis for one in side] for side in (each, alone)), digits)


@every_decoding
def test_a_model_of_no_numbers_is_told_of_in_the_status(name: str) -> None:
    method, model = of_configuration(name)
    with torch.no_grad():
        layers = model.decoder_layers or model.encoder_layers
        layers[0].feed_forward.inner.weight.fill_(torch.nan)
    if CONFIGURATION.decoding_traits(name).converted:
        with told("not finite"):
            method(model, source_tensor(texts([3])))
        return
    (one,) = translate(model, method, texts([3]), range(1), 100)
    assert one == Translation(0, NOTHING, "no finite score")


def test_records_hold_subwords_and_text() -> None:
    vocabulary = Vocabulary(["Hund", "ein", "klein@@", "er", "."])
    tokens = vocabulary.encode("ein klein@@ er Hund .")
    translations = [Translation(4, Hypothesis(tokens, -0.25, 6))]
    sides = {"source": "en", "target": "de"}
    corpus = as_corpus({**sides, "preprocessing": {"tokeniser": "moses"}})
    assert list(records(translations, vocabulary, corpus.preparation("de"))) == [
        {
            "id": 4,
            "tokens": "ein klein@@ er Hund .",
            "text": "ein kleiner Hund.",
            "score": -0.25,
            "steps": 6,
            "status": "ok",
        }
    ]
