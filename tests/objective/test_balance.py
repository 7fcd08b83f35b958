"""Weights of hints that no option gives: determined once, kept over interruptions, recorded."""

import shutil
from pathlib import Path

import pytest

from tests.training.test_training import (
    SYSTEM,
    folder,  # noqa: F401
    interrupt_at,
    model_file,
    report,
    same,
    train,
    weights,
    write_yaml,
)


def test_the_weights_are_recorded_and_outlive_an_interruption(
    folder: Path,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hints = {
        **SYSTEM,
        "input": {"method": "full_mask"},
        "target": {"method": "hints", "student_threshold": -1.0, "teacher_threshold": 1.0},
        "length": "constant",
        "teacher": "at",
        "recipe": "at",
    }
    write_yaml("config/systems/hints.yaml", hints)
    train("at")
    undisturbed = train("hints")
    found = report("hints")["balanced_weights"]
    assert found.keys() == {"hidden", "alignment"}
    assert all(value > 0 and value != 1 for value in found.values())
    assert "balanced_weights" not in report("at")

    shutil.rmtree(model_file("hints").parent)
    interrupt_at("hints", 6, monkeypatch)
    assert same(train("hints"), undisturbed)
    assert report("hints")["balanced_weights"] == found
    assert same(weights("hints"), undisturbed)
