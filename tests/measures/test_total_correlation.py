"""Conditional total correlation from two likelihoods."""

import math
from typing import Any

import pytest

from nat.measures.total_correlation import estimate


def likelihood(system: str, totals: dict[str, float], tokens: int = 20) -> dict[str, Any]:
    rows = {
        "numbers": [*range(5)],
        "sums": [sum(totals.values()) / 5] * 5,
        "tokens": [tokens / 5] * 5,
    }
    split = {"sentences": 5, "tokens": tokens, "totals": totals, "by_sentence": rows}
    return {"corpus": "toy", "system": system, "seed": 1, "splits": {"test": split}}


def test_the_length_is_paid_for_by_both() -> None:
    one, other = (
        estimate(likelihood("nat", totals), likelihood("at", {"nll": 40.0}), {})
        for totals in ({"nll": 60.0}, {"nll": 50.0, "length": 10.0})
    )
    assert one == other
    bits = one["measures"]["test"]["total_correlation"]["value"]
    assert bits * math.log(2) == pytest.approx(1, abs=1e-6)


def test_the_estimate_is_split_into_the_truth_and_what_the_models_lose() -> None:
    both = likelihood("nat", {"nll": 60.0}), likelihood("at", {"nll": 40.0})
    exact = {"joint": 7.0, "length": 1.0, "given_length": 9.5, "padded": 14.0, "tokens": 4.0}
    numbers = estimate(*both, {"entropies": {"test": {"subwords": exact}}})["measures"]["test"]
    # 20 tokens in 5 sentences; the estimate is the exact value + 1.5 / 4 - 1.0 / 4
    assert {name: each["value"] * math.log(2) for name, each in numbers.items()} == {
        "total_correlation": pytest.approx(1.0),
        "exact_total_correlation": pytest.approx(3.5 / 4, abs=1e-6),
        "exact_total_correlation_padded": pytest.approx(7.0 / 4, abs=1e-6),
        "parallel_excess": pytest.approx(1.5 / 4, abs=1e-6),
        "autoregressive_excess": pytest.approx(1.0 / 4, abs=1e-6),
    }
    assert len(estimate(*both, {"splits": {}})["measures"]["test"]) == 1


def test_sentences_add_up_to_the_estimate() -> None:
    """So that C can be resampled, with L_NAT, which is measured on the same sentences."""
    both = likelihood("nat", {"nll": 60.0}), likelihood("at", {"nll": 40.0})
    for each, sums in zip(both, ([20.0, 10.0, 10.0, 10.0, 10.0], [8.0] * 5), strict=True):
        each["splits"]["test"]["by_sentence"]["sums"] = sums
    number = estimate(*both, {})["measures"]["test"]["total_correlation"]
    rows = number["by_sentence"]
    assert rows["tokens"] == [4.0] * 5
    assert sum(rows["sums"]) / sum(rows["tokens"]) == pytest.approx(number["value"])
