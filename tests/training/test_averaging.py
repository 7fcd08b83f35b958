"""The mean of weights over several files."""

from pathlib import Path

import torch

from nat.training.averaging import average, remove_weights_except, save_weights, weights_path
from tests.messages import told


def test_the_mean_is_that_of_float64(tmp_path: Path) -> None:
    values = [16777216.0, 1.0, 1.0]  # in float32 each 1 is lost beside 2^24
    for update, value in enumerate(values):
        weights = {"a": torch.tensor([value, 3.0]), "b": torch.full((2, 2), update * 1.5)}
        save_weights(weights_path(tmp_path, update), weights)
    mean = average([weights_path(tmp_path, update) for update in range(3)])
    assert mean["a"].dtype == torch.float32
    assert mean["a"].tolist() == [torch.tensor(sum(values) / 3).item(), 3.0]
    assert mean["b"].tolist() == [[1.5, 1.5], [1.5, 1.5]]


def test_other_weights_are_refused(tmp_path: Path) -> None:
    save_weights(weights_path(tmp_path, 1), {"a": torch.zeros(2)})
    save_weights(weights_path(tmp_path, 2), {"b": torch.zeros(2)})
    with told("weights_2.pt"):
        average([weights_path(tmp_path, 1), weights_path(tmp_path, 2)])
    with told("weights_3.pt"):
        average([weights_path(tmp_path, 1), weights_path(tmp_path, 3)])


def test_removing(tmp_path: Path) -> None:
    for update in (1, 2, 10):
        save_weights(weights_path(tmp_path, update), {"a": torch.zeros(1)})
    (tmp_path / "checkpoint_1_1.pt").touch()
    remove_weights_except(tmp_path, [2, 3])
    assert sorted(path.name for path in tmp_path.glob("[!.]*")) == [
        "checkpoint_1_1.pt",
        "weights_2.pt",
    ]
