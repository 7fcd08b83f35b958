"""What decoders see before a late pass, and the passes of hybrid and semi-autoregressive ones."""

from types import SimpleNamespace
from typing import Any

import pytest

from nat.analyses import analysis, shown_tokens
from nat.analyses.analysis import Pairs, Subject
from nat.analyses.shown_tokens import marked, right, shown
from nat.artifacts import Analysis
from nat.data.vocabulary import EOS, MASK
from nat.decoding.mask_predict import MaskPredict
from nat.decoding.passes import Pass
from nat.workflow.specification import job
from tests.repository import configured
from tests.tiny import make_model, make_texts

SYMBOLS: Any = SimpleNamespace(symbols=[f"w{number}" for number in range(29)])
SOURCES, _ = make_texts([(length, 0) for length in (3, 7, 0, 9, 4, 400)])
SOURCE_SYMBOLS: Any = SimpleNamespace(symbols=[f"s{number}" for number in range(29)])


def a_pass(tokens: list[int], chosen: list[int]) -> Pass:
    return Pass(tokens, chosen, chosen, [-0.5] * len(tokens))


def test_passes_are_of_their_sentences_whatever_the_batches() -> None:
    model = make_model(length="offset", max_positions=40)
    alone, together = (
        Pairs(model, SOURCES, (), tokens).passes(MaskPredict(steps=4)) for tokens in (1, 1000)
    )
    assert sorted(alone) == sorted(together) == [0, 1, 3, 4]  # one is empty, one too long
    for number, sentence in together.items():
        assert [each[:3] for each in sentence] == [each[:3] for each in alone[number]]


def test_right_tokens_count_once() -> None:
    assert right([7, MASK, 7, 8, EOS], [7, 9, EOS]) == [True, False, False, False, False]
    sentence = [a_pass([MASK, 7, MASK, 8], [1, 3]), a_pass([9, 7, 7, 8], [0, 2])]
    assert shown(sentence) == [MASK, 7, MASK, 8]
    assert marked(sentence, [7, 9], SYMBOLS) == ["[w9]", "w7*", "[w7]", "w8"]
    assert shown([a_pass([5, 6, 7], [0, 1, 2]), a_pass([5, 8, 7], [1])]) == [5, MASK, 7]


@pytest.mark.parametrize(
    ("system", "options"),
    [
        ("hrt", {"decoder": {"chunk": 2}}),
        ("sat-mixed", {"decoder": {"chunk": 2}}),
        ("cmlm-kd", {"length": "offset"}),
    ],
)
def test_analyses(monkeypatch: pytest.MonkeyPatch, system: str, options: Any) -> None:
    model = make_model(max_positions=60, seed=3, **options)
    asked = job(configured(), Analysis("demo", "toy-ka-lu", system, 1, "shown_tokens"))
    vocabularies: Any = SimpleNamespace(source=SOURCE_SYMBOLS, target=SYMBOLS)
    pairs = Pairs(model, SOURCES, SOURCES, 100, "valid")
    training = asked.configuration.training(system)
    subject = Subject(asked, model, training, vocabularies, [pairs])
    monkeypatch.setattr(analysis, "subject", lambda *_: subject)
    found = shown_tokens.analyse(asked)["valid"]
    assert (found["sentences"], found["left_out"]) == (4, 2)
    # the same sentences for every system
    assert [each["sentence"] for each in found["examples"]] == [1]
    assert len(found["examples"][0]["passes"]) > 1
    assert {word[0] for word in found["examples"][0]["source"]} == {"s"}
    assert {word[0] for word in found["examples"][0]["reference"]} == {"w"}
    values = {name: each["value"] for name, each in found["measures"].items()}
    if system == "sat-mixed":
        assert values == {}
        assert found["order"]["text"].startswith("a, b → ")
        return
    assert 0 < values["shown_tokens"] <= 60 and 0 <= values["right_shown_tokens"] <= 100
    # a row for each sentence, also for those that are left out, so that systems can be paired
    rows = found["measures"]["right_shown_tokens"]["by_sentence"]
    assert len(rows["sums"]) == len(rows["tokens"]) == len(SOURCES)
    assert rows["tokens"][2] == rows["tokens"][5] == 0
    share = sum(rows["sums"]) / sum(rows["tokens"])
    assert share == pytest.approx(values["right_shown_tokens"], abs=1e-6)
    if system == "hrt":
        assert found["order"]["text"].startswith("b → d")
        assert " ⇒ a" in found["order"]["text"]
