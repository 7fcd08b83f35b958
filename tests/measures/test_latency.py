import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import torch

import tests.made_up_models as made_up_models
from nat import configuration
from nat.artifacts import Latency
from nat.decoding.hypothesis import Hypothesis
from nat.files import read_json
from nat.jobs import measure_latency
from nat.measures.latency import System, largest_batch, measure
from nat.measures.latency_setting import ALL_CORES, NAMES, Setting, numbers, parse_setting
from nat.measures.results import missing, read
from nat.workflow.specification import jobs


class Counting:
    """Decodings that note their batches in a common list.

    Each batch takes as many seconds as it has rows, times the factor of the decoding, and times
    `threads` for a number of threads that is named there.
    """

    def __init__(self) -> None:
        self.batches: list[tuple[str, int, int]] = []
        self.now, self.threads = 0.0, dict[int, float]()

    def system(self, name: str, factor: float, *threads: int) -> System:
        def translate(model: Any, source: torch.Tensor) -> list[Hypothesis]:
            self.batches.append((name, source.size(0), source.size(1) - 1))
            self.now += factor * source.size(0) * self.threads.get(torch.get_num_threads(), 1.0)
            return [Hypothesis([7, 7], -1.0, 1)] * source.size(0)

        return run_by(translate, *threads)

    def measured(self, setting: Setting, **systems: System) -> Any:
        return measure(systems, SENTENCES, range(7), setting, lambda: self.now)


def run_by(translate: Any, *threads: int) -> System:
    return System(Any, lambda: translate, "torch 0", "float32", threads or [1])


SENTENCES = [np.full(length, 7) for length in (3, 9, 1, 4, 4, 2, 8)]
DESCRIBED = {"engine": "torch 0", "precision": "float32", "threads": 1}


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def test_every_repeat_translates_every_sentence() -> None:
    counting, setting = Counting(), Setting("cpu", 3, 1, 6)
    found, times = counting.measured(setting, nat=counting.system("nat", 1.0))
    # six times two batches to warm up, then all of them, the longest first
    repeat = [("nat", 3, 9), ("nat", 3, 4), ("nat", 1, 1)]
    assert counting.batches == 6 * (repeat[:2] + repeat)
    assert (found["setting"], found["sentences"]) == (vars(setting), 7)
    assert found["source_tokens"]["longest"] == 9
    assert found["source_tokens"]["mean"] == pytest.approx(31 / 7, abs=0.01)
    assert found["systems"]["nat"] == DESCRIBED | {"batch_sentences": 3}
    assert times == {"nat": [1000.0] * 6}


def test_systems_are_measured_by_turns() -> None:
    counting = Counting()
    systems = {name: counting.system(name, factor) for name, factor in (("a", 1.0), ("b", 4.0))}
    _, times = counting.measured(Setting("cpu", 7, 1), **systems)
    turns = [name for name, _, _ in counting.batches][::2]  # one batch to warm up, and one
    assert turns == ["a", "b", "b", "a", "a", "b", "b", "a", "a", "b"]
    assert times == {"a": [1000.0] * 5, "b": [4000.0] * 5}


@pytest.mark.parametrize(("factor", "fastest"), [(0.5, 4), (3.0, 1)])
def test_the_fastest_number_of_threads_is_measured(factor: float, fastest: int) -> None:
    counting = Counting()
    counting.threads[4] = factor
    nat, other = counting.system("nat", 1.0, 1, 4), counting.system("other", 1.0, 2)
    found, times = counting.measured(Setting("cpu", 1, 4), nat=nat, other=other)
    assert found["systems"]["nat"]["threads"] == fastest
    assert times["nat"] == [1000.0 * min(1.0, factor)] * 5


@pytest.mark.parametrize(
    ("seconds", "most", "repeats"),
    [([1.0] * 20, 9, 5), ([1.0, 2.0, 1.0, 2.0, 1.0, *[1.1] * 15], 20, 9), ([1.0, 2.0] * 10, 9, 9)],
)
def test_there_are_more_repeats_until_the_times_are_close(
    seconds: list[float], most: int, repeats: int
) -> None:
    # read before and after each turn
    times = itertools.chain.from_iterable((0.0, each) for each in seconds)
    systems, setting = {"it": run_by(Mock())}, Setting("cpu", 1, 1, 5, most)
    _, found = measure(systems, SENTENCES[:1], [0], setting, times.__next__)
    assert len(found["it"]) == repeats


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 100, 900, 1000, 5000])
@pytest.mark.parametrize("most", [1, 2, 1000])
def test_the_largest_batch_is_found_to_within_an_eighth(limit: int, most: int) -> None:
    tried: list[int] = []

    def fits(size: int) -> bool:
        tried.append(size)
        return size <= limit

    found = largest_batch(fits, most)
    best = min(limit, most)
    assert best - max(1, found // 8) <= found <= best
    assert found == best or limit < most  # all sentences in a batch, if they fit
    assert max(tried, default=0) <= most
    assert len(tried) <= 14


def test_settings_have_names() -> None:
    settings = {
        "cpu-1": ("cpu", 1, None),
        "thread-8": ("cpu", 8, 1),
        "cores-1": ("cpu", 1, ALL_CORES),
        "cuda-32": ("cuda", 32, None),
        "cuda-largest": ("cuda", "largest", None),
    }
    assert {name: parse_setting(name) for name in settings} == settings


def test_what_one_system_cannot_do_leaves_the_others() -> None:
    systems = {
        "large": run_by(Mock(side_effect=torch.OutOfMemoryError)),
        "small": Counting().system("small", 1.0),
    }
    found, times = measure(systems, SENTENCES, range(7), Setting("cpu", 7, 1))
    assert found["systems"]["large"] == DESCRIBED
    assert times["large"] == "out of memory" and len(times["small"]) == 5


def test_numbers_of_a_latency() -> None:
    repeats = [1.0, 2.0, 4.0, 8.0, 10.0]
    sizes = {"model_size": 2_500_000, "memory": None}
    assert numbers(repeats, 3000, 12.0, sizes) == {
        "latency": {"value": 4.0, "low": 2.0, "high": 8.0, "repeats": repeats},
        "latency_mean": {"value": 5.0, "low": 2.0, "high": 8.0},
        "latency_quartile_1": {"value": 2.0},
        "latency_quartile_3": {"value": 8.0},
        "decoding_seconds": {"value": 15.0, "low": 6.0, "high": 24.0},
        "words_per_second": {"value": 3000.0, "low": 1500.0, "high": 6000.0},
        "model_size": {"value": 2.5},
    }
    assert numbers("out of memory", 3000, 12.0, sizes) == missing(NAMES, "out of memory")


@pytest.mark.parametrize(("batch", "emptied"), [(3, 0), ("largest", 1 + 5)])
def test_a_gpu_is_waited_for_and_its_memory_is_free(
    monkeypatch: pytest.MonkeyPatch, batch: int | str, emptied: int
) -> None:
    work = Mock()
    work.clock.return_value = 0.0
    monkeypatch.setattr(torch.cuda, "synchronize", work.wait)
    monkeypatch.setattr(torch.cuda, "empty_cache", work.empty)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "a GPU")
    monkeypatch.setattr(torch.Tensor, "to", lambda batch, _: batch)
    systems = {"nat": run_by(work.translate)}
    measure(systems, SENTENCES[:3], range(3), Setting("cuda", batch, 1), work.clock)
    calls = [name for name, *_ in work.mock_calls]
    timed = ["translate", "wait", "clock", "translate", "wait", "clock"]
    turn = ["empty", *timed] if emptied else timed
    assert calls[-5 * len(turn) :] == 5 * turn
    before = calls[: -5 * len(turn)]
    assert before == (["empty", "translate", "translate"] if emptied else [])
    assert calls.count("empty") == emptied


TEST = [*made_up_models.sentences(6, 3), "", "ba " * 2000]
"""A test set with an empty sentence and one that is too long."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    made_up_models.write_run(folder, TEST, ["at-base"], {"ctranslate2": ["at-base"]})
    return folder


def test_the_file_of_latencies_says_what_was_measured(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    methods = Mock(wraps=measure_latency.Methods)
    model = Mock(wraps=measure_latency.matching_model)
    monkeypatch.setattr(measure_latency, "Methods", methods)
    monkeypatch.setattr(measure_latency, "matching_model", model)
    names = ("at-base/beam5", "at-base/ctranslate2-float32-beam2")
    latency = Latency("micro", made_up_models.CORPUS, "dims_table_1", 1, "thread-1", names)
    measure_latency.measure_latency(jobs(configuration.read("micro"), [latency]))
    assert all(call.kwargs == {"alone": True} for call in methods.call_args_list)
    # PyTorch's weights are not in the memory of another engine
    assert [call.kwargs["mapped"] for call in model.call_args_list] == [False, True]
    found = read_json(Path(latency.path))
    assert (found["sentences_of_split"], found["left_out"], found["sentences"]) == (8, 2, 6)
    prepared = Path(f"results/corpora/{made_up_models.CORPUS}/test/tokens/test.en")
    words = [len(line.split()) for line in prepared.read_text().splitlines()[:6]]
    assert found["source_words_per_sentence"] == pytest.approx(sum(words) / 6)
    folder = Path("results/micro/models") / made_up_models.CORPUS / "at-base/seed1"
    for name, file in zip(names, ("model.pt", "ctranslate2/float32/model.bin"), strict=True):
        own = read(Path(latency.path), name)
        assert own["model_size"].value == (folder / file).stat().st_size / 1e6
        assert "memory" in own or sys.platform != "linux"
        assert len(own["latency"].repeats) >= 5 and own["latency"].low
        assert found["systems"][name]["threads"] == 1
