"""Points of the plane through three models."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from nat.analyses import analysis, weight_plane
from nat.analyses.analysis import Pairs
from nat.analyses.likelihood import losses
from nat.analyses.weight_plane import interpolated
from tests.analyses.conftest import Analyse
from tests.tiny import make_model, make_objective, make_texts

SYSTEM = "plane-glat-kd"


def test_corners_are_the_models_and_points_between_them_are_linear() -> None:
    weights = [{"a": torch.randn(3, 2), "b": torch.tensor([number])} for number in (1, 2, 3)]
    start, other, own = weights
    for place, corner in (((0, 0), start), ((1, 0), other), ((0, 1), own)):
        found = interpolated(weights, *place)
        torch.testing.assert_close(found["a"], corner["a"])
        assert found["a"].dtype == torch.float32
        assert found["b"] is start["b"]  # whole numbers are no weights
    middle = interpolated(weights, 0.5, 0.25)["a"]
    torch.testing.assert_close(middle, 0.25 * start["a"] + 0.5 * other["a"] + 0.25 * own["a"])


def test_the_corners_of_the_map_are_measured_models(
    monkeypatch: pytest.MonkeyPatch, analyse: Analyse
) -> None:
    texts = make_texts([(3, 3), (5, 5), (4, 4)])
    models = {name: make_model(seed, length="offset") for seed, name in enumerate("soe")}
    target = {"method": "cross_entropy"}
    objective = make_objective(models["e"], "full_mask", target).eval()
    expected = {
        name: -float(losses(objective, Pairs(model, *texts, 100))[1]["nll"].sum()) / 12
        for name, model in models.items()
    }
    monkeypatch.setattr(analysis, "matching_model", lambda *_: models["o"])
    monkeypatch.setattr(weight_plane, "load_model", lambda *_: SimpleNamespace(model=models["s"]))
    found = analyse("weight_plane", SYSTEM, Pairs(models["e"], *texts, 100, "valid"))
    plane = found["plane"]
    at = {point["label"]: (point["x"], point["y"]) for point in plane["corners"]}
    assert list(at) == ["start", "MLE", "GLAT + KD"]
    for name, (x, y) in zip("soe", at.values(), strict=True):
        value = plane["log_likelihood"][plane["up"].index(y)][plane["across"].index(x)]
        assert value == pytest.approx(expected[name], abs=1e-6)
    measured = {name: each["value"] for name, each in found["measures"].items()}
    assert measured["plane_log_likelihood"] == pytest.approx(expected["e"], abs=1e-6)
    ratio = np.exp(expected["o"] - expected["e"])
    assert measured["perplexity_ratio"] == pytest.approx(ratio, rel=1e-5)
