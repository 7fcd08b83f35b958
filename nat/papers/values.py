"""What was measured at the cells of a report, as records: lines of a long CSV.

A record stands for the cells that are shown as one mean. It says where they are shown, what was
measured, and what the paper prints there.
"""

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nat.measures import significance
from nat.measures.known import LATENCY, MEASURES, measure_of
from nat.measures.latency_setting import STEADY
from nat.measures.results import Number
from nat.measures.significance import Interval, pearson
from nat.papers.cells import COMPUTED, QUOTED, Cell, Groups
from nat.papers.checks import Compared
from nat.papers.differences import difference
from nat.papers.reader import NOT_RUN, Reader

Record = dict[str, Any]
NOT_AVAILABLE = "not available"
DRAWS = "draws of a random decoding"
SIZES = ("model_size", "memory")
"""Measures that are in the file of a latency, but are no times."""
MACHINE, SENTENCES, UNSTEADY = TIMED = ("timed_on", "timed_sentences", "unsteady")
"""What a record says of its latencies; `UNSTEADY` is empty, or how far the quartiles lie apart."""
NOT_STEADY = (
    "do not rely on it: the third quartile of the repeats, of this row or of the one that it is "
    f"compared with, is more than {STEADY} times the first"
)
NO_NUMBER: Record = dict.fromkeys(("ours", "spread", "low", "high"))


def rounded(value: float | None) -> float | None:
    """Round as precisely as reports keep numbers."""
    return None if value is None else round(value, 6)


def ends(interval: Interval | Number | None) -> Record:
    """The ends of an interval, if there is one, as records have them."""
    found = (interval.low, interval.high) if interval else (None, None)
    return dict(zip(("low", "high"), map(rounded, found), strict=True))


def records(scale: str, groups: Groups, reader: Reader) -> list[Record]:
    """Make the records of a report, those that are computed from others included.

    Raises:
        UserError: for damaged results, and results that do not compare.
    """
    by_name = {(own[0].row, own[0].column): (own, over) for own, over in groups.values()}
    return [
        _derived(own, scale, by_name, reader)
        if own[0].derived is not None
        else record(scale, own, over, reader)
        for own, over in groups.values()
    ]


def record(scale: str, own: Sequence[Cell], over: Sequence[Cell], reader: Reader) -> Record:
    """Make the record of one mean, or of its difference from what it is shown over."""
    cell = own[0]
    made = {
        **{key: getattr(cell, key) for key in ("group", "row", "column", "x", "category")},
        "scale": scale,
        "task": cell.task,
        "corpus": cell.corpus,
        "system": cell.model,
        "decoding": cell.decoding if cell.model else "",
        "split": cell.split if cell.model else "",
        "measure": cell.measure,
        "unit": measure_of(cell.measure).unit,
        **dict.fromkeys(("seeds", "status", "ours", "spread", "low", "high")),
        "published": cell.published,
        "printed": cell.printed,
        "difference": None,
        "stand_in": cell.stand_in,
        **mean(own, reader),
        "published_source": cell.origin,
        **_times([*own, *over], reader),
    }
    if over:
        made |= {"over": over[0].model, "signature": "", **_over(made["status"], own, over, reader)}
    made["difference"] = _from_published(made["ours"], cell, cell.stand_in)
    return made


def _over(status: str, own: Sequence[Cell], over: Sequence[Cell], reader: Reader) -> Record:
    """What a record says of a difference or ratio of cells and those that they are shown over."""
    left, right = Compared(tuple(own)), Compared(tuple(over))
    if MEASURES[own[0].measure].relative:
        minus = difference(Compared(left.own, right.own), 0.0, reader)
    else:
        minus = difference(left, right, reader)
    if minus is None:
        if status in ("run", NOT_AVAILABLE):
            status = why_missing(own, over, reader) or NOT_RUN
        return {**NO_NUMBER, "status": status}
    both = mean([cell for cell in own if cell.seed in minus.seeds], reader)
    remarks = _without((*own, *over), minus.seeds, "which was not run for both")
    by_seed = minus.estimate.by_seed
    several = len(by_seed) > 1
    return {
        "status": "run",
        "ours": rounded(minus.value),
        "spread": rounded(statistics.stdev(by_seed)) if several else None,
        **ends(None if several else minus.interval),
        "seeds": _listed(minus.seeds),
        "not_decoded": both["not_decoded"],
        "remark": "; ".join(filter(None, [*remarks, both["remark"]])),
        "sources": _listed(minus.sources),
    }


def mean(cells: Sequence[Cell], reader: Reader) -> Record:
    """Read cells as one number: the mean over seeds, and over the draws of a random decoding.

    With one number, `low` and `high` are its interval over sentences or the quartiles of its
    repeats; with several, `spread` is their standard deviation (n - 1) instead. `status` is "run",
    or says why there is no number; `remark` says what is wrong with one.
    """
    numbers = {cell: reader.number(cell) for cell in cells if reader.ran(cell)}
    relative = measure_of(cells[0].measure).relative
    values = [each.value for each in numbers.values() if each.value is not None and not relative]
    if not values:
        told = next((each.reason for each in numbers.values() if each.reason), "")
        reason = cells[0].reason or told or (NOT_AVAILABLE if numbers else NOT_RUN)
        known = reason in (QUOTED, COMPUTED, NOT_AVAILABLE) or reason.startswith(NOT_RUN)
        is_state = known or cells[0].source is not None
        return {
            "seeds": "",
            "status": reason if is_state else NOT_RUN,
            **NO_NUMBER,
            "signature": "",
            "not_decoded": 0,
            "remark": "" if is_state else reason,
            "sources": "",
        }
    there = {cell: each for cell, each in numbers.items() if each.value is not None}
    seeds = list(dict.fromkeys(cell.seed for cell in there))
    last, several = list(there.values())[-1], len(values) > 1
    lost = [cell for cell in cells if cell.seed in seeds and cell not in there]
    remarks = _without(cells, seeds, "which was not run")
    if lost:  # draws of a random decoding
        names = ", ".join(f"{cell.decoding} of seed {cell.seed}" for cell in lost)
        remarks.append(f"without {names}, which was not run")
    for flag in dict.fromkeys(flag for each in there.values() for flag in each.flags):
        of = [cell.seed for cell, each in there.items() if flag in each.flags]
        everywhere = {*of} == {*seeds}
        remarks.append(flag if everywhere else f"{flag} (seed {', '.join(map(str, of))})")
    return {
        "seeds": _listed(seeds),
        "status": "run",
        "ours": rounded(sum(values) / len(values)),
        "spread": rounded(statistics.stdev(values)) if several else None,
        **ends(None if several else last),
        "signature": last.signature,
        "not_decoded": sum(each.not_decoded for each in there.values()),
        "remark": "; ".join(remarks),
        "sources": _listed(cell.path for cell in there),
    }


def _listed(parts: Iterable[Any]) -> str:
    return " ".join(map(str, parts))


def _without(cells: Iterable[Cell], seeds: Sequence[int], why: str) -> list[str]:
    """A remark on the seeds that a number does not rest on, if there are any."""
    missing = dict.fromkeys(str(cell.seed) for cell in cells if cell.seed not in seeds)
    return [f"without seed {', '.join(missing)}, {why}"] if missing else []


def why_missing(own: Sequence[Cell], over: Sequence[Cell], reader: Reader) -> str:
    """Tell why cells have no number, or what they are shown over has none.

    Raises:
        UserError: if a file is damaged.
    """
    if not (own[0].source and measure_of(own[0].measure).relative):
        alone = mean(own, reader)
        return "" if alone["status"] == "run" else alone["remark"] or str(alone["status"])
    for cell in (*own, *over):
        if reason := reader.number(cell).reason if reader.ran(cell) else NOT_RUN:
            return reason
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


def _derived(
    own: Sequence[Cell],
    scale: str,
    groups: Mapping[tuple[str, str], tuple[Sequence[Cell], Sequence[Cell]]],
    reader: Reader,
    only: Sequence[str] | None = None,
) -> Record:
    """The record of a number that is computed from others, which may be derived, too.

    A number is missing while one of its operands is, and rests on the seeds that all of them have,
    or on given ones.
    """
    cell = own[0]
    assert cell.derived is not None
    operation = cell.derived.operation

    def operands(seeds: Sequence[str] | None) -> list[Record]:
        found = []
        for name in cell.derived.of if cell.derived else ():
            cells, over = groups[name]
            if cells[0].derived is not None:
                found.append(_derived(cells, scale, groups, reader, seeds))
                continue
            kept = [each for each in cells if seeds is None or str(each.seed) in seeds]
            found.append(record(scale, kept, over, reader))
        return found

    parts = operands(only)
    stand_in = next((each["stand_in"] for each in parts if each["stand_in"]), "")
    made = record(scale, own, (), reader) | {"derived": operation, "stand_in": stand_in}
    # a mean of differences is one, and is shown with its sign
    if operation == "difference":
        made["over"] = parts[1]["system"]
    elif operation == "mean":
        made["over"] = parts[0].get("over", "")
    if any(each["ours"] is None for each in parts):
        # why the first of them has no number
        return made | {"status": next(e["status"] for e in parts if e["ours"] is None)}
    asked, *others = [each["seeds"].split() for each in parts]
    seeds = [seed for seed in asked if all(seed in other for other in others)]
    if not seeds:
        return made | {"status": f"{NOT_RUN}: no seed that all have from which it is computed"}
    left_out = dict.fromkeys(seed for of in (asked, *others) for seed in of if seed not in seeds)
    why = "which was not run for all from which it is computed"
    apart = [each[UNSTEADY] for each in parts if each.get(UNSTEADY)]
    if left_out:
        parts = operands(seeds)
    value = computed(operation, [each["ours"] for each in parts])
    return {
        **made,
        "status": NOT_AVAILABLE if value is None else "run",
        "ours": rounded(value),
        "corpus": parts[0]["corpus"],
        "seeds": _listed(seeds),
        "remark": f"without seed {', '.join(left_out)}, {why}" if left_out else "",
        "sources": _listed(
            dict.fromkeys(each for part in parts for each in part["sources"].split())
        ),
        "difference": _from_published(value, cell, stand_in),
        **({UNSTEADY: max(apart, key=float)} if apart else {}),
    }


def computed(operation: str, numbers: Sequence[float | None]) -> float | None:
    """Compute a derived number from others; `None` if they have none."""
    values = [number for number in numbers if number is not None]
    if len(values) < len(numbers):
        return None
    if operation == "difference":
        return values[0] - values[1]
    if operation == "ratio":
        return values[0] / values[1] if values[1] else None
    if operation == "mean":
        return sum(values) / len(values)
    if operation in ("reaching", "short_of"):
        wanted, compared, of_rows = values[0], values[1::2], [None, *values[2::2]]
        place = next((at for at, each in enumerate(compared) if each >= wanted), None)
        if operation == "short_of":
            return of_rows[len(compared) if place is None else place]
        return None if place is None else of_rows[place + 1]
    try:
        r = pearson(values[::2], values[1::2])
    except ValueError:
        return None
    return abs(r) if operation == "absolute_correlation" else r


# Times


def _times(cells: Sequence[Cell], reader: Reader) -> Record:
    """What the files of latencies say of the times of cells; nothing if they have none."""
    machines: dict[str, None] = {}
    sentences: dict[str, None] = {}
    apart = 0.0
    for cell in cells:
        of_latency = measure_of(cell.measure).source == LATENCY and cell.measure not in SIZES
        if not of_latency or not reader.ran(cell):
            continue
        time = reader.numbers(cell.path, cell.part)["latency"]
        if time.value is None:
            continue
        file = reader.file(cell.path)
        setting, machine = file.get("setting", {}), str(file.get("device", ""))
        threads = file["systems"].get(cell.part, {}).get("threads", setting.get("threads"))
        if setting.get("device") == "cpu" and threads is not None:
            machine += f", {threads} thread{'s' * (threads > 1)}"
        translated, whole = file.get("sentences"), file["sentences_of_split"]
        part = "" if translated is None or translated >= whole else f"{translated:,} of "
        machines[machine] = None
        sentences["" if translated is None else f"{part}{whole:,}"] = None
        apart = max(apart, (time.high or 0.0) / time.low if time.low else 0.0)
    if not machines:
        return {}
    return {
        MACHINE: "; ".join(machines),
        SENTENCES: "; ".join(sentences),
        UNSTEADY: f"{apart:.2f}" if apart > STEADY else "",
    }


# Words for readers


def missing_state(found: Sequence[Record]) -> str:
    """Say why most cells have no number, such as `not run` or `no GPU`, where none has one."""
    states = Counter(each["status"] for each in found if each["status"] not in ("run", QUOTED))
    return next((state for state, _ in states.most_common(1)), NOT_RUN)


def stand_ins(found: Sequence[Mapping[str, Any]]) -> str:
    """Say what the numbers that were run stand in for; may be empty."""
    ran = (record["stand_in"] for record in found if record["status"] == "run")
    tasks: dict[str, list[str]] = {}
    for text in dict.fromkeys(filter(None, ran)):
        corpus, _, task = text.partition(" stands in for ")
        if task:  # no paper has the tasks of others
            tasks.setdefault(corpus, []).append(task)
    return "; ".join(f"{corpus} stands in for {', '.join(of)}" for corpus, of in tasks.items())


def not_comparable(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """Make the note on what the numbers that were run stand in for, if they do."""
    text = stand_ins(found)
    return [f"Not comparable with published results: {text}."] if text else []


def has_quartiles(measure: str) -> bool:
    """Tell whether the interval of a measure is that between quartiles, as for times."""
    known = measure_of(measure)
    return known.source == LATENCY and not known.relative


def shows_quartiles(found: Mapping[str, Any]) -> bool:
    """Tell whether `low` and `high` of a record are quartiles; a difference of times has none."""
    return has_quartiles(found["measure"]) and not found.get("over")


def what_spreads_are_over(found: Iterable[Mapping[str, Any]]) -> str:
    """Say what the standard deviations of records are over.

    Draws of a random decoding count where a mean rests on several of a seed: it has a source for
    each. Differences have one number for each seed.
    """
    seeds: list[str] = []
    drawn = False
    for each in found:
        own = each["seeds"].split()
        seeds = max(seeds, own, key=len)
        drawn = drawn or (not each.get("over") and len(each["sources"].split()) > len(own))
    if len(seeds) < 2:
        return DRAWS
    text = f"seeds {', '.join(seeds)}"
    return f"{text}, of a random decoding also over its draws" if drawn else text


def what_intervals_are(name: str, found: Iterable[Mapping[str, Any]]) -> list[str]:
    """Make notes on intervals of one seed, by what they are over.

    Args:
        name: of the marks by which they are shown.
        found: records with the keys `measure` and, for differences, `over`.
    """
    labels: dict[str, dict[str, None]] = {}
    samples = f"{significance.SAMPLES:,} samples"
    for each in found:
        known = measure_of(each["measure"])
        label, text = known.label, f"95% bootstrap interval over sentences ({samples})"
        if shows_quartiles(each):
            text = "quartiles of the repeats"
        elif known.source == LATENCY:
            text = f"95% bootstrap interval over the repeats ({samples})"
            label = label if known.relative else f"differences of {label}"
        labels.setdefault(text, {})[label] = None
    if len(labels) == 1:
        return [f"{name}: {next(iter(labels))}."]
    return [f"{name} of {', '.join(of)}: {text}." for text, of in labels.items()]


def notes_on_times(ran: Sequence[Record]) -> list[str]:
    """Make notes on the latencies among records: machine and sentences."""
    timed = [each for each in ran if each.get(MACHINE) and each.get(SENTENCES)]
    if not timed:
        return []
    machines = dict.fromkeys(
        f"{each[MACHINE]} ({each[SENTENCES]} sentences of the test set)" for each in timed
    )
    notes = [f"Times were measured on: {'; '.join(machines)}."]
    of_test_sets = (each[SENTENCES] for each in timed if each["measure"] == "decoding_seconds")
    if parts := {each for each in of_test_sets if " of " in each}:
        notes.append(f"The time of a test set is extrapolated from {', '.join(sorted(parts))}.")
    return notes


def with_places(
    texts: Iterable[tuple[Mapping[str, Any], str]], all_of_it: Iterable[Mapping[str, Any]]
) -> list[str]:
    """Make notes of texts on records, each once, with the columns or rows that it is about.

    Of a row, columns are named where the text is not about all that we run of it.
    """
    run = [each for each in all_of_it if each["status"] not in (QUOTED, NOT_AVAILABLE)]
    of_row, of_column = (Counter(each[key] for each in run) for key in ("row", "column"))
    by_text: dict[str, dict[str, list[str]]] = {}
    for each, text in texts:
        by_text.setdefault(text, {}).setdefault(each["row"], []).append(each["column"])
    notes = []
    for text, rows in by_text.items():
        columns = Counter(column for some in rows.values() for column in some)
        partly = [row for row, some in rows.items() if len(some) != of_row[row]]
        named = "; ".join(columns)
        if len(rows) == 1 or any(columns[each] != of_column[each] for each in columns):
            if (
                len(rows) > 1
                and len(partly) == len(rows)
                and len({*map(tuple, rows.values())}) == 1
            ):
                named += f", for {'; '.join(rows)}"
            else:  # names of columns may have commas
                named = "; ".join(
                    f"{row} ({'; '.join(some)})" if row in partly else row
                    for row, some in rows.items()
                )
        notes.append(f"{named}: {text}.")
    return notes
