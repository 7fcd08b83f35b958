"""The mean of weights over several files."""

from pathlib import Path

import torch

from nat.training.model_file import average, write_tensors


def test_the_mean_is_that_of_float64(tmp_path: Path) -> None:
    values = [16777216.0, 1.0, 1.0]  # in float32 each 1 is lost beside 2^24
    files = [tmp_path / f"weights_{update}.pt" for update in range(3)]
    for update, value in enumerate(values):
        weights = {"a": torch.tensor([value, 3.0]), "b": torch.full((2, 2), update * 1.5)}
        write_tensors(files[update], weights)
    mean = average(files)
    assert mean["a"].dtype == torch.float32
    assert mean["a"].tolist() == [torch.tensor(sum(values) / 3).item(), 3.0]
    assert mean["b"].tolist() == [[1.5, 1.5], [1.5, 1.5]]
