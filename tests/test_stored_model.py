"""Models of this version load in later ones, and translate as they did.

The models of `tests/stored` were written by `save_model` at version 0.1.0, with random weights. Do
not write them anew when this test fails: models of users would fail as well. If a model cannot be
read any longer, `load_model` has to say so in one sentence.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from nat import registry
from nat.registry import Method
from nat.training.model_file import load_model

STORED = Path(__file__).parent / "stored"


@pytest.mark.parametrize("name", ["cmlm", "ctc", "at"])
def test_a_stored_model_loads_and_translates_as_it_did(name: str) -> None:
    found = load_model(STORED / f"{name}.pt")
    expected: dict[str, Any] = json.loads((STORED / f"{name}.json").read_text())
    assert found.updates == expected["updates"]
    decoding = registry.build("decoding", Method(**expected["decoding"]))
    hypotheses = decoding(found.model, torch.tensor(expected["source"]))
    assert [list(each.tokens) for each in hypotheses] == expected["tokens"]
    scores = [each.score for each in hypotheses]
    assert scores == pytest.approx(expected["scores"], abs=1e-3)
