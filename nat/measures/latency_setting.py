"""The settings of latencies, and the numbers in their files; without torch, for reports."""

import re
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from nat.errors import UserError
from nat.measures.known import LATENCY, MEASURES, SPEED_UP
from nat.measures.results import Measures, missing

LEAST_REPEATS = 5
STEADY = 1.25  # largest ratio of the third quartile of repeats to the first, for them to be trusted
LARGEST = "largest"  # the batch of as many sentences as fit the memory of a GPU

ALL_CORES = 0
"""Number of threads that stands for one on each core, or for one alone where that is faster."""

STATE = "state"  # key of a latency that could not be measured; its value is one of these

NO_GPU, OUT_OF_MEMORY = "no GPU", "out of memory"
NO_CUBLAS = "not run: CTranslate2 needs cuBLAS 12"
"""On a GPU, whose libraries are PyTorch's and may be of another version."""
ONLY_PROCESSORS = "not run: ONNX Runtime is installed for processors"  # on a GPU
ONLY_GPUS = "not run: CTranslate2 has float16 on GPUs only"  # on a processor

_NAME = re.compile(rf"(cpu|thread|cores|cuda)-([1-9]\d*)|(cuda)-({LARGEST})")

THREADS = {"thread": 1, "cores": ALL_CORES}
"""Threads of a processor by the first word of a setting's name; others are those of the scale."""

TIMES = "milliseconds_per_sentence"
"""Key of the times of a system in what `nat.measures.latency.measure` returns."""

NAMES = [name for name, each in MEASURES.items() if each.source == LATENCY and name != SPEED_UP]
"""All measures of a latency."""

_BYTES = {"model_size": "model_bytes", "memory": "memory_bytes"}


@dataclass(frozen=True)
class Setting:
    """The conditions of a measurement.

    Attributes:
        device: `cpu` or `cuda`.
        batch: sentences of a batch, or `largest`: as many as fit the device's memory.
        threads: of a processor, at most.
        repeats: of the whole set, at least five.
        most_repeats: if the repeats of some system are not steady, up to so many, for all systems.
    """

    device: str
    batch: int | str
    threads: int
    repeats: int = LEAST_REPEATS
    most_repeats: int = LEAST_REPEATS


def parse_setting(name: str) -> tuple[str, int | str, int | None]:
    """Device, batch and threads of a setting's name, such as `cpu-1` or `cuda-largest`.

    `thread-1` is one thread of a processor, `cores-1` has `ALL_CORES`; otherwise there are as many
    as the scale says (None).

    Raises:
        UserError: for an invalid name.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        raise UserError(
            f"setting: found '{name}', expected cpu-N, thread-N, cores-N or cuda-N, N sentences in "
            f"a batch, or cuda-{LARGEST}"
        )
    device, size = (match[1], int(match[2])) if match[1] else (match[3], LARGEST)
    return "cuda" if device == "cuda" else "cpu", size, THREADS.get(device)


def with_measures(timed: Mapping[str, Any], names: Iterable[str] = ()) -> dict[str, Any]:
    """The file of a latency with the numbers of each system, see `nat.measures.results`.

    `timed` is what `nat.measures.latency` gives for all systems, and the facts that the job adds.
    Where the device is missing, it has a state, that of the systems `names`, instead of systems.
    """
    if STATE in timed:
        facts = {key: value for key, value in timed.items() if key != STATE}
        return {"measures": {name: missing(NAMES, timed[STATE]) for name in names}, **facts}
    moved = {TIMES, STATE, *_BYTES.values()}
    systems = {
        name: {key: value for key, value in system.items() if key not in moved}
        for name, system in timed["systems"].items()
    }
    numbers = {name: _numbers(system, timed) for name, system in timed["systems"].items()}
    return {"measures": numbers, **timed, "systems": systems}


def _numbers(system: Mapping[str, Any], timed: Mapping[str, Any]) -> Measures:
    if STATE in system:
        return missing(NAMES, system[STATE])
    repeats = system[TIMES]
    sentences, words = timed["sentences_of_split"], timed["source_words_per_sentence"]
    quartiles = statistics.quantiles(repeats, n=4, method="inclusive")
    low, median, high, mean = (round(each, 4) for each in (*quartiles, statistics.fmean(repeats)))
    values = {
        "latency": (median, low, high),
        "latency_mean": (mean, low, high),
        "latency_quartile_1": (low,),
        "latency_quartile_3": (high,),
        "decoding_seconds": (time * sentences / 1000 for time in (mean, low, high)),
        "words_per_second": (1000 * words / time for time in (median, high, low)),
        **{name: (system[key] / 1e6,) for name, key in _BYTES.items() if system.get(key)},
    }
    ends = ("value", "low", "high")
    numbers: Measures = {name: dict(zip(ends, each, strict=False)) for name, each in values.items()}
    numbers["latency"]["repeats"] = list(repeats)
    return numbers
