"""The numbers of a latency, computed from the times of its repeats; without torch."""

from collections.abc import Iterable, Mapping
from typing import Any

from nat.measures.latency_setting import STATE
from nat.measures.results import Measures, missing

TIMES = "milliseconds_per_sentence"
"""What `nat.measures.latency.measure` calls the times of a system."""

NAMES = (
    *("latency", "latency_mean", "latency_quartile_1", "latency_quartile_3"),
    *("decoding_seconds", "words_per_second", "model_size", "memory"),
)
"""All measures of a latency."""

_BYTES = {"model_size": "model_bytes", "memory": "memory_bytes"}


def with_measures(found: Mapping[str, Any], names: Iterable[str] = ()) -> dict[str, Any]:
    """The file of a latency with the numbers of each system, see `nat.measures.results`.

    Args:
        found: what `nat.measures.latency` gives for all systems, and the facts that the job adds.
            Where the device is missing, it has a state instead of systems.
        names: of the systems that have that state.
    """
    if STATE in found:
        facts = {key: value for key, value in found.items() if key != STATE}
        return {"measures": {name: missing(NAMES, found[STATE]) for name in names}, **facts}
    moved = {TIMES, STATE, *_BYTES.values()}
    systems = {
        name: {key: value for key, value in system.items() if key not in moved}
        for name, system in found["systems"].items()
    }
    numbers = {name: _numbers(system, found) for name, system in found["systems"].items()}
    return {"measures": numbers, **found, "systems": systems}


def _numbers(system: Mapping[str, Any], found: Mapping[str, Any]) -> Measures:
    if STATE in system:
        return missing(NAMES, system[STATE])
    times = system[TIMES]
    sentences, words = found["sentences_of_split"], found["source_words_per_sentence"]
    median, mean, low, high = (
        float(times[name]) for name in ("median", "mean", "quartile_1", "quartile_3")
    )
    numbers = {
        "latency": _number(median, low, high) | {"repeats": times["repeats"]},
        "latency_mean": _number(mean, low, high),
        "latency_quartile_1": {"value": low},
        "latency_quartile_3": {"value": high},
        "decoding_seconds": _number(*(time * sentences / 1000 for time in (mean, low, high))),
        "words_per_second": _number(*(1000 * words / time for time in (median, high, low))),
    }
    sizes = {name: system.get(key) for name, key in _BYTES.items()}
    return numbers | {name: {"value": size / 1e6} for name, size in sizes.items() if size}


def _number(value: float, low: float, high: float) -> dict[str, Any]:
    return {"value": value, "low": low, "high": high}
