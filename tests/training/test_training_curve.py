"""Measures of a training, from its record and its curve."""

from pathlib import Path
from typing import Any

import pytest

from nat.measures import training_curve as curve
from tests.messages import told

HEADER = "update,split,loss,bleu"
EXTRA = {"lengths": {"updates": 40}, "epochs": 8.0}


def measured(validated: dict[int, float], **facts: Any) -> dict[str, float]:
    """The numbers of a training of 40 updates with these validations."""
    lines = [HEADER, "5,train,2.0,", *(f"{at},valid,1.0,{bleu}" for at, bleu in validated.items())]
    return values({"updates": 40, **facts}, lines)


def values(report: dict[str, Any], lines: list[str]) -> dict[str, float]:
    numbers = curve.with_measures(report, lines)["measures"]["training"]
    return {name: number["value"] for name, number in numbers.items()}


def test_what_a_training_counted() -> None:
    architecture = {"model_dim": 64, "ffn_dim": 256, "decoder_layers": 2, "heads": 4}
    training = {"architecture": architecture, "recipe": {"dropout": 0.1}}
    counted = {"parameters": 1234, "tokens": 10**9, "seconds": 60.5, "training": training}
    assert measured({20: 11.5, 40: 9.0}, **counted) == {
        **{"updates": 40, "best_validation_bleu": 11.5, "collapsed": 0, "stopped_early": 0},
        **{"parameters": 1234, "million_parameters": 0.001234, "training_tokens": 10**9},
        **{"training_seconds": 60.5, "model_dim": 64, "ffn_dim": 256, "layers": 2},
        **{"heads": 4, "dropout": 0.1},
    }


@pytest.mark.parametrize(
    ("validated", "collapsed", "epochs"),
    [
        ({20: 30.0, 40: 2.0}, 1, 8.0),
        ({20: 30.0, 40: 20.0}, 0, 8.0),
        ({0: 30.0, 10: 25.0, 20: 2.0, 40: 3.0}, 1, 4.0),  # 20 of 40 updates
        ({0: 30.0, 10: 2.0, 40: 29.0}, 0, 8.0),
        ({}, 0, 8.0),
    ],
)
def test_a_collapse_is_seen_in_the_curve(
    validated: dict[int, float], collapsed: int, epochs: float
) -> None:
    found = measured(validated, **EXTRA)
    assert (found["collapsed"], found["epochs_held"]) == (collapsed, epochs)


def test_damaged_curves(tmp_path: Path) -> None:
    path = tmp_path / "training.csv"
    with told(path):
        curve.validations(path)
    path.write_text("update,bleu\nx,3\n")
    with told(path):
        curve.validations(path)
    path.write_text(f"{HEADER}\n5,train,2.0,\n20,valid,1.0,9.5\n")
    assert curve.validations(path) == [(20, 9.5)]


def test_shares_of_candidates() -> None:
    rows = [f"{update},train,{update / 100},{1 - update / 100}," for update in range(10)]
    lines = ["update,split,from_tiny,from_raw,bleu", *rows, "9,valid,,,20"]
    found = values({"updates": 10}, lines)
    shares = [found[f"candidate_{number}_share"] for number in (1, 2)]
    assert shares == pytest.approx([4.5, 95.5]) and "candidate_3_share" not in found
    fifths = [found[f"candidate_1_share_fifth_{fifth}"] for fifth in range(1, 6)]
    assert fifths == pytest.approx([0.5, 2.5, 4.5, 6.5, 8.5])
