"""Mask-predict pass by pass."""

from typing import Any

import pytest

from nat.analyses import analysis, decoding_steps
from nat.analyses.analysis import Pairs, Subject
from nat.analyses.decoding_steps import text_passes
from nat.data.vocabulary import SPECIALS, Vocabularies, Vocabulary
from nat.decoding.mask_predict import MaskPredict
from tests.tiny import make_model, make_texts

SOURCES, _ = make_texts([(length, 0) for length in (3, 7, 0, 12, 4, 400)])


@pytest.fixture
def model() -> Any:
    return make_model(length="offset", max_positions=40)


def test_passes_are_of_their_sentences_whatever_the_batches(model: Any) -> None:
    alone, together = (
        text_passes(MaskPredict(steps=4), Pairs(model, SOURCES, (), tokens)) for tokens in (1, 1000)
    )
    assert sorted(alone) == sorted(together) == [0, 1, 3, 4]  # one is empty, one too long
    for number, sentence in together.items():
        assert [each[:3] for each in sentence] == [each[:3] for each in alone[number]]


def test_examples_are_what_figures_of_steps_read(
    model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = (
        Vocabulary(f"{side}{number}" for number in range(29 - len(SPECIALS))) for side in "st"
    )
    nothing: Any = None
    pairs = Pairs(model, SOURCES, SOURCES, 100, "test")
    subject = Subject(nothing, model, nothing, Vocabularies(source, target), [pairs])
    monkeypatch.setattr(analysis, "subject", lambda *_: subject)
    test = decoding_steps.analyse(nothing)["test"]
    assert (test["sentences"], test["left_out"]) == (4, 2)
    assert set(test["measures"]) == {"changed_tokens_4", "changed_tokens_10"}
    assert len(test["examples"]) == 3
    for example in test["examples"]:
        tokens = SOURCES[example["sentence"]].tolist()
        assert example["source"] == source.decode(tokens).split()
        assert example["reference"] == target.decode(tokens).split()
        for steps in (4, 10):
            sentence = example["passes"][str(steps)]
            assert {len(each["tokens"]) for each in sentence} == {len(sentence[0]["predicted"])}
