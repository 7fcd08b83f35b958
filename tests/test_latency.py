from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch

from nat.configuration import load
from nat.decoding.hypothesis import Hypothesis
from nat.errors import UserError
from nat.measures.latency import measure, without_device
from nat.measures.latency_setting import Setting, parse_setting


class Counting:
    """A decoding that notes its batches; each takes as many seconds as it has rows."""

    def __init__(self) -> None:
        self.batches: list[tuple[int, int]] = []
        self.now = 0.0

    def __call__(self, model: Any, source: torch.Tensor) -> list[Hypothesis]:
        self.batches.append((source.size(0), source.size(1) - 1))
        self.now += source.size(0)
        return [Hypothesis([7, 7], -1.0, 1)] * source.size(0)


@pytest.fixture
def sentences() -> list[np.ndarray]:
    return [np.full(length, 7) for length in (3, 9, 1, 4, 4, 2, 8)]


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def test_every_repeat_translates_every_sentence(
    make_model: Callable[..., Any], sentences: list[np.ndarray]
) -> None:
    method = Counting()
    found = measure(
        make_model(), method, sentences, range(7), Setting("cpu", 3, 1, 6), lambda: method.now
    )
    # two batches to warm up, then six times all of them, the longest first
    repeat = [(3, 9), (3, 4), (1, 1)]
    assert method.batches == repeat[:2] + 6 * repeat
    times = found["milliseconds_per_sentence"]
    assert times["repeats"] == [1000.0] * 6
    assert times["median"] == times["lowest"] == times["highest"] == 1000.0
    assert found["sentences"] == 7 and found["written_tokens"] == 14
    assert found["setting"] == {
        "device": "cpu", "batch": 3, "threads": 1, "repeats": 6, "batch_sentences": 3
    }  # fmt: skip
    assert found["source_tokens"]["longest"] == 9
    assert found["source_tokens"]["mean"] == pytest.approx(31 / 7, abs=0.01)
    assert found["dtype"] == "float64"


def test_the_median_is_of_unequal_repeats(
    make_model: Callable[..., Any], sentences: list[np.ndarray]
) -> None:
    moments = iter([0, 1, 1, 3, 3, 13, 13, 17, 17, 20])
    found = measure(
        make_model(), Counting(), sentences[:1], [0], Setting("cpu", 1, 1), lambda: next(moments)
    )
    times = found["milliseconds_per_sentence"]
    assert times["repeats"] == [1000.0, 2000.0, 10000.0, 4000.0, 3000.0]
    assert (times["median"], times["lowest"], times["highest"]) == (3000.0, 1000.0, 10000.0)
    assert (times["mean"], times["quartile_1"], times["quartile_3"]) == (4000.0, 2000.0, 4000.0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("cpu", 1, 1, 4), "at least 5 repeats, not 4"),
        (("cpu", 0, 1), "expected a number above 0"),
        (("cpu", "largest", 1), "give a batch size"),
    ],
)
def test_a_protocol_that_is_none_is_refused(arguments: tuple[Any, ...], words: str) -> None:
    with pytest.raises(UserError, match=words):
        Setting(*arguments)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("cpu-1", ("cpu", 1)), ("cuda-32", ("cuda", 32)), ("cuda-largest", ("cuda", "largest"))],
)
def test_settings_have_names(name: str, expected: tuple[str, Any]) -> None:
    assert parse_setting(name) == expected


@pytest.mark.parametrize("name", ["", "cpu", "cpu-0", "cpu-largest", "gpu-1", "cpu-1x", "cuda-01"])
def test_a_name_that_is_no_setting(name: str) -> None:
    with pytest.raises(UserError, match="setting: found"):
        parse_setting(name)


def test_threads_are_those_of_the_scale_or_of_a_training() -> None:
    assert load("paper").latency == {"sentences": None, "repeats": 5, "threads": 4}
    demo = load("demo")
    assert demo.latency["threads"] == demo.threads


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_no_gpu_is_a_state() -> None:
    found = without_device(Setting("cuda", 1, 1))
    assert found is not None and found["state"] == "no GPU" and "milliseconds" not in str(found)
    assert without_device(Setting("cpu", 1, 1)) is None


def test_too_small_a_memory_is_a_state(
    make_model: Callable[..., Any], sentences: list[np.ndarray]
) -> None:
    def full(model: Any, source: torch.Tensor) -> list[Hypothesis]:
        raise torch.OutOfMemoryError

    found = measure(make_model(), full, sentences, range(7), Setting("cpu", 7, 1))
    assert found["state"] == "out of memory" and found["setting"]["batch"] == 7
    assert found["dtype"] == "float64" and "milliseconds_per_sentence" not in found
