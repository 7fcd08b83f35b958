"""Mask-predict pass by pass."""

import itertools
from typing import Any

import numpy as np
import pytest

from nat.analyses import analysis, decoding_steps
from nat.analyses.analysis import Pairs, Subject
from nat.analyses.decoding_steps import text_passes
from nat.data.vocabulary import MASK, SPECIALS, Vocabularies, Vocabulary
from nat.decoding.mask_predict import MaskPredict
from tests.tiny import make_model


@pytest.fixture
def sources() -> list[np.ndarray]:
    numbers = np.random.default_rng(4)
    return [numbers.integers(6, 29, length) for length in (3, 7, 0, 12, 4, 400)]


@pytest.fixture
def model() -> Any:
    return make_model(length="offset", max_positions=40)


def test_a_pass_changes_only_what_it_chose(model: Any, sources: Any) -> None:
    found = text_passes(MaskPredict(steps=4), Pairs(model, sources, (), 1000))
    assert sorted(found) == [0, 1, 3, 4]  # one is empty, one too long
    for sentence in found.values():
        length = len(sentence[0].tokens)
        assert sentence[0].chosen == list(range(length))
        for before, after in itertools.pairwise(sentence):
            pairs = enumerate(zip(before.tokens, after.tokens, strict=True))
            differing = {place for place, (old, new) in pairs if old != new}
            assert differing <= set(after.chosen) and MASK not in after.tokens
        wanted = [length * (4 - number) // 4 for number in range(4)]
        assert [len(each.chosen) for each in sentence] == [count for count in wanted if count]
    alone = text_passes(MaskPredict(steps=4), Pairs(model, sources, (), 1))
    for number, sentence in found.items():
        for one, other in zip(sentence, alone[number], strict=True):
            assert one[:3] == other[:3]
            assert one.log_probabilities == pytest.approx(other.log_probabilities)


def test_examples_are_what_figures_of_steps_read(
    model: Any, sources: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = (
        Vocabulary(f"{side}{number}" for number in range(29 - len(SPECIALS))) for side in "st"
    )
    nothing: Any = None
    pairs = Pairs(model, sources, sources, 100, "test")
    subject = Subject(nothing, model, nothing, Vocabularies(source, target), [pairs])
    monkeypatch.setattr(analysis, "subject", lambda *_: subject)
    test = decoding_steps.analyse(nothing)["test"]
    assert (test["sentences"], test["left_out"]) == (4, 2)
    assert set(test["measures"]) == {"changed_tokens_4", "changed_tokens_10"}
    assert len(test["examples"]) == 3
    for example in test["examples"]:
        tokens = sources[example["sentence"]].tolist()
        assert example["source"] == source.decode(tokens).split()
        assert example["reference"] == target.decode(tokens).split()
        for steps in (4, 10):
            sentence = example["passes"][str(steps)]
            assert {len(each["tokens"]) for each in sentence} == {len(sentence[0]["predicted"])}
