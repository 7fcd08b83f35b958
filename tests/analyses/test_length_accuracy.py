import numpy as np

from nat.analyses.analysis import Pairs
from nat.analyses.length_accuracy import accuracies, length_differences
from tests.tiny import make_model, make_texts


def test_off_by_none_one_and_two() -> None:
    found = accuracies(dict(enumerate([0, 0, 1, -1, 2, -2, 3, -9, 0, 1])))
    assert [found[f"length_accuracy_{top}"]["value"] for top in (1, 3, 5)] == [30, 60, 80]
    assert found["length_accuracy_3"]["by_sentence"]["sums"] == [100] * 4 + [0] * 4 + [100] * 2
    for each in found.values():
        assert each["low"] < each["value"] < each["high"]


def test_differences_are_of_the_target() -> None:
    model = make_model(length="target", max_positions=12)
    source, target = make_texts([(3, 2), (7, 9), (0, 3), (5, 5), (12, 8), (4, 4)])
    found = length_differences(Pairs(model, source, target, 1000))
    assert [*found] == [0, 1, 3, 5]  # one source is empty, one leaves no position for its EOS
    longer = [np.append(sentence, 7) for sentence in target]
    less = {number: off - 1 for number, off in found.items()}
    assert less == length_differences(Pairs(model, source, longer, 1000))
