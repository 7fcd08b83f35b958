"""What was measured at the places of a table or figure, read from the results.

A place has one number per seed; it is shown as their mean. `record` puts a place, its number and
what the paper prints there into one line of a long CSV.
"""

import statistics
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from nat.cells import times
from nat.cells.cell import NOT_RUN as NOT_RUN
from nat.cells.cell import Cell, measured, state
from nat.cells.differences import (
    Difference,
    SpeedUp,
    difference,
    parameter_share,
    speed_up,
)
from nat.cells.entry import DERIVED, QUOTED, Entry, measure_of
from nat.cells.known_measures import LATENCY, MEASURES, TRAINING
from nat.cells.paper import entries
from nat.cells.resolver import Kind, describe
from nat.configuration import Configuration
from nat.measures import results, significance
from nat.measures.correlation import pearson

NOT_AVAILABLE = "not available"
DRAWS = "draws of a random decoding"


@dataclass(frozen=True)
class Value:
    """What was measured at a place: the mean over its seeds, and the draws of a random decoding.

    With one number, `low` and `high` are the 95% bootstrap interval over sentences (BLEU and
    chrF only), of a latency the quartiles of its repeats; with several, `spread` is their standard
    deviation (n - 1) instead. `value` is `None` if nothing was run, or if the corpus
    does not allow the measure; `reason` says which; of a number it says what is wrong with it.
    `not_decoded` counts sentences, over all seeds, that were scored as empty, `signature` is
    sacreBLEU's.
    """

    value: float | None
    spread: float | None
    low: float | None
    high: float | None
    seeds: tuple[int, ...]
    sources: tuple[str, ...]
    not_decoded: int
    signature: str
    reason: str


def read(entry: Entry, root: Path) -> Value:
    """Read the files of a place below `root`.

    Draws of a random decoding count like seeds.

    Raises:
        UserError: if one of them is damaged.
    """
    values: dict[Cell, float] = {}
    low = high = None
    ran, not_decoded, signature = False, 0, ""
    told = ""
    flags: dict[str, list[int]] = {}
    for cell in entry.cells:
        if not (root / cell.score_path).exists():
            continue
        ran = True
        found = measured(cell, root)
        if found is None:
            told = told or state(cell, root)
            continue
        values[cell] = found.value
        low, high, signature = found.low, found.high, found.signature
        not_decoded += found.not_decoded
        for flag in found.flags:
            flags.setdefault(flag, []).append(cell.seed)
    if not values:
        reason = entry.reason or told or (NOT_AVAILABLE if ran else NOT_RUN)
        return Value(None, None, None, None, (), (), 0, "", reason)
    mean = sum(values.values()) / len(values)
    spread = None
    if len(values) > 1:
        spread = statistics.stdev(values.values())
        low = high = None
    seeds = tuple(dict.fromkeys(cell.seed for cell in values))
    sources = tuple(cell.score_path for cell in values)
    asked = (cell.seed for cell in entry.cells)
    without = _without(asked, seeds, "which was not run") + _without_draws(entry.cells, values)
    flagged = [
        flag if {*flags[flag]} == {*seeds} else f"{flag} (seed {', '.join(map(str, flags[flag]))})"
        for flag in flags
    ]
    reason = "; ".join([*without, *flagged])
    return Value(mean, spread, low, high, seeds, sources, not_decoded, signature, reason)


def _without(asked: Iterable[int], seeds: Sequence[int], why: str) -> list[str]:
    """A remark on the seeds that a number does not rest on, if there are any."""
    missing = dict.fromkeys(str(seed) for seed in asked if seed not in seeds)
    return [f"without seed {', '.join(missing)}, {why}"] if missing else []


def _without_draws(asked: Iterable[Cell], measured: Collection[Cell]) -> list[str]:
    """A remark on the draws of a random decoding that a mean lacks of its seeds, if there are any.

    Cells of one place and one seed differ only in the draw.
    """
    seeds = {cell.seed for cell in measured}
    missing = [
        f"{cell.decoding} of seed {cell.seed}"
        for cell in asked
        if cell.seed in seeds and cell not in measured
    ]
    return [f"without {', '.join(missing)}, which was not run"] if missing else []


def why_missing(entry: Entry, root: Path) -> str:
    """Why a place has no number; of one that is relative to another, why either has none.

    Raises:
        UserError: if a file is damaged.
    """
    if not (entry.cells and measure_of(entry.measure).relative):
        found = read(entry, root)
        return found.reason if found.value is None else ""
    for cell in (*entry.cells, *entry.over):
        if not (root / cell.score_path).exists():
            return NOT_RUN
        if told := state(cell, root):
            return told
    return ""


def collapsed(entry: Entry, root: Path) -> bool:
    """Whether a training behind a place collapsed, as far as there is a record of it.

    Raises:
        UserError: if a record is damaged.
    """
    paths = (root / cell.record.path for cell in entry.cells if cell.of_training)
    found = [results.read(path, results.TRAINING) for path in paths if path.exists()]
    return any(each["collapsed"].value for each in found if "collapsed" in each)


@dataclass(frozen=True)
class Headline:
    """What stands above a table or figure: its title, and the scale and corpora of its numbers."""

    title: str
    origin: str


def headline(configuration: Configuration, paper: str, kind: Kind, number: str) -> Headline:
    """Title and origin of a table or figure."""
    description = describe(configuration, paper, kind, number)
    places = [cell for place in entries(configuration, paper, kind, number) for cell in place.cells]
    corpora = ", ".join(
        dict.fromkeys(
            f"{cell.corpus} {cell.split} set" if cell.split else cell.corpus
            for cell in places
            if MEASURES[cell.measure].of_corpus
        )
    )
    return Headline(
        title=f"{configuration.paper(paper).title}, {kind} {number}: {description.title}",
        origin=f"scale {configuration.scale}: {corpora or 'no corpus'}",
    )


def record(scale: str, entry: Entry, value: Value) -> dict[str, Any]:
    """A place and what was measured there as one line of a long CSV.

    Missing numbers are `None`; `status` is "run", "not run", "not available" or "only quoted".
    `difference`, ours minus the published value, is left out where a stand-in was run, and of
    times, which are those of different machines.
    """
    cell = entry.cells[0] if entry.cells else None
    if value.value is not None:
        status = "run"
    elif entry.cells:
        status = value.reason
    else:
        tells = entry.reason in (QUOTED, DERIVED) or entry.reason.startswith(NOT_RUN)
        status = entry.reason if tells else NOT_RUN
    return {
        "group": entry.group,
        "row": entry.row,
        "column": entry.column,
        "x": entry.x,
        "category": entry.category,
        "scale": scale,
        "task": entry.task,
        "corpus": cell.corpus if cell else "",
        "system": cell.system if cell else "",
        "decoding": cell.decoding if cell else "",
        "split": cell.split if cell else "",
        "measure": entry.measure,
        "unit": measure_of(entry.measure).unit,
        "seeds": " ".join(str(seed) for seed in value.seeds),
        "status": status,
        "ours": rounded(value.value),
        "spread": rounded(value.spread),
        "low": rounded(value.low),
        "high": rounded(value.high),
        "published": shown(entry),
        "printed": entry.published.text if entry.published else "",
        "difference": _from_published(value.value, entry, entry.stand_in),
        "stand_in": entry.stand_in,
        "signature": value.signature,
        "not_decoded": value.not_decoded,
        "remark": value.reason if value.reason != status else "",
        "sources": " ".join(value.sources),
        "published_source": entry.published.source if entry.published else "",
    }


def _from_published(value: float | None, entry: Entry, stand_in: str) -> float | None:
    """A number of ours minus the published one; `None` where they do not compare."""
    printed = entry.published.value if entry.published is not None else None
    if value is None or printed is None or stand_in or has_quartiles(entry.measure):
        return None
    return rounded(value - printed)


def measured_record(scale: str, entry: Entry, root: Path) -> dict[str, Any]:
    """What was measured at a place as one line of a long CSV, or its difference to another.

    Raises:
        UserError: for damaged results, and results that do not compare.
    """
    found = record(scale, entry, read(entry, root))
    found |= times.described((*entry.cells, *entry.over), root)
    if not entry.over:
        return found
    found |= {"over": entry.over[0].system, "signature": ""}
    each: Difference | SpeedUp | None
    known = MEASURES[entry.measure]
    if known.relative:
        compare = parameter_share if known.source == TRAINING else speed_up
        each = compare(entry.cells, entry.over, root)
    else:
        each = difference(entry.cells, entry.over, root)
    if each is None:
        status = found["status"]
        if status in ("run", NOT_AVAILABLE):
            status = why_missing(entry, root) or NOT_RUN
        nothing = dict.fromkeys(("ours", "low", "high", "spread", "difference"))
        return found | {"status": status} | nothing
    interval = each.interval
    spread = None
    if len(each.by_seed) > 1:
        spread = statistics.stdev(each.by_seed)
    both = read(_on(entry, each.seeds), root)
    asked = (cell.seed for cell in (*entry.cells, *entry.over))
    remarks = _without(asked, each.seeds, "which was not run for both")
    if both.value is not None and both.reason:
        remarks.append(both.reason)
    return found | {
        "status": "run",
        "ours": rounded(each.value),
        "spread": rounded(spread),
        "low": rounded(interval.low) if interval and spread is None else None,
        "high": rounded(interval.high) if interval and spread is None else None,
        "difference": _from_published(each.value, entry, entry.stand_in),
        "seeds": " ".join(str(seed) for seed in each.seeds),
        "not_decoded": both.not_decoded,
        "remark": "; ".join(remarks),
        "sources": " ".join(each.sources),
    }


def _on(entry: Entry, seeds: Sequence[int]) -> Entry:
    """A place with some of its seeds."""
    return replace(entry, cells=tuple(cell for cell in entry.cells if cell.seed in seeds))


def derive(found: Sequence[dict[str, Any]], places: Sequence[Entry], root: Path) -> None:
    """Fill in the records of derived places from those that they are made of.

    A place has no value while one of its operands has none, and rests on the seeds that all of
    them have.

    Raises:
        UserError: for damaged results.
    """
    by_place = {(each["row"], each["column"]): each for each in found}
    entries_ = {(place.row, place.column): place for place in places}
    made_of = {
        name: entry.derived.places for name, entry in entries_.items() if entry.derived is not None
    }
    # a derived place may be made of derived ones, which are computed before it
    for name in TopologicalSorter(made_of).static_order():
        place = entries_[name]
        if place.derived is None:
            continue
        operands = [by_place[each] for each in place.derived.places]
        record_ = by_place[name]
        operation = place.derived.operation
        record_["derived"] = operation
        # a mean of differences is one, and is shown with its sign
        if operation == "difference":
            record_["over"] = operands[1]["system"]
        elif operation == "mean":
            record_["over"] = operands[0].get("over", "")
        record_["stand_in"] = next((each["stand_in"] for each in operands if each["stand_in"]), "")
        if any(each["ours"] is None for each in operands):
            # why the first of them has no number
            record_["status"] = next(each["status"] for each in operands if each["ours"] is None)
            continue
        asked, *others = [[int(seed) for seed in each["seeds"].split()] for each in operands]
        seeds = [seed for seed in asked if all(seed in other for other in others)]
        if not seeds:
            record_["status"] = f"{NOT_RUN}: no seed that all have from which it is computed"
            continue
        shown = " ".join(str(seed) for seed in seeds)
        restricted = [
            each if each["seeds"] == shown else _on_seeds(operand, seeds, entries_, root)
            for operand, each in zip(place.derived.places, operands, strict=True)
        ]
        value = computed(operation, [each["ours"] for each in restricted])
        together = (seed for each in (asked, *others) for seed in each)
        why = "which was not run for all from which it is computed"
        record_ |= {
            "status": NOT_AVAILABLE if value is None else "run",
            "ours": rounded(value),
            "corpus": operands[0]["corpus"],
            "seeds": shown,
            "remark": "".join(_without(together, seeds, why)),
            "sources": _sources(restricted),
            **times.of_operands(operands),
        }
        record_["difference"] = _from_published(value, place, record_["stand_in"])


def _on_seeds(
    place: tuple[str, str],
    seeds: Sequence[int],
    places: Mapping[tuple[str, str], Entry],
    root: Path,
) -> Mapping[str, Any]:
    """The number of a place on some of its seeds, `ours`, and its `sources`."""
    entry = places[place]
    if entry.derived is None:
        return measured_record("", _on(entry, seeds), root)
    found = [_on_seeds(each, seeds, places, root) for each in entry.derived.places]
    value = computed(entry.derived.operation, [each["ours"] for each in found])
    return {"ours": rounded(value), "sources": _sources(found)}


def _sources(records: Iterable[Mapping[str, Any]]) -> str:
    """The files behind several records, each once."""
    return " ".join(dict.fromkeys(path for each in records for path in each["sources"].split()))


def computed(operation: str, numbers: Sequence[float | None]) -> float | None:
    """The number of a derived place from those that it is made of; `None` if they have none."""
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
        wanted, compared, shown = values[0], values[1::2], [None, *values[2::2]]
        place = next((at for at, each in enumerate(compared) if each >= wanted), None)
        if operation == "short_of":
            return shown[len(compared) if place is None else place]
        return None if place is None else shown[place + 1]
    try:
        r = pearson(values[::2], values[1::2])
    except ValueError:
        return None
    return abs(r) if operation == "absolute_correlation" else r


def missing_state(records: Sequence[Mapping[str, Any]]) -> str:
    """Why most places have no number, such as `not run` or `no GPU`, where none has one."""
    found = Counter(each["status"] for each in records if each["status"] not in ("run", QUOTED))
    return next((state for state, _ in found.most_common(1)), NOT_RUN)


def stand_ins(records: Sequence[Mapping[str, Any]]) -> str:
    """What the numbers that were run stand in for, for a footnote; may be empty."""
    ran = [record["stand_in"] for record in records if record["status"] == "run"]
    found: dict[str, list[str]] = {}
    for text in dict.fromkeys(text for text in ran if text):
        corpus, _, task = text.partition(" stands in for ")
        if task:  # no paper has the tasks of others
            found.setdefault(corpus, []).append(task)
    return "; ".join(
        f"{corpus} stands in for {', '.join(tasks)}" for corpus, tasks in found.items()
    )


def not_comparable(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """A note on what the numbers that were run stand in for, if they do."""
    found = stand_ins(records)
    return [f"Not comparable with published results: {found}."] if found else []


def has_quartiles(measure: str) -> bool:
    """Whether the interval of a measure is that between quartiles, as for times but not ratios."""
    known = measure_of(measure)
    return known.source == LATENCY and not known.relative


def shows_quartiles(record: Mapping[str, Any]) -> bool:
    """Whether `low` and `high` of a record are quartiles; a difference of times has none."""
    return has_quartiles(record["measure"]) and not record.get("over")


def what_spreads_are_over(records: Iterable[Mapping[str, Any]]) -> str:
    """What the standard deviations of records are over.

    Draws of a random decoding count where a mean rests on several of a seed: it has a source for
    each. Differences have one number for each seed.
    """
    seeds: list[str] = []
    drawn = False
    for record in records:
        own = record["seeds"].split()
        seeds = max(seeds, own, key=len)
        drawn = drawn or (not record.get("over") and len(record["sources"].split()) > len(own))
    if len(seeds) < 2:
        return DRAWS
    text = f"seeds {', '.join(seeds)}"
    return f"{text}, of a random decoding also over its draws" if drawn else text


def what_intervals_are(name: str, records: Iterable[Mapping[str, Any]]) -> list[str]:
    """Notes on intervals of one seed, by what they are over.

    Args:
        name: of the marks by which they are shown.
        records: with the keys `measure` and, for differences, `over`.
    """
    found: dict[str, dict[str, None]] = {}
    samples = f"{significance.SAMPLES:,} samples"
    for record in records:
        known = measure_of(record["measure"])
        label, text = known.label, f"95% bootstrap interval over sentences ({samples})"
        if shows_quartiles(record):
            text = "quartiles of the repeats"
        elif known.source == LATENCY:
            text = f"95% bootstrap interval over the repeats ({samples})"
            label = label if known.relative else f"differences of {label}"
        found.setdefault(text, {})[label] = None
    if len(found) == 1:
        return [f"{name}: {next(iter(found))}."]
    return [f"{name} of {', '.join(labels)}: {text}." for text, labels in found.items()]


def rounded(value: float | None) -> float | None:
    """As precise as reports keep numbers."""
    return None if value is None else round(value, 6)


def shown(entry: Entry) -> float | str | None:
    """The published value of a place; as printed where it is no number."""
    if entry.published is None:
        return None
    return entry.published.text if entry.published.value is None else entry.published.value


def with_places(
    texts: Sequence[tuple[Mapping[str, Any], str]], records: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Texts on places, each once, with the columns or rows that it is about.

    Of a row, columns are named where the text is not about all that we run of it.

    Args:
        texts: the record of a place, and what is to be said of it.
        records: those of all places of the table or figure.
    """
    ours = [each for each in records if each["status"] not in (QUOTED, NOT_AVAILABLE)]
    of_row, of_column = (Counter(each[key] for each in ours) for key in ("row", "column"))
    found: dict[str, list[tuple[str, str]]] = {}
    for record, text in texts:
        found.setdefault(text, []).append((record["row"], record["column"]))
    notes = []
    for text, places in found.items():
        rows: dict[str, list[str]] = {}
        for row, column in places:
            rows.setdefault(row, []).append(column)
        columns = Counter(column for _, column in places)
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
