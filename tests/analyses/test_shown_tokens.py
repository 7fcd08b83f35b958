"""What decoders see before a late pass, and the passes of hybrid and semi-autoregressive ones."""

from typing import Any

import pytest

from nat.analyses.analysis import Pairs
from nat.analyses.shown_tokens import marked, right, shown
from nat.data.vocabulary import EOS, MASK
from nat.decoding.passes import Pass
from tests.analyses.conftest import SYMBOLS, Analyse
from tests.tiny import make_model, make_texts

SOURCES, _ = make_texts([(length, 0) for length in (3, 7, 0, 9, 4, 400)])


def a_pass(tokens: list[int], chosen: list[int]) -> Pass:
    return Pass(tokens, chosen, chosen, [-0.5] * len(tokens))


def test_right_tokens_count_once() -> None:
    assert right([7, MASK, 7, 8, EOS], [7, 9, EOS]) == [True, False, False, False, False]
    sentence = [a_pass([MASK, 7, MASK, 8], [1, 3]), a_pass([9, 7, 7, 8], [0, 2])]
    assert shown(sentence) == [MASK, 7, MASK, 8]
    assert marked(sentence, [7, 9], SYMBOLS["target"]) == ["[t3]", "t1*", "[t1]", "t2"]
    assert shown([a_pass([5, 6, 7], [0, 1, 2]), a_pass([5, 8, 7], [1])]) == [5, MASK, 7]


@pytest.mark.parametrize(
    ("system", "options"),
    [
        ("hrt", {"decoder": {"chunk": 2}}),
        ("sat-mixed", {"decoder": {"chunk": 2}}),
        ("cmlm-kd", {"length": "offset"}),
    ],
)
def test_analyses(analyse: Analyse, system: str, options: Any) -> None:
    model = make_model(max_positions=60, seed=3, **options)
    found = analyse("shown_tokens", system, Pairs(model, SOURCES, SOURCES, 100, "valid"))
    assert (found["sentences"], found["left_out"]) == (4, 2)
    # the same sentences for every system
    assert [each["sentence"] for each in found["examples"]] == [1]
    assert len(found["examples"][0]["passes"]) > 1
    assert {word[0] for word in found["examples"][0]["source"]} == {"s"}
    assert {word[0] for word in found["examples"][0]["reference"]} == {"t"}
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
