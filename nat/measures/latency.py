"""The protocol by which latencies are measured, by turns (docs/measures.md, "Latency").

The latency of a turn is its wall time divided by the number of sentences; it ends with token ids,
without BPE and detokenisation. The first system of one repeat is the last of the next. The engine
of a system is opened before each turn and closed after it: threads that one keeps, even idle, slow
others down. The settings are those of Gu and Kong (2021), section 4.1, and Wang et al. (2022),
table 10.
"""

import math
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nat.data.batch import source_tensor
from nat.decoding.corpus import Decode, Sentences
from nat.machine import processor_name
from nat.measures.latency_setting import LARGEST, OUT_OF_MEMORY, STEADY, Setting
from nat.transformer.model import Transformer

WARM_UP = 2  # batches that a system translates before each of its turns
SAMPLED = 16  # batches, at most, by which the fastest number of threads is chosen


@dataclass(frozen=True)
class System:
    """What is timed; its model is on the device of the setting, in evaluation mode.

    `opened` gives the method of decoding with its engine, which has PyTorch's number of threads. Of
    several numbers of `threads`, the fastest is measured.
    """

    model: Transformer
    opened: Callable[[], Decode]
    engine: str
    precision: str
    threads: Sequence[int]


def measure(
    systems: Mapping[str, System],
    sentences: Sentences,
    ids: Sequence[int],
    setting: Setting,
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[dict[str, Any], dict[str, list[float] | str]]:
    """Time the translation of sentences, `ids`, which are not empty and fit every model.

    Returns:
        What was done, JSON-able: the setting, the device, what was translated and how. And for each
        system the time a sentence of every repeat, in milliseconds, or "out of memory" if its batch
        does not fit the memory of a GPU.
    """
    order = sorted(ids, key=lambda number: (-len(sentences[number]), number))
    ordered = [sentences[number] for number in order]
    timings = {name: _Timing(each, ordered, setting, clock) for name, each in systems.items()}
    by_turns = deque(timings.values())
    for timing in by_turns:
        timing.attempt(timing.prepare)
    for repeat in range(max(setting.repeats, setting.most_repeats)):
        if repeat >= setting.repeats and all(timing.steady for timing in by_turns):
            break
        for timing in by_turns:
            timing.attempt(timing.turn)
        by_turns.rotate(-1)
    lengths = np.array([len(sentence) for sentence in ordered])
    done = {
        "setting": vars(setting),
        "device": torch.cuda.get_device_name() if setting.device == "cuda" else processor_name(),
        "sentences": len(order),
        "source_tokens": {
            "mean": round(float(lengths.mean()), 2),
            **{f"p{q}": float(np.percentile(lengths, q)) for q in (5, 25, 50, 75, 95)},
            "longest": int(lengths.max()),
        },
        "systems": {name: timing.described for name, timing in timings.items()},
    }
    return done, {name: timing.repeats for name, timing in timings.items()}


def largest_batch(fits: Callable[[int], bool], most: int) -> int:
    """The largest batch of at most so many sentences that `fits`, to within an eighth of it.

    A batch of one is taken to fit.
    """
    size, too_large = 1, None
    while size < most and (too_large is None or too_large - size > max(1, size // 8)):
        tried = min(2 * size, most) if too_large is None else (size + too_large) // 2
        if fits(tried):
            size = tried
        else:
            too_large = tried
    return size


@dataclass
class _Timing:
    """The batches and the turns of a system, and the state why it cannot be measured, if so."""

    system: System
    sentences: Sequence[np.ndarray]  # the longest first
    setting: Setting
    clock: Callable[[], float]
    state: str = ""
    size: int = 0  # sentences of a batch
    threads: int = 0
    batches: list[Tensor] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)  # of a sentence, in each turn

    def attempt(self, work: Callable[[], None]) -> None:
        """Do a part of the measurement, unless the system cannot be measured."""
        if self.state:
            return
        if self.setting.batch == LARGEST:  # what other systems' batches took is free again
            torch.cuda.empty_cache()
        try:
            work()
        except torch.OutOfMemoryError:
            self.state = OUT_OF_MEMORY
            torch.cuda.empty_cache()

    def prepare(self) -> None:
        """Make the batches, and choose the number of threads."""
        count, batch = len(self.sentences), self.setting.batch
        self.size = batch if isinstance(batch, int) else largest_batch(self._fits, count)
        starts = range(0, count, self.size)
        self.batches = [source_tensor(self.sentences[at : at + self.size]) for at in starts]
        self.threads, *others = self.system.threads
        if others:
            sample = self.batches[:: math.ceil(len(self.batches) / SAMPLED)]
            self.threads = min(self.system.threads, key=lambda count: self._time(sample, count))

    def turn(self) -> None:
        """Translate all sentences once."""
        self.seconds.append(self._time(self.batches, self.threads) / len(self.sentences))

    @property
    def steady(self) -> bool:
        """True if the turns took about the same time, or further ones would change nothing."""
        low, high = np.percentile(self.seconds or [1.0], (25, 75))
        return bool(self.state or high <= STEADY * low)

    @property
    def described(self) -> dict[str, Any]:
        """How the system was run, JSON-able."""
        named = {"engine": self.system.engine, "precision": self.system.precision}
        how = {**named, "threads": self.threads}
        return how if self.state else {**how, "batch_sentences": self.size}

    @property
    def repeats(self) -> list[float] | str:
        """The milliseconds a sentence of each turn, or the state."""
        return self.state or [round(1000 * each, 4) for each in self.seconds]

    def _fits(self, size: int) -> bool:
        """Return True if a batch of so many of the longest sentences fits the memory."""
        batch = source_tensor(self.sentences[:size])
        try:
            self.system.opened()(self.system.model, batch.to(self.setting.device))
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
            return False
        return True

    def _time(self, batches: Sequence[Tensor], threads: int) -> float:
        """Seconds that batches take, after some that are not counted."""
        torch.set_num_threads(threads)
        method = self.system.opened()

        def translate(some: Sequence[Tensor]) -> None:
            for batch in some:
                method(self.system.model, batch.to(self.setting.device))

        translate(batches[:WARM_UP])
        started = self._now()
        translate(batches)
        return self._now() - started

    def _now(self) -> float:
        """The time at which the device has done all that it was given."""
        if self.setting.device == "cuda":
            torch.cuda.synchronize()
        return self.clock()
