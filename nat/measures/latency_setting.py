"""The settings of latencies, and reasons why one is missing; without torch, for reports."""

import re
from dataclasses import dataclass

from nat.errors import UserError

LEAST_REPEATS = 5
STEADY = 1.25
"""How many times the first quartile of repeats the third may be, for them to be trusted."""

LARGEST = "largest"
"""The batch of as many sentences as fit the memory of a GPU."""

ALL_CORES = 0
"""Number of threads that stands for one on each core, or for one alone where that is faster."""

STATE = "state"
"""Key in the file of a latency that could not be measured; its value is one of these."""

NO_GPU, OUT_OF_MEMORY = "no GPU", "out of memory"
NO_CUBLAS = "not run: CTranslate2 needs cuBLAS 12"
"""On a GPU, whose libraries are PyTorch's and may be of another version."""
ONLY_PROCESSORS = "not run: ONNX Runtime is installed for processors"
"""On a GPU."""
ONLY_GPUS = "not run: CTranslate2 has float16 on GPUs only"
"""On a processor."""

_NAME = re.compile(rf"(cpu|thread|cores)-([1-9]\d*)|(cuda)-([1-9]\d*|{LARGEST})")

THREADS = {"cpu": None, "thread": 1, "cores": ALL_CORES}
"""Threads of a processor by the first word of a setting's name; None for those of the scale."""


@dataclass(frozen=True)
class Setting:
    """What is measured.

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

    `thread-1` is one thread of a processor. `cores-1` are as many as there are cores, or one for
    systems that are faster with one (`ALL_CORES`). Otherwise there are as many as the scale says
    (None).

    Raises:
        UserError: for an invalid name.
    """
    found = _NAME.fullmatch(name)
    if found is None:
        raise UserError(
            f"setting: found '{name}', expected cpu-N, thread-N, cores-N or cuda-N, N sentences in "
            f"a batch, or cuda-{LARGEST}"
        )
    if found[1]:
        return "cpu", int(found[2]), THREADS[found[1]]
    return found[3], found[4] if found[4] == LARGEST else int(found[4]), None
