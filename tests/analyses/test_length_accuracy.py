import numpy as np
import torch

from nat.analyses.analysis import Pairs
from nat.analyses.length_accuracy import accuracies, length_differences
from nat.transformer.architecture import Architecture
from nat.transformer.model import Transformer


def test_off_by_none_one_and_two() -> None:
    found = accuracies([0, 0, 1, -1, 2, -2, 3, -9, 0, 1])
    assert [found[f"length_accuracy_{top}"]["value"] for top in (1, 3, 5)] == [30, 60, 80]
    assert found["length_accuracy_3"]["hits"] == "1111000011"
    for each in found.values():
        assert each["low"] < each["value"] < each["high"]


def test_differences_are_in_order_and_do_not_depend_on_batches() -> None:
    torch.manual_seed(0)
    model = Transformer(Architecture(16, 32, 1, 1, 2, max_positions=12), 40, length="target")
    model.eval()
    numbers = np.random.default_rng(0)
    source = [numbers.integers(6, 40, size) for size in (3, 7, 0, 5, 12, 4)]
    target = [numbers.integers(6, 40, size) for size in (2, 9, 3, 5, 8, 4)]
    alone = length_differences(Pairs(model, source, target, 1))
    assert alone == length_differences(Pairs(model, source, target, 1000))
    assert len(alone) == 4  # one source is empty, one leaves no position for its EOS
    longer = [np.append(sentence, 7) for sentence in target]
    assert [off - 1 for off in alone] == length_differences(Pairs(model, source, longer, 1000))
