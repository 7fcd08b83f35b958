"""How the latencies of a place were measured, and how far the repeats lie apart."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nat.cells.cell import Cell, numbers
from nat.cells.known_measures import LATENCY
from nat.measures.latency_setting import STEADY
from nat.measures.results import read_file

DOUBLE_DAGGER = "‡"
EXTRAPOLATED = "decoding_seconds"
"""The measure of a whole test set, of which a part may have been translated."""

SIZES = ("model_size", "memory")
"""Measures that are in the file of a latency, but are no times."""

MACHINE, SENTENCES, UNSTEADY = KEYS = ("timed_on", "timed_sentences", "unsteady")
"""What a record says of its latencies; `UNSTEADY` is empty, or how far the quartiles lie apart."""


def described(cells: Iterable[Cell], root: Path) -> dict[str, str]:
    """What the files of the latencies of a place say of them; nothing if they have no times.

    Raises:
        UserError: if one of them is damaged.
    """
    found = [
        (read_file(root / cell.score_path), cell.timed_name, numbers(cell, root)["latency"])
        for cell in cells
        if cell.source == LATENCY and cell.measure not in SIZES
        if (root / cell.score_path).exists()
    ]
    timed = [
        content | content["systems"].get(name, {})
        for content, name, latency in found
        if latency.value is not None
    ]
    if not timed:
        return {}
    apart = max(each.high / each.low for _, _, each in found if each.low and each.high)
    return {
        MACHINE: "; ".join(dict.fromkeys(_machine(each) for each in timed)),
        SENTENCES: "; ".join(dict.fromkeys(_sentences(each) for each in timed)),
        UNSTEADY: f"{apart:.2f}" if apart > STEADY else "",
    }


def _machine(content: Mapping[str, Any]) -> str:
    setting, device = content.get("setting", {}), content.get("device", "")
    threads = content.get("threads", setting.get("threads"))
    if setting.get("device") != "cpu" or threads is None:
        return str(device)
    return f"{device}, {threads} thread{'s' * (threads > 1)}"


def _sentences(content: Mapping[str, Any]) -> str:
    translated, whole = content.get("sentences"), content["sentences_of_split"]
    if translated is None:
        return ""
    return f"{translated:,} of {whole:,}" if translated < whole else f"{whole:,}"


def of_operands(records: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """What a place that is computed from others says of their latencies."""
    apart = [record[UNSTEADY] for record in records if record.get(UNSTEADY)]
    return {UNSTEADY: max(apart, key=float)} if apart else {}


def notes(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """Notes on the latencies among records: machine and sentences."""
    found: dict[str, None] = {}
    for record in records:
        machine, sentences = record.get(MACHINE), record.get(SENTENCES)
        if machine and sentences and record["status"] == "run":
            found[f"{machine} ({sentences} sentences of the test set)"] = None
    lines = [f"Times were measured on: {'; '.join(found)}."] if found else []
    parts = {record[SENTENCES] for record in records if _is_extrapolated(record)}
    if parts:
        lines.append(f"The time of a test set is extrapolated from {', '.join(sorted(parts))}.")
    return lines


NOT_STEADY = (
    "do not rely on it: the third quartile of the repeats, of this row or of the one that it is "
    f"compared with, is more than {STEADY} times the first"
)
"""What is to be said of a latency, or a number made of latencies, that is not steady."""


def note_on_mark(records: Iterable[Mapping[str, Any]]) -> list[str]:
    """What the mark of a table means, if one of its latencies is not steady."""
    if not any(record.get(UNSTEADY) for record in records):
        return []
    return [f"{DOUBLE_DAGGER} {NOT_STEADY}."]


def _is_extrapolated(record: Mapping[str, Any]) -> bool:
    return record["measure"] == EXTRAPOLATED and " of " in (record.get(SENTENCES) or "")
