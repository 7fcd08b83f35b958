"""The protocol by which latencies are measured.

The whole set of sentences is translated several times, batch by batch, after a warm-up that is not
counted. The latency of a repeat is its wall time divided by its number of sentences. The median
over repeats is reported, together with quartiles, mean and every repeat. The device is synchronised
before and after each repeat. Batches contain sentences of similar length, and the measurement ends
with token ids: loading the model, BPE and detokenisation are not included.

Gu and Kong (2021), section 4.1, report three settings: batches of one sentence on a GPU, the same
on a processor, and the largest batches that fit a GPU; Wang et al. (2022), table 10, batches of 1
to 32.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from nat.data.batch import source_tensor
from nat.decoding.corpus import Method, Sentences
from nat.machine import processor_name
from nat.measures.latency_setting import LARGEST, NO_GPU, OUT_OF_MEMORY, STATE, Setting
from nat.transformer.model import Transformer

WARM_UP = 2
"""Batches of each size that are translated before the measurement."""


def measure(
    model: Transformer,
    method: Method,
    sentences: Sentences,
    ids: Sequence[int],
    setting: Setting,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Any]:
    """Time the translation of a set of sentences.

    Args:
        model: on the device of the setting, in evaluation mode.
        method: of decoding.
        sentences: source sentences by number.
        ids: numbers of those that are translated; none empty, all within the model's positions.
        setting: see there.
        clock: seconds.

    Returns:
        JSON-able: the setting and the device, what was translated, every repeat's time a sentence,
        and their median, mean, quartiles, lowest and highest, in milliseconds; or, of a batch that
        does not fit the memory of a GPU, the `state` "out of memory" instead of times.
    """
    torch.set_num_threads(setting.threads)
    order = sorted(ids, key=lambda number: (-len(sentences[number]), number))
    try:
        return _measured(model, method, sentences, order, setting, clock)
    except torch.OutOfMemoryError:
        torch.cuda.empty_cache()
        return {"setting": vars(setting), **_device(model, setting), STATE: OUT_OF_MEMORY}


def without_device(setting: Setting) -> dict[str, Any] | None:
    """The state that replaces a latency if the device of a setting is missing, otherwise None."""
    if setting.device == "cuda" and not torch.cuda.is_available():
        return {"setting": vars(setting), STATE: NO_GPU}
    return None


def _device(model: Transformer, setting: Setting) -> dict[str, Any]:
    return {
        "device": torch.cuda.get_device_name() if setting.device == "cuda" else processor_name(),
        "dtype": str(next(model.parameters()).dtype).removeprefix("torch."),
        "torch": torch.__version__,
    }


def _measured(
    model: Transformer,
    method: Method,
    sentences: Sentences,
    order: Sequence[int],
    setting: Setting,
    clock: Callable[[], float],
) -> dict[str, Any]:
    size = _largest(model, method, sentences, order) if setting.batch == LARGEST else setting.batch
    assert isinstance(size, int)
    batches = [
        source_tensor([sentences[number] for number in order[start : start + size]])
        for start in range(0, len(order), size)
    ]
    for batch in batches[:WARM_UP]:
        method(model, batch.to(setting.device))
    seconds, written = [], 0
    for _ in range(setting.repeats):
        _wait(setting.device)
        started = clock()
        found = [method(model, batch.to(setting.device)) for batch in batches]
        _wait(setting.device)
        seconds.append((clock() - started) / len(order))
        written = sum(len(hypothesis.tokens) for part in found for hypothesis in part)
    lengths = np.array([len(sentences[number]) for number in order])
    return {
        "setting": {**vars(setting), "batch_sentences": size},
        **_device(model, setting),
        "sentences": len(order),
        "source_tokens": {
            "mean": round(float(lengths.mean()), 2),
            **{f"p{q}": float(np.percentile(lengths, q)) for q in (5, 25, 50, 75, 95)},
            "longest": int(lengths.max()),
        },
        "written_tokens": written,
        "milliseconds_per_sentence": {
            "median": round(1000 * statistics.median(seconds), 4),
            "mean": round(1000 * statistics.fmean(seconds), 4),
            **{
                f"quartile_{number}": round(1000 * float(np.percentile(seconds, 25 * number)), 4)
                for number in (1, 3)
            },
            "lowest": round(1000 * min(seconds), 4),
            "highest": round(1000 * max(seconds), 4),
            "repeats": [round(1000 * each, 4) for each in seconds],
        },
    }


def _largest(model: Transformer, method: Method, sentences: Sentences, order: Sequence[int]) -> int:
    """The largest batch of the longest sentences that fits the device's memory, by doubling."""
    size = 1
    while size < len(order):
        batch = source_tensor([sentences[number] for number in order[: 2 * size]]).to("cuda")
        try:
            method(model, batch)
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
            break
        size = min(2 * size, len(order))
    return size


def _wait(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()
