"""Records of what was measured at the cells of a report: lines of a long CSV.

A record stands for the cells that are shown as one mean. It says where they are shown, what was
measured, and what the paper prints there.
"""

import statistics
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from nat.measures import significance
from nat.measures.known import LATENCY, MEASURES, measure_of
from nat.measures.latency_setting import STEADY
from nat.measures.results import NOT_AVAILABLE, Number
from nat.measures.significance import Interval, pearson
from nat.papers.cells import COMPUTED, QUOTED, Cell, Shown
from nat.papers.differences import difference
from nat.papers.reader import NOT_RUN, Reader

Record = dict[str, Any]
Name = tuple[str, str]
"""Row and column."""
Named = Mapping[Name, Shown]
SIZES = ("model_size", "memory")
"""Measures that are in the file of a latency, but are no times."""
MACHINE, SENTENCES, UNSTEADY = TIMED = ("timed_on", "timed_sentences", "unsteady")
"""Keys of latencies; `UNSTEADY` is empty, or has how far the quartiles lie apart."""
PERFECT = "perfect"
"""Key of scores of test sets with the score of a perfect translation."""
NOT_STEADY = (
    "do not rely on it: the third quartile of the repeats, of this row or of the one that it is "
    f"compared with, is more than {STEADY} times the first"
)
NO_NUMBER: Record = dict.fromkeys(("ours", "spread", "low", "high"))
NOTHING: Record = {
    **{"seeds": "", "status": NOT_RUN, **NO_NUMBER},
    **{"signature": "", "not_decoded": 0, "remark": "", "sources": ""},
}


def rounded(value: float | None) -> float | None:
    """Round as precisely as reports keep numbers."""
    return None if value is None else round(value, 6)


def ends(interval: Interval | Number | None) -> Record:
    """The ends of an interval, if there is one, as records have them."""
    return {end: rounded(getattr(interval, end, None)) for end in ("low", "high")}


def records(scale: str, numbers: Sequence[Shown], reader: Reader) -> list[Record]:
    """Make the records of a report, those that are computed from others included."""
    named = {(each.first.row, each.first.column): each for each in numbers}
    return [_derived(name, scale, named, reader) for name in named]


def record(scale: str, of: Shown, reader: Reader) -> Record:
    """Make the record of one mean, or of its difference from what it is shown over."""
    cell, number = of.first, mean(of.own, reader)
    if of.over:
        number |= {"signature": "", **_over(number["status"], of, reader)}
    return {
        **{key: getattr(cell, key) for key in ("group", "row", "column", "x", "category")},
        "scale": scale,
        "task": cell.task,
        "corpus": cell.corpus,
        "system": cell.model,
        "decoding": cell.decoding if cell.model else "",
        "split": cell.split if cell.model else "",
        "measure": cell.measure,
        "unit": measure_of(cell.measure).unit,
        **number,
        "published": cell.published,
        "printed": cell.printed,
        "published_source": cell.origin,
        "stand_in": cell.stand_in,
        **_times(of.cells, reader),
        **({"over": of.over[0].model} if of.over else {}),
        "difference": _from_published(number["ours"], cell, cell.stand_in),
    }


def _over(status: str, of: Shown, reader: Reader) -> Record:
    """The part of a record on the difference or ratio of cells and those they are shown over."""
    if MEASURES[of.first.measure].relative:
        minus = difference(of, 0.0, reader)
    else:
        minus = difference(Shown(of.own), Shown(of.over), reader)
    if minus is None:
        if status in ("run", NOT_AVAILABLE):
            status = why_missing(of, reader) or NOT_RUN
        return {**NO_NUMBER, "status": status}
    of_both = [cell for cell in of.cells if cell.seed in minus.seeds]
    both = mean([cell for cell in of_both if cell in of.own], reader)
    remarks = _without(of.cells, of_both, "which was not run for both")
    return {
        "status": "run",
        **_number(minus.value, minus.by_seed, minus.interval()),
        "seeds": _listed(minus.seeds),
        "not_decoded": both["not_decoded"],
        "remark": "; ".join(filter(None, [*remarks, both["remark"]])),
        "sources": _listed(minus.sources),
    }


def _number(value: float, of: Sequence[float], interval: Interval | Number | None) -> Record:
    """A mean of several numbers with their standard deviation, or of one with its interval."""
    several = len(of) > 1
    spread = rounded(statistics.stdev(of)) if several else None
    return {"ours": rounded(value), "spread": spread, **ends(None if several else interval)}


def mean(cells: Sequence[Cell], reader: Reader) -> Record:
    """Read cells as one number: the mean over seeds, and over the draws of a random decoding.

    With one number, `low` and `high` are its interval over sentences or the quartiles of its
    repeats; with several, `spread` is their standard deviation (n - 1) instead. `status` is "run",
    or says why there is no number; `remark` says what is wrong with one.
    """
    numbers = {cell: reader.number(cell) for cell in cells}
    there = {cell: each for cell, each in numbers.items() if each.value is not None}
    if not there or measure_of(cells[0].measure).relative:
        reason = why_missing(Shown(tuple(cells)), reader) or NOT_AVAILABLE
        known = reason in (QUOTED, COMPUTED, NOT_AVAILABLE) or reason.startswith(NOT_RUN)
        is_state = known or cells[0].source is not None
        return NOTHING | ({"status": reason} if is_state else {"remark": reason})
    values = [each.value for each in there.values() if each.value is not None]
    seeds = list(dict.fromkeys(cell.seed for cell in there))
    *_, last = there.values()
    remarks = _without(cells, there, "which was not run")
    for flag in dict.fromkeys(flag for each in there.values() for flag in each.flags):
        of = [cell.seed for cell, each in there.items() if flag in each.flags]
        everywhere = {*of} == {*seeds}
        remarks.append(flag if everywhere else f"{flag} (seed {', '.join(map(str, of))})")
    return {
        "seeds": _listed(seeds),
        "status": "run",
        **_number(sum(values) / len(values), values, last),
        "signature": last.signature,
        "not_decoded": sum(each.not_decoded for each in there.values()),
        "remark": "; ".join(remarks),
        "sources": _listed(cell.path for cell in there),
        **({PERFECT: last.perfect} if last.signature and last.perfect else {}),
    }


def _listed(parts: Iterable[Any]) -> str:
    return " ".join(map(str, parts))


def _without(cells: Iterable[Cell], kept: Collection[Cell], why: str) -> list[str]:
    """A remark on the seeds, or draws of a seed, that a number does not rest on, if any."""
    seeds = {cell.seed for cell in kept}
    missing = dict.fromkeys(
        f"{cell.decoding} of seed {cell.seed}" if cell.seed in seeds else f"seed {cell.seed}"
        for cell in cells
        if cell not in kept
    )
    return [f"without {', '.join(missing)}, {why}"] if missing else []


def why_missing(of: Shown, reader: Reader) -> str:
    """Tell why cells, or those that they are shown over, have no number; empty if both have one."""
    for cells in filter(None, of):
        numbers = [reader.number(cell) for cell in cells]
        if all(each.value is None for each in numbers):
            reasons = [each.reason or NOT_AVAILABLE for each in numbers]
            return next((each for each in reasons if each != NOT_RUN), NOT_RUN)
    return ""


def _from_published(value: float | None, cell: Cell, stand_in: str) -> float | None:
    """A number of ours minus the published one; `None` where they do not compare.

    Times are those of different machines, and stand-ins have other text or trainings.
    """
    printed = cell.published
    comparable = not stand_in and not has_quartiles(cell.measure)
    if value is None or not isinstance(printed, int | float) or not comparable:
        return None
    return rounded(value - printed)


# Numbers that are computed from others


def _derived(name: Name, scale: str, named: Named, reader: Reader, seeds: Any = None) -> Record:
    """The record of a number that is computed from others, which may be derived, too.

    A number is missing while one of its operands is, and rests on the seeds that all of them have,
    or on given ones.
    """
    of, derived = named[name], named[name].first.derived
    if derived is None:
        kept = tuple(each for each in of.own if seeds is None or str(each.seed) in seeds)
        return record(scale, of._replace(own=kept), reader)
    parts = [_derived(each, scale, named, reader, seeds) for each in derived.of]
    stand_in = next((each["stand_in"] for each in parts if each["stand_in"]), "")
    made = record(scale, of, reader) | {"derived": derived.operation, "stand_in": stand_in}
    # a mean of differences is one, and is shown with its sign
    if derived.operation == "difference":
        made["over"] = parts[1]["system"]
    elif derived.operation == "mean":
        made["over"] = parts[0].get("over", "")
    missing = [each["status"] for each in parts if each["ours"] is None]
    of_parts = [each["seeds"].split() for each in parts]
    common = [seed for seed in of_parts[0] if all(seed in other for other in of_parts)]
    if missing or not common:
        none = f"{NOT_RUN}: no seed that all have from which it is computed"
        return made | {"status": [*missing, none][0]}
    if left_out := dict.fromkeys(f"seed {e}" for its in of_parts for e in its if e not in common):
        parts = [_derived(each, scale, named, reader, common) for each in derived.of]
        why = "which was not run for all from which it is computed"
        made["remark"] = f"without {', '.join(left_out)}, {why}"
    apart = [each[UNSTEADY] for each in parts if each.get(UNSTEADY)]
    value = computed(derived.operation, [each["ours"] for each in parts])
    sources = dict.fromkeys(path for each in parts for path in each["sources"].split())
    return {
        **made,
        "status": NOT_AVAILABLE if value is None else "run",
        "ours": rounded(value),
        "corpus": parts[0]["corpus"],
        "seeds": _listed(common),
        "sources": _listed(sources),
        "difference": _from_published(value, of.first, stand_in),
        **({UNSTEADY: max(apart, key=float)} if apart else {}),
    }


def computed(operation: str, numbers: Sequence[float | None]) -> float | None:
    """Compute a derived number from others; `None` if they have none."""
    values = [number for number in numbers if number is not None]
    if len(values) < len(numbers) or (operation in ("ratio", "reduction") and not values[1]):
        return None
    match operation:
        case "difference":
            return values[0] - values[1]
        case "ratio":
            return values[0] / values[1]
        case "reduction":
            return values[0] / values[1] - 1
        case "mean":
            return sum(values) / len(values)
        case "reaching" | "short_of":  # pairs of what is compared, and of what belongs to it
            reached = [each >= values[0] for each in values[1::2]]
            first = reached.index(True) if True in reached else len(reached)
            of_rows = [None, *values[2::2], None]
            return of_rows[first + (operation == "reaching")]
    try:
        r = pearson(values[::2], values[1::2])
    except ValueError:  # all the same
        return None
    return abs(r) if operation == "absolute_correlation" else r


# Times


def _times(cells: Sequence[Cell], reader: Reader) -> Record:
    """The part of a record on the times of cells; nothing if they have none."""
    machines, sentences, apart = [], [], 0.0
    for cell in cells:
        of_latency = measure_of(cell.measure).source == LATENCY and cell.measure not in SIZES
        if not of_latency or not reader.ran(cell):
            continue
        time, file = reader.numbers(cell.path, cell.part)["latency"], reader.file(cell)
        if time.value is None:
            continue
        setting, machine = file.get("setting", {}), str(file.get("device", ""))
        threads = file["systems"].get(cell.part, {}).get("threads", setting.get("threads"))
        if setting.get("device") == "cpu" and threads is not None:
            machine += f", {threads} thread{'s' * (threads > 1)}"
        machines.append(machine)
        whole = file["sentences_of_split"]
        if (translated := file.get("sentences")) is not None:
            sentences.append(f"{translated:,} of {whole:,}" if translated < whole else f"{whole:,}")
        apart = max(apart, (time.high or 0.0) / time.low if time.low else 0.0)
    if not machines:
        return {}
    return {
        MACHINE: "; ".join(dict.fromkeys(machines)),
        SENTENCES: "; ".join(dict.fromkeys(sentences)),
        UNSTEADY: f"{apart:.2f}" if apart > STEADY else "",
    }


# Words for readers


def missing_state(records: Sequence[Record]) -> str:
    """Say why most cells have no number, such as `not run` or `no GPU`, where none has one."""
    states = [each["status"] for each in records if each["status"] not in ("run", QUOTED)]
    return str(max(states, key=states.count, default=NOT_RUN))


def stand_ins(records: Sequence[Record]) -> str:
    """Say what the numbers that were run stand in for; may be empty."""
    ran = (each["stand_in"] for each in records if each["status"] == "run")
    return "; ".join(dict.fromkeys(filter(None, ran)))


def not_comparable(records: Sequence[Record]) -> list[str]:
    """Make the note on what the numbers that were run stand in for, if they do."""
    text = stand_ins(records)
    return [f"Not comparable with published results: {text}."] if text else []


def has_quartiles(measure: str) -> bool:
    """Tell whether the interval of a measure is that between quartiles, as for times."""
    known = measure_of(measure)
    return known.source == LATENCY and not known.relative


def what_spreads_are_over(records: Iterable[Mapping[str, Any]]) -> str:
    """Say what the standard deviations of records are over, by the one with most seeds."""
    seeds = max((each["seeds"].split() for each in records), key=len)
    return f"seeds {', '.join(seeds)}" if len(seeds) > 1 else "draws of a random decoding"


def what_intervals_are(name: str, records: Iterable[Record]) -> list[str]:
    """Make notes on intervals of one seed, which are shown by marks of this name."""
    labels: dict[str, dict[str, None]] = {}
    for each in records:
        known = measure_of(each["measure"])
        over = "the repeats" if known.source == LATENCY else "sentences"
        text = f"95% bootstrap interval over {over} ({significance.SAMPLES:,} samples)"
        if has_quartiles(each["measure"]) and not each.get("over"):
            text = "quartiles of the repeats"
        labels.setdefault(text, {})[known.label] = None
    if len(labels) == 1:
        return [f"{name}: {next(iter(labels))}."]
    return [f"{name} of {', '.join(of)}: {text}." for text, of in labels.items()]


def notes_on_times(ran: Sequence[Record]) -> list[str]:
    """Make notes on the latencies among records: machine and sentences."""
    timed = [each for each in ran if each.get(MACHINE) and each.get(SENTENCES)]
    machines = dict.fromkeys(
        f"{each[MACHINE]} ({each[SENTENCES]} sentences of the test set)" for each in timed
    )
    notes = [f"Times were measured on: {'; '.join(machines)}."] if machines else []
    of_test_sets = {e[SENTENCES] for e in timed if e["measure"] == "decoding_seconds"}
    if parts := sorted(each for each in of_test_sets if " of " in each):
        notes.append(f"The time of a test set is extrapolated from {', '.join(parts)}.")
    return notes


def with_places(texts: Iterable[tuple[Record, str]], records: Iterable[Record]) -> list[str]:
    """Make notes of texts on records, each once, with the columns or rows that it is about.

    Columns are named if the text is about all that we run in them. Of other rows, columns are named
    where it is not about all that we run of the row.
    """
    run = [each for each in records if each["status"] not in (QUOTED, NOT_AVAILABLE)]
    of_row, of_column = (Counter(each[key] for each in run) for key in ("row", "column"))
    about: dict[str, list[Record]] = {}
    for each, text in texts:
        about.setdefault(text, []).append(each)
    notes = []
    for text, own in about.items():
        columns = Counter(each["column"] for each in own)
        named = list(columns)
        if any(columns[column] < of_column[column] for column in columns):
            rows: dict[str, list[str]] = {}
            for each in own:
                rows.setdefault(each["row"], []).append(each["column"])
            named = [
                row if len(of) == of_row[row] else f"{row} ({'; '.join(of)})"
                for row, of in rows.items()
            ]
        notes.append(f"{'; '.join(named)}: {text}.")
    return notes
