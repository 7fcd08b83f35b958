"""What was measured at the cells of a report, as records: lines of a long CSV.

A record stands for the cells that are shown as one mean. It says where they are shown, what was
measured, and what the paper prints there.
"""

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from graphlib import TopologicalSorter
from typing import Any

from nat.measures import significance
from nat.measures.correlation import pearson
from nat.measures.known import LATENCY, MEASURES, measure_of
from nat.measures.latency_setting import STEADY
from nat.measures.results import Number
from nat.measures.significance import Interval
from nat.papers.cells import COMPUTED, QUOTED, Cell, Derivation, Groups
from nat.papers.differences import difference, ratio
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


def records(scale: str, groups: Groups, reader: Reader) -> list[Record]:
    """Make the records of a report, those that are computed from others included.

    Raises:
        UserError: for damaged results, and results that do not compare.
    """
    found = [record(scale, own, over, reader) for own, over in groups.values()]
    _derive(found, scale, groups, reader)
    return found


def record(scale: str, own: Sequence[Cell], over: Sequence[Cell], reader: Reader) -> Record:
    """Make the record of one mean, or of its difference from what it is shown over."""
    found = _described(scale, own[0]) | mean(own, reader)
    found["difference"] = _from_published(found["ours"], own[0], found["stand_in"])
    found["published_source"] = own[0].origin
    found |= _times([*own, *over], reader)
    if not over:
        return found
    found |= {"over": over[0].model, "signature": ""}
    compare = ratio if MEASURES[own[0].measure].relative else difference
    each = compare(own, over, reader)
    if each is None:
        if found["status"] in ("run", NOT_AVAILABLE):
            found["status"] = why_missing(own, over, reader) or NOT_RUN
        return found | dict.fromkeys(("ours", "low", "high", "spread", "difference"))
    both = mean([cell for cell in own if cell.seed in each.seeds], reader)
    remarks = _without((*own, *over), each.seeds, "which was not run for both")
    by_seed = each.estimate.by_seed
    spread = statistics.stdev(by_seed) if len(by_seed) > 1 else None
    return found | {
        "status": "run",
        "ours": rounded(each.value),
        "spread": rounded(spread),
        **ends(each.interval if spread is None else None),
        "difference": _from_published(each.value, own[0], own[0].stand_in),
        "seeds": _listed(each.seeds),
        "not_decoded": both["not_decoded"],
        "remark": "; ".join(filter(None, [*remarks, both["remark"]])),
        "sources": " ".join(each.sources),
    }


def _described(scale: str, cell: Cell) -> Record:
    """What a record says besides its number."""
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
        **dict.fromkeys(("seeds", "status", "ours", "spread", "low", "high")),
        "published": cell.published,
        "printed": cell.printed,
        "difference": None,
        "stand_in": cell.stand_in,
    }


def mean(cells: Sequence[Cell], reader: Reader) -> Record:
    """Read cells as one number: the mean over seeds, and over the draws of a random decoding.

    With one number, `low` and `high` are its interval over sentences or the quartiles of its
    repeats; with several, `spread` is their standard deviation (n - 1) instead. `status` is "run",
    or says why there is no number; `remark` says what is wrong with one.
    """
    ran = [(cell, reader.number(cell)) for cell in cells if reader.ran(cell)]
    relative = measure_of(cells[0].measure).relative
    there = [] if relative else [(cell, each) for cell, each in ran if each.value is not None]
    if not there:
        told = next((each.reason for _, each in ran if each.reason), "")
        reason = cells[0].reason or told or (NOT_AVAILABLE if ran else NOT_RUN)
        known = reason in (QUOTED, COMPUTED, NOT_AVAILABLE) or reason.startswith(NOT_RUN)
        tells = known or cells[0].source is not None
        return {
            "seeds": "",
            "status": reason if tells else NOT_RUN,
            **dict.fromkeys(("ours", "spread", "low", "high")),
            "signature": "",
            "not_decoded": 0,
            "remark": "" if tells else reason,
            "sources": "",
        }
    values = [each.value for _, each in there if each.value is not None]
    last, several = there[-1][1], len(values) > 1
    seeds = list(dict.fromkeys(cell.seed for cell, _ in there))
    flags: dict[str, list[int | None]] = {}
    for cell, each in there:
        for flag in each.flags:
            flags.setdefault(flag, []).append(cell.seed)
    remarks = _without(cells, seeds, "which was not run")
    remarks += _without_draws(cells, [cell for cell, _ in there])
    remarks += [
        flag if {*of} == {*seeds} else f"{flag} (seed {', '.join(map(str, of))})"
        for flag, of in flags.items()
    ]
    return {
        "seeds": _listed(seeds),
        "status": "run",
        "ours": rounded(sum(values) / len(values)),
        "spread": rounded(statistics.stdev(values)) if several else None,
        **ends(None if several else last),
        "signature": last.signature,
        "not_decoded": sum(each.not_decoded for _, each in there),
        "remark": "; ".join(remarks),
        "sources": " ".join(cell.path for cell, _ in there),
    }


def _listed(seeds: Iterable[int | None]) -> str:
    return " ".join(map(str, seeds))


def _without(cells: Iterable[Cell], seeds: Sequence[int | None], why: str) -> list[str]:
    """A remark on the seeds that a number does not rest on, if there are any."""
    missing = dict.fromkeys(str(cell.seed) for cell in cells if cell.seed not in seeds)
    return [f"without seed {', '.join(missing)}, {why}"] if missing else []


def _without_draws(cells: Sequence[Cell], measured: Sequence[Cell]) -> list[str]:
    """A remark on the draws of a random decoding that a mean lacks of its seeds, if any."""
    seeds = {cell.seed for cell in measured}
    missing = [
        f"{cell.decoding} of seed {cell.seed}"
        for cell in cells
        if cell.seed in seeds and cell not in measured
    ]
    return [f"without {', '.join(missing)}, which was not run"] if missing else []


def why_missing(own: Sequence[Cell], over: Sequence[Cell], reader: Reader) -> str:
    """Tell why cells have no number, or what they are shown over has none.

    Raises:
        UserError: if a file is damaged.
    """
    if not (own[0].source and measure_of(own[0].measure).relative):
        found = mean(own, reader)
        return "" if found["status"] == "run" else found["remark"] or str(found["status"])
    for cell in (*own, *over):
        if not reader.ran(cell):
            return NOT_RUN
        if reason := reader.number(cell).reason:
            return reason
    return ""


def _from_published(value: float | None, cell: Cell, stand_in: str) -> float | None:
    """A number of ours minus the published one; `None` where they do not compare.

    Times are those of different machines, and stand-ins have other text or trainings.
    """
    printed = cell.published
    comparable = not stand_in and not has_quartiles(cell.measure)
    if value is None or printed is None or isinstance(printed, str) or not comparable:
        return None
    return rounded(value - printed)


# Numbers that are computed from others


def _derive(found: Sequence[Record], scale: str, groups: Groups, reader: Reader) -> None:
    """Fill in the records of derived cells from those that they are made of.

    A number is missing while one of its operands is, and rests on the seeds that all of them have.
    """
    cells = [own[0] for own, _ in groups.values()]
    derived = {(cell.row, cell.column): cell.derived for cell in cells if cell.derived is not None}
    if not derived:
        return
    at = {(each["row"], each["column"]): each for each in found}
    by_cell = {(own[0].row, own[0].column): (own, over) for own, over in groups.values()}

    def on(seeds: Sequence[str], operand: tuple[str, str]) -> Record:
        """The record of an operand on some of its seeds."""
        if at[operand]["seeds"] == " ".join(seeds):
            return at[operand]
        own, over = by_cell[operand]
        if operand not in derived:
            kept = [cell for cell in own if str(cell.seed) in seeds]
            return record(scale, kept, over, reader)
        parts = [on(seeds, each) for each in derived[operand].of]
        value = computed(derived[operand].operation, [each["ours"] for each in parts])
        return {"ours": rounded(value), "sources": _sources(parts)}

    # a derived number may be made of derived ones, which are computed before it
    for name in TopologicalSorter({name: each.of for name, each in derived.items()}).static_order():
        if name in derived:
            cell = by_cell[name][0][0]
            at[name] |= _computed_record(
                cell, derived[name], [at[each] for each in derived[name].of], on
            )


def _computed_record(cell: Cell, derived: Derivation, operands: list[Record], on: Any) -> Record:
    operation = derived.operation
    stand_in = next((each["stand_in"] for each in operands if each["stand_in"]), "")
    found: Record = {"derived": operation, "stand_in": stand_in}
    # a mean of differences is one, and is shown with its sign
    if operation == "difference":
        found["over"] = operands[1]["system"]
    elif operation == "mean":
        found["over"] = operands[0].get("over", "")
    if any(each["ours"] is None for each in operands):
        # why the first of them has no number
        return found | {"status": next(e["status"] for e in operands if e["ours"] is None)}
    asked, *others = [each["seeds"].split() for each in operands]
    seeds = [seed for seed in asked if all(seed in other for other in others)]
    if not seeds:
        return found | {"status": f"{NOT_RUN}: no seed that all have from which it is computed"}
    parts = [on(seeds, operand) for operand in derived.of]
    value = computed(operation, [each["ours"] for each in parts])
    left_out = [seed for of in (asked, *others) for seed in of if seed not in seeds]
    why = "which was not run for all from which it is computed"
    apart = [each[UNSTEADY] for each in operands if each.get(UNSTEADY)]
    return {
        **found,
        "status": NOT_AVAILABLE if value is None else "run",
        "ours": rounded(value),
        "corpus": operands[0]["corpus"],
        "seeds": " ".join(seeds),
        "remark": f"without seed {', '.join(dict.fromkeys(left_out))}, {why}" if left_out else "",
        "sources": _sources(parts),
        "difference": _from_published(value, cell, stand_in),
        **({UNSTEADY: max(apart, key=float)} if apart else {}),
    }


def _sources(parts: Iterable[Record]) -> str:
    """The files behind several records, each once."""
    return " ".join(dict.fromkeys(path for each in parts for path in each["sources"].split()))


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
    found = [
        (cell, each)
        for cell in cells
        if measure_of(cell.measure).source == LATENCY and cell.measure not in SIZES
        if reader.ran(cell)
        if (each := reader.numbers(cell.path, cell.part)["latency"]).value is not None
    ]
    if not found:
        return {}
    apart = max((each.high or 0.0) / each.low for _, each in found if each.low)
    files = [(reader.file(cell.path), cell.part) for cell, _ in found]
    return {
        MACHINE: "; ".join(dict.fromkeys(_machine(*each) for each in files)),
        SENTENCES: "; ".join(dict.fromkeys(_sentences(file) for file, _ in files)),
        UNSTEADY: f"{apart:.2f}" if apart > STEADY else "",
    }


def _machine(file: Record, part: str) -> str:
    setting, device = file.get("setting", {}), file.get("device", "")
    threads = file["systems"].get(part, {}).get("threads", setting.get("threads"))
    if setting.get("device") != "cpu" or threads is None:
        return str(device)
    return f"{device}, {threads} thread{'s' * (threads > 1)}"


def _sentences(file: Record) -> str:
    translated, whole = file.get("sentences"), file["sentences_of_split"]
    if translated is None:
        return ""
    return f"{translated:,} of {whole:,}" if translated < whole else f"{whole:,}"


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


def notes_on_times(ran: Sequence[Mapping[str, Any]]) -> list[str]:
    """Make notes on the latencies among records: machine and sentences."""
    found = {
        f"{each[MACHINE]} ({each[SENTENCES]} sentences of the test set)": None
        for each in ran
        if each.get(MACHINE) and each.get(SENTENCES) and each["status"] == "run"
    }
    lines = [f"Times were measured on: {'; '.join(found)}."] if found else []
    parts = {
        each[SENTENCES]
        for each in ran
        if each["measure"] == "decoding_seconds" and " of " in (each.get(SENTENCES) or "")
    }
    if parts:
        lines.append(f"The time of a test set is extrapolated from {', '.join(sorted(parts))}.")
    return lines


def rounded(value: float | None) -> float | None:
    """Round as precisely as reports keep numbers."""
    return None if value is None else round(value, 6)


def ends(interval: Interval | Number | None) -> Record:
    """The ends of an interval, if there is one, as records have them."""
    found = (interval.low, interval.high) if interval else (None, None)
    return dict(zip(("low", "high"), map(rounded, found), strict=True))


def with_places(
    texts: Sequence[tuple[Mapping[str, Any], str]], found: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Make notes of texts on cells, each once, with the columns or rows that it is about.

    Of a row, columns are named where the text is not about all that we run of it.

    Args:
        texts: the record of a cell, and what is to be said of it.
        found: all records of the table or figure.
    """
    ours = [each for each in found if each["status"] not in (QUOTED, NOT_AVAILABLE)]
    of_row, of_column = (Counter(each[key] for each in ours) for key in ("row", "column"))
    by_text: dict[str, list[tuple[str, str]]] = {}
    for each, text in texts:
        by_text.setdefault(text, []).append((each["row"], each["column"]))
    notes = []
    for text, at in by_text.items():
        rows: dict[str, list[str]] = {}
        for row, column in at:
            rows.setdefault(row, []).append(column)
        columns = Counter(column for _, column in at)
        if len(rows) > 1 and all(columns[each] == of_column[each] for each in columns):
            notes.append(f"{'; '.join(columns)}: {text}.")
            continue
        parts = {row: some for row, some in rows.items() if len(some) != of_row[row]}
        if len(parts) == len(rows) > 1 and len({*map(tuple, parts.values())}) == 1:
            notes.append(f"{'; '.join(columns)}, for {'; '.join(rows)}: {text}.")
            continue
        # names of columns may have commas
        named = (f"{row} ({'; '.join(parts[row])})" if row in parts else row for row in rows)
        notes.append(f"{'; '.join(named)}: {text}.")
    return notes
