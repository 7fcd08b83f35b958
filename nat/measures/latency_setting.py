"""The settings of latencies, and the numbers in their files; without torch, for reports."""

import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nat.errors import UserError
from nat.measures.known import LATENCY, MEASURES, SPEED_UP
from nat.measures.results import Measures, missing

LEAST_REPEATS = 5
STEADY = 1.25  # largest ratio of the third quartile of repeats to the first, for them to be trusted
LARGEST = "largest"  # the batch of as many sentences as fit the memory of a GPU

ALL_CORES = 0
"""Number of threads that stands for one on each core, or for one alone where that is faster."""

NO_GPU, OUT_OF_MEMORY = "no GPU", "out of memory"  # why there is no latency, as the following
NO_CUBLAS = "not run: CTranslate2 needs cuBLAS 12"
"""On a GPU, whose libraries are PyTorch's and may be of another version."""
ONLY_PROCESSORS = "not run: ONNX Runtime is installed for processors"  # on a GPU
ONLY_GPUS = "not run: CTranslate2 has float16 on GPUs only"  # on a processor

_NAME = re.compile(rf"(cpu|thread|cores|cuda)-([1-9]\d*)|(cuda)-({LARGEST})")

THREADS = {"thread": 1, "cores": ALL_CORES}
"""Threads of a processor by the first word of a setting's name; others are those of the scale."""

NAMES = [name for name, each in MEASURES.items() if each.source == LATENCY and name != SPEED_UP]
"""All measures of a latency."""


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
    as the scale says (None). Raises a `UserError` for an invalid name.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        raise UserError(
            f"setting: found '{name}', expected cpu-N, thread-N, cores-N or cuda-N, N sentences in "
            f"a batch, or cuda-{LARGEST}"
        )
    device, size = (match[1], int(match[2])) if match[1] else (match[3], LARGEST)
    return "cuda" if device == "cuda" else "cpu", size, THREADS.get(device)


def numbers(
    repeats: Sequence[float] | str, sentences: int, words: float, sizes: Mapping[str, int | None]
) -> Measures:
    """The numbers of a system, from the milliseconds a sentence of its repeats.

    A text is the reason why it has none. The test set has so many `sentences`, with so many `words`
    on the source side of each; `sizes` are bytes, by measure, where they are known.
    """
    if isinstance(repeats, str):
        return missing(NAMES, repeats)
    quartiles = statistics.quantiles(repeats, n=4, method="inclusive")
    low, median, high, mean = (round(each, 4) for each in (*quartiles, statistics.fmean(repeats)))
    values = {
        "latency": (median, low, high),
        "latency_mean": (mean, low, high),
        "latency_quartile_1": (low,),
        "latency_quartile_3": (high,),
        "decoding_seconds": (time * sentences / 1000 for time in (mean, low, high)),
        "words_per_second": (1000 * words / time for time in (median, high, low)),
        **{name: (size / 1e6,) for name, size in sizes.items() if size},
    }
    ends = ("value", "low", "high")
    made: Measures = {name: dict(zip(ends, each, strict=False)) for name, each in values.items()}
    made["latency"]["repeats"] = list(repeats)
    return made
