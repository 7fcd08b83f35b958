"""Weights of hints that no option gives are recorded; see `tests/targets/test_hints.py`."""

from pathlib import Path

from tests.repository import write_yaml
from tests.training.test_training import SYSTEM, folder, report, train

__all__ = ["folder"]  # a fixture


def test_the_weights_are_recorded(folder: Path) -> None:
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
    train("hints")
    found = report("hints")["balanced_weights"]
    assert found.keys() == {"hidden", "alignment"}
    assert all(value > 0 and value != 1 for value in found.values())
    assert "balanced_weights" not in report("at")
