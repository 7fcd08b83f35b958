"""The protocol by which latencies are measured.

Several systems translate the same sentences by turns: in each repeat, every system translates all
of them, batch by batch, and the first system of one repeat is the last of the next. So whatever
slows the machine down for a while slows down all systems, and a ratio of two latencies is hardly
affected. If the times of some system lie far apart, there are more repeats, of all of them. Before
each turn a system translates a few batches that are not counted, and the device is synchronised
before and after it. The latency of a turn is its wall time divided by the number of sentences; the
median over the turns is reported, together with quartiles, mean and every turn.

With several processor threads many an engine is slower than with one, where products are small.
So a system may be given in several ways that differ in their threads: each translates a sample of
the batches before the first repeat, and the fastest is measured. The engine of a system is opened
before each turn and closed after it: threads that one keeps, even idle, would slow others down.

Batches contain sentences of similar length, and the measurement ends with token ids: loading the
model, BPE and detokenisation are not included.

Gu and Kong (2021), section 4.1, report three settings: batches of one sentence on a GPU, the same
on a processor, and the largest batches that fit a GPU; Wang et al. (2022), table 10, batches of 1
to 32.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nat.data.batch import source_tensor
from nat.decoding.corpus import Method, Sentences
from nat.decoding.hypothesis import Hypothesis
from nat.machine import processor_name
from nat.measures.latency_setting import (
    LARGEST,
    NO_GPU,
    OUT_OF_MEMORY,
    STATE,
    STEADY,
    Setting,
)
from nat.transformer.model import Transformer

WARM_UP = 2
"""Batches that a system translates before each of its turns."""

SAMPLED = 16
"""Batches, at most, by which the fastest way to run a system is chosen."""


@dataclass(frozen=True)
class System:
    """A system that is timed.

    Attributes:
        model: on the device of the setting, in evaluation mode.
        opened: the method of decoding, with its engine, using PyTorch's number of threads.
        engine: the program that runs the model.
        precision: of its products, such as float32.
        threads: of a processor that it uses.
    """

    model: Transformer
    opened: Callable[[], Method]
    engine: str
    precision: str
    threads: int


def measure(
    systems: Mapping[str, Sequence[System] | str],
    sentences: Sentences,
    ids: Sequence[int],
    setting: Setting,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Any]:
    """Time the translation of a set of sentences by several systems.

    Args:
        systems: by name the ways to run it, of which the fastest is measured; a text is the reason
            why it cannot be measured on this device.
        sentences: source sentences by number.
        ids: numbers of those that are translated; none empty, all within the positions of every
            model.
        setting: see there.
        clock: seconds.

    Returns:
        JSON-able: the setting and the device, what was translated, and for each system the time a
        sentence of every repeat, with their median, mean, quartiles, lowest and highest, in
        milliseconds. A system that was not measured has a `state` instead: the reason given, or
        "out of memory" if its batch does not fit the memory of a GPU.
    """
    order = sorted(ids, key=lambda number: (-len(sentences[number]), number))
    timings = [
        _Timing(name, each, sentences, order, setting, clock) for name, each in systems.items()
    ]
    for timing in timings:
        timing.attempt(timing.prepare)
    for repeat in range(max(setting.repeats, setting.most_repeats)):
        if repeat >= setting.repeats and all(timing.steady for timing in timings):
            break
        start = repeat % len(timings)
        for timing in timings[start:] + timings[:start]:
            timing.attempt(timing.turn)
    lengths = np.array([len(sentences[number]) for number in order])
    return {
        "setting": vars(setting),
        "device": torch.cuda.get_device_name() if setting.device == "cuda" else processor_name(),
        "sentences": len(order),
        "source_tokens": {
            "mean": round(float(lengths.mean()), 2),
            **{f"p{q}": float(np.percentile(lengths, q)) for q in (5, 25, 50, 75, 95)},
            "longest": int(lengths.max()),
        },
        "systems": {timing.name: timing.found() for timing in timings},
    }


def largest_batch(fits: Callable[[int], bool], most: int) -> int:
    """The largest batch that fits the memory, to within an eighth of it.

    Args:
        fits: whether a batch of so many sentences does; a batch of one is taken to.
        most: sentences that there are.
    """
    size, too_large = 1, None
    while size < most and (too_large is None or too_large - size > max(1, size // 8)):
        tried = min(2 * size, most) if too_large is None else (size + too_large) // 2
        if fits(tried):
            size = tried
        else:
            too_large = tried
    return size


def without_device(setting: Setting) -> dict[str, Any] | None:
    """The state that replaces all latencies if the device is missing, otherwise None."""
    if setting.device == "cuda" and not torch.cuda.is_available():
        return {"setting": vars(setting), STATE: NO_GPU}
    return None


class _Timing:
    """The batches and the turns of a system."""

    def __init__(
        self,
        name: str,
        ways: Sequence[System] | str,
        sentences: Sentences,
        order: Sequence[int],
        setting: Setting,
        clock: Callable[[], float],
    ) -> None:
        self.name = name
        self._ways = () if isinstance(ways, str) else ways
        self._sentences, self._order = sentences, order
        self._setting, self._clock = setting, clock
        self._state = ways if isinstance(ways, str) else ""
        self._size = 0
        self._batches: list[Tensor] = []
        self._seconds: list[float] = []
        self._written = 0

    def attempt(self, work: Callable[[], None]) -> None:
        """Do a part of the measurement, unless the system cannot be measured."""
        if self._state:
            return
        if self._setting.batch == LARGEST:  # what other systems' batches took is free again
            torch.cuda.empty_cache()
        try:
            work()
        except torch.OutOfMemoryError:
            self._state = OUT_OF_MEMORY
            torch.cuda.empty_cache()

    def prepare(self) -> None:
        """Make the batches, and choose the fastest way to run the system."""
        batch = self._setting.batch
        self._size = (
            batch if isinstance(batch, int) else largest_batch(self._fits, len(self._order))
        )
        self._batches = [
            self._batch(start, start + self._size)
            for start in range(0, len(self._order), self._size)
        ]
        if len(self._ways) > 1:
            sample = self._batches[:: math.ceil(len(self._batches) / SAMPLED)]
            self._ways = [min(self._ways, key=lambda way: self._time(way, sample)[0])]

    def turn(self) -> None:
        """Translate all batches once."""
        seconds, found = self._time(self._ways[0], self._batches)
        self._seconds.append(seconds / len(self._order))
        self._written = sum(len(hypothesis.tokens) for hypothesis in found)

    @property
    def steady(self) -> bool:
        """Whether the turns took about the same time, or further ones would change nothing."""
        if self._state:
            return True
        low, high = np.percentile(self._seconds, (25, 75))
        return bool(high <= STEADY * low)

    def found(self) -> dict[str, Any]:
        """What was measured of the system, JSON-able."""
        if not self._ways:
            return {STATE: self._state}
        way = self._ways[0]
        described = {"engine": way.engine, "precision": way.precision, "threads": way.threads}
        if self._state:
            return {**described, STATE: self._state}
        times = 1000 * np.array(self._seconds)
        statistics = {
            "median": np.median(times),
            "mean": times.mean(),
            "quartile_1": np.percentile(times, 25),
            "quartile_3": np.percentile(times, 75),
            "lowest": times.min(),
            "highest": times.max(),
        }
        return {
            **described,
            "batch_sentences": self._size,
            "written_tokens": self._written,
            "milliseconds_per_sentence": {
                **{name: round(float(value), 4) for name, value in statistics.items()},
                "repeats": [round(float(value), 4) for value in times],
            },
        }

    def _fits(self, size: int) -> bool:
        """Whether a batch of so many of the longest sentences fits the memory."""
        try:
            self._ways[0].opened()(
                self._ways[0].model, self._batch(0, size).to(self._setting.device)
            )
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
            return False
        return True

    def _time(self, way: System, batches: Sequence[Tensor]) -> tuple[float, list[Hypothesis]]:
        """Seconds and translations of batches, after some that are not counted."""
        device = self._setting.device
        torch.set_num_threads(way.threads)
        method = way.opened()
        for batch in batches[:WARM_UP]:
            method(way.model, batch.to(device))
        _wait(device)
        started = self._clock()
        found = [each for batch in batches for each in method(way.model, batch.to(device))]
        _wait(device)
        return self._clock() - started, found

    def _batch(self, start: int, end: int) -> Tensor:
        return source_tensor([self._sentences[number] for number in self._order[start:end]])


def _wait(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()
