"""Tables and figures as grids of cells, from `config/papers/*.yaml`.

A cell is one number: a measure of a system on one task's corpus, most often of one decoding of one
split. The coordinates of a cell come from four places, later ones filling what earlier ones leave
open: the `cells` of the table, its column (panel), its row (series) and the point of a series. A
row and a column that give the same coordinate differently are an error.

Which files a cell needs follows from the configuration alone, so the graph can ask before anything
has run.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from nat.configuration import Configuration
from nat.errors import UserError
from nat.reporting.cells import MEASURES, SCORE, TRAINING, Cell, measured
from nat.reporting.training_runs import read_run
from nat.spelling import hint

Kind = Literal["table", "figure"]
COORDINATES = ("system", "task", "decoding", "split", "measure")
PUBLISHED_KEYS = ("table", "row_group", "system", "variant", "task", "metric")
PAPER_SCALE = "paper"
NOT_RUN = "not run"
NOT_AVAILABLE = "not available"
QUOTED = "only quoted"
GRID, SAMPLES, SETTINGS = "grid", "samples", "settings"
CURVE = "best_validation_bleu"
"""Measure that the cells of a training curve carry; the curve itself lies beside its file."""


@dataclass(frozen=True)
class Published:
    """A published value and where it is written down."""

    value: float
    source: str


@dataclass(frozen=True)
class Entry:
    """A place of the grid: its labels, its cells (one per seed) and its published value.

    `cells` is empty for a system that is only quoted, and where the scale has no corpus for the
    task; `reason` says which. `stand_in` says how the place differs from the paper's, and is empty
    where it does not. In figures `row` is the series, `column` the panel, and `x` the place on the
    horizontal axis, with a name in `category` where that is no number. `over` holds the cells that
    are subtracted, where a figure shows differences.
    """

    row: str
    column: str
    group: str
    task: str
    measure: str
    cells: tuple[Cell, ...]
    published: Published | None
    stand_in: str
    reason: str
    baseline: str
    x: float | None = None
    category: str = ""
    over: tuple[Cell, ...] = ()


def describe(configuration: Configuration, paper: str, kind: Kind, number: str | int) -> Any:
    """The description of one table or figure.

    Raises:
        UserError: if the paper has no such table or figure.
    """
    content = configuration.paper(paper).get(f"{kind}s") or {}
    for key, description in content.items():
        if str(key) == str(number):
            return description
    raise UserError(
        f"config/papers/{paper}.yaml: there is no {kind} {number}; {hint(str(number), content)}"
    )


def entries(configuration: Configuration, paper: str, kind: Kind, number: str | int) -> list[Entry]:
    """The places of a table or figure, row by row; a table of settings has none.

    Raises:
        UserError: for a table, system, decoding, measure, baseline or published value that does
            not exist; names the file and the key.
    """
    description = describe(configuration, paper, kind, number)
    where = f"config/papers/{paper}.yaml: {kind}s.{number}"
    content = configuration.paper(paper)
    pairs = _PAIRS[table_kind(description) if kind == "table" else str(description["kind"])]
    try:
        return [
            _entry(configuration, content, description.get("cells") or {}, column, row, where)
            for row, column in pairs(description, where)
        ]
    except UserError as error:
        if str(error).startswith("config/"):
            raise
        raise UserError(f"{where}: {error}") from error


def _table(description: Mapping[str, Any], where: str) -> Iterator[tuple[Any, Any]]:
    rows = description["rows"]
    labels = [row["label"] for row in rows]
    _no_repetition(labels, f"{where}.rows")
    _no_repetition([column_label(column) for column in description["columns"]], f"{where}.columns")
    for row in rows:
        baseline = row.get("baseline")
        if baseline is not None and baseline not in labels:
            raise UserError(
                f"{where}.rows: baseline '{baseline}' of row '{row['label']}' is not a row; "
                f"{hint(baseline, labels)}"
            )
        for column in description["columns"]:
            yield row, column


def _samples(description: Mapping[str, Any], where: str) -> Iterator[tuple[Any, Any]]:
    _no_repetition([pair["label"] for pair in description["pairs"]], f"{where}.pairs")
    for pair in description["pairs"]:
        shared = {key: pair[key] for key in COORDINATES if key in pair}
        for side in ("teacher", "student"):
            yield {"label": pair["label"], **shared, **pair[side]}, {"label": side}


def _settings(description: Mapping[str, Any], where: str) -> Iterator[tuple[Any, Any]]:
    _no_repetition([row["label"] for row in description["rows"]], f"{where}.rows")
    _no_repetition([column["label"] for column in description["columns"]], f"{where}.columns")
    yield from ()


def _figure(description: Mapping[str, Any], where: str) -> Iterator[tuple[Any, Any]]:
    _check_figure(description, where)
    for series in description["series"]:
        for panel in description["panels"]:
            for point in series["points"]:
                yield {**series, **point}, panel


def _bars(description: Mapping[str, Any], where: str) -> Iterator[tuple[Any, Any]]:
    _check_figure(description, where)
    categories = list(
        dict.fromkeys(
            point["category"] for series in description["series"] for point in series["points"]
        )
    )
    for row, panel in _figure(description, where):
        yield {**row, "x": categories.index(row["category"])}, panel


def _curves(description: Mapping[str, Any], where: str) -> Iterator[tuple[Any, Any]]:
    _check_figure(description, where)
    for series in description["series"]:
        for panel in description["panels"]:
            for number, system in enumerate(series["chain"], 1):
                yield {**series, "system": system, "x": number, "measure": CURVE}, panel


def _check_figure(description: Mapping[str, Any], where: str) -> None:
    _no_repetition([series["label"] for series in description["series"]], f"{where}.series")
    _no_repetition([panel["label"] for panel in description["panels"]], f"{where}.panels")


_PAIRS = {
    GRID: _table,
    SAMPLES: _samples,
    SETTINGS: _settings,
    "lines": _figure,
    "bars": _bars,
    "curves": _curves,
}


def table_kind(description: Mapping[str, Any]) -> str:
    """What a table is made of: a grid of cells, samples or settings."""
    return str(description.get("kind", GRID))


def column_label(column: Mapping[str, Any]) -> str:
    """The heading of a column: its label, else the name of its measure or its task."""
    if "label" in column:
        return str(column["label"])
    measure = MEASURES.get(column.get("measure", ""))
    return measure.label if measure else str(column.get("task", ""))


def _no_repetition(labels: Sequence[str], where: str) -> None:
    twice = [label for label in labels if labels.count(label) > 1]
    if twice:
        raise UserError(f"{where}: the label '{twice[0]}' stands here twice; labels must differ")


def _entry(
    configuration: Configuration,
    content: Mapping[str, Any],
    defaults: Mapping[str, Any],
    column: Mapping[str, Any],
    row: Mapping[str, Any],
    where: str,
) -> Entry:
    label = f"row '{row['label']}', column '{column_label(column)}'"
    chosen: dict[str, Any] = {}
    for key in COORDINATES:
        if key in row and key in column and row[key] != column[key]:
            raise UserError(f"{where}: {label} give the key '{key}' differently")
        chosen[key] = row.get(key, column.get(key, defaults.get(key)))
    query = {
        **(defaults.get("published") or {}),
        **(column.get("published") or {}),
        **(row.get("published") or {}),
    }
    return place(
        configuration,
        content,
        chosen,
        query,
        where,
        label,
        row=row["label"],
        column=column_label(column),
        group=row.get("group", ""),
        baseline=row.get("baseline", ""),
        x=row.get("x"),
        category=row.get("category", ""),
        over=row.get("over"),
    )


def place(
    configuration: Configuration,
    content: Mapping[str, Any],
    chosen: Mapping[str, Any],
    query: Mapping[str, str],
    where: str,
    label: str,
    *,
    over: Mapping[str, Any] | None = None,
    **names: Any,
) -> Entry:
    """The place that coordinates lead to.

    Args:
        configuration: of the run.
        content: of the paper's file; says its file of published values and its seeds.
        chosen: the coordinates; those that are missing are open.
        query: columns of the published file that pick a value; without a system none is asked.
        where: file and key, for messages.
        label: of the place, for messages.
        over: coordinates of the cells to subtract, where they differ from `chosen`.
        names: labels of the entry.

    Raises:
        UserError: for what does not exist, and for coordinates that are open.
    """
    for key in ("measure", "task"):
        if chosen.get(key) is None:
            raise UserError(f"{where}: {label} leave the key '{key}' open")
    measure, task = chosen["measure"], chosen["task"]
    if measure not in MEASURES:
        raise UserError(f"{where}: unknown measure '{measure}'; {hint(measure, MEASURES)}")
    published = content.get("published")
    seeds = content.get("seeds", configuration.seeds)
    found, stand_in, reason = _cells(configuration, seeds, chosen, f"{where}: {label}")
    subtracted: tuple[Cell, ...] = ()
    if over is not None:
        subtracted, _, _ = _cells(configuration, seeds, {**chosen, **over}, f"{where}: {label}")
    return Entry(
        task=task,
        measure=measure,
        cells=found,
        # A query without a system is only what the rows have in common.
        published=_published(configuration.root, published, {"task": task, **query}, where)
        if "system" in query
        else None,
        stand_in=stand_in,
        reason=reason,
        over=subtracted,
        **{"group": "", "baseline": "", **names},
    )


def _cells(
    configuration: Configuration, seeds: Sequence[int], chosen: Mapping[str, Any], where: str
) -> tuple[tuple[Cell, ...], str, str]:
    """The cells of a place, how it differs from the paper's, and why there are none."""
    if chosen.get("system") is None:
        return (), "", QUOTED
    system = chosen["system"]
    configuration.system(system)
    source = MEASURES[chosen["measure"]].source
    needed = [] if source == TRAINING else ["split"] + ["decoding"] * (source == SCORE)
    for key in needed:
        if chosen.get(key) is None:
            raise UserError(f"{where} leave the key '{key}' open")
    if source == SCORE:
        configuration.check_decoding(system, chosen["decoding"])
    scale, task = configuration.scale, chosen["task"]
    if task in configuration.all_tasks and task not in configuration.tasks:
        return (), "", f"scale {scale} has no corpus for {task}"
    corpus = configuration.task(task)
    stand_in = ""
    if corpus != task or scale != PAPER_SCALE:
        paper = task if corpus != task else "training"
        stand_in = f"corpus {corpus} at scale {scale}, not the paper's {paper}"
    found = tuple(
        Cell(
            corpus=corpus,
            system=system,
            seed=seed,
            decoding=chosen["decoding"] if source == SCORE else "",
            split=chosen["split"] if source != TRAINING else "",
            measure=chosen["measure"],
        )
        for seed in seeds
    )
    return found, stand_in, ""


@lru_cache
def _published_rows(path: Path, _changed: float) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _published(
    root: Path, name: str | None, query: Mapping[str, str], where: str
) -> Published | None:
    found = published_text(root, name, query, where)
    if found is None:
        return None
    text, source = found
    try:
        return Published(float(text), source)
    except ValueError as error:
        raise UserError(f"{where}: {source} holds '{text}', which is not a number") from error


def published_text(
    root: Path, name: str | None, query: Mapping[str, str], where: str
) -> tuple[str, str] | None:
    """A published value as it is written down, and where; `None` if the paper leaves it out.

    Args:
        root: folder of the configuration.
        name: of the file with the published values.
        query: its columns that pick one value.
        where: file and key that ask, for messages.

    Raises:
        UserError: if the query fits no value for any task, or several.
    """
    if name is None:
        raise UserError(
            f"{where}: a published value is asked for, but the key 'published' of the "
            "paper, which names its CSV file, is missing"
        )
    file = f"config/published/{name}.csv"
    try:
        rows = _published_rows(root / file, (root / file).stat().st_mtime)
    except FileNotFoundError as error:
        raise UserError(f"{where}: {file} does not exist") from error
    found = [(line, row) for line, row in enumerate(rows, 2) if _matches(row, query)]
    if not found:
        without_task = {key: value for key, value in query.items() if key != "task"}
        if any(_matches(row, without_task) for row in rows):
            return None  # the paper leaves this place of its table empty
        raise UserError(f"{where}: {_nearest_miss(file, rows, without_task)}")
    if len(found) > 1:
        raise UserError(
            f"{where}: {file} has {len(found)} values for {_show(query)}; give one more of "
            f"{', '.join(key for key in PUBLISHED_KEYS if key not in query)}"
        )
    line, row = found[0]
    return row["value"], f"{file} row {line}: {row['table']}; {row['note']}"


def _matches(row: Mapping[str, str], query: Mapping[str, str]) -> bool:
    return all(row[key] == value for key, value in query.items())


def _nearest_miss(file: str, rows: Sequence[Mapping[str, str]], query: Mapping[str, str]) -> str:
    """Name the first key whose value leaves nothing."""
    left = list(rows)
    for key, value in query.items():
        kept = [row for row in left if row[key] == value]
        if not kept:
            known = dict.fromkeys(row[key] for row in left)
            return f"{file} has no {key} '{value}' among these; {hint(value, known)}"
        left = kept
    return f"{file} has no value for {_show(query)}"


def _show(query: Mapping[str, str]) -> str:
    return ", ".join(f"{key} '{value}'" for key, value in query.items())


@dataclass(frozen=True)
class Value:
    """What was measured at a place: the mean over its seeds.

    With one seed, `low` and `high` are the 95% bootstrap interval over sentences (BLEU and
    chrF only); with several, `spread` is the standard deviation over seeds (n - 1) instead.
    `value` is `None` if nothing was run, or if the corpus does not allow the measure; `reason`
    says which. `not_decoded` counts sentences, over all seeds, that were scored as empty,
    `signature` is sacreBLEU's.
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

    Raises:
        UserError: if one of them is damaged.
    """
    values: list[float] = []
    seeds, sources = [], []
    low = high = None
    ran, not_decoded, signature = False, 0, ""
    for cell in entry.cells:
        if not (root / cell.score_path).exists():
            continue
        ran = True
        found = measured(cell, root)
        if found is None:
            continue
        values.append(found.value)
        low, high, signature = found.low, found.high, found.signature
        not_decoded += found.not_decoded
        seeds.append(cell.seed)
        sources.append(cell.score_path)
    if not values:
        reason = entry.reason or (NOT_AVAILABLE if ran else NOT_RUN)
        return Value(None, None, None, None, (), (), 0, "", reason)
    mean = sum(values) / len(values)
    spread = None
    if len(values) > 1:
        spread = (sum((value - mean) ** 2 for value in values) / (len(values) - 1)) ** 0.5
        low = high = None
    missing = [str(cell.seed) for cell in entry.cells if cell.seed not in seeds]
    reason = f"without seed {', '.join(missing)}, which was not run" if missing else ""
    return Value(
        mean, spread, low, high, tuple(seeds), tuple(sources), not_decoded, signature, reason
    )


def collapsed(entry: Entry, root: Path) -> bool:
    """Whether a training behind a place collapsed, as far as there is a record of it.

    Raises:
        UserError: if a record is damaged.
    """
    paths = (root / cell.training_path for cell in entry.cells)
    return any(read_run(path).collapsed for path in paths if path.exists())


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
            f"{cell.corpus} {cell.split} set" if cell.split else cell.corpus for cell in places
        )
    )
    return Headline(
        title=f"{configuration.paper(paper)['title']}, {kind} {number}: {description['title']}",
        origin=f"scale {configuration.scale}: {corpora or 'no corpus'}",
    )


def record(scale: str, entry: Entry, value: Value) -> dict[str, Any]:
    """A place and what was measured there as one line of a long CSV.

    Missing numbers are `None`; `status` is "run", "not run", "not available" or "only quoted".
    `difference`, ours minus the published value, is left out where a stand-in was run.
    """
    cell = entry.cells[0] if entry.cells else None
    if value.value is not None:
        status = "run"
    elif entry.cells:
        status = value.reason
    else:
        status = NOT_RUN if entry.reason != QUOTED else QUOTED
    difference = None
    if value.value is not None and entry.published is not None and not entry.stand_in:
        difference = rounded(value.value - entry.published.value)
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
        "unit": MEASURES[entry.measure].unit,
        "seeds": " ".join(str(seed) for seed in value.seeds),
        "status": status,
        "ours": rounded(value.value),
        "spread": rounded(value.spread),
        "low": rounded(value.low),
        "high": rounded(value.high),
        "published": entry.published.value if entry.published else None,
        "difference": difference,
        "stand_in": entry.stand_in,
        "signature": value.signature,
        "not_decoded": value.not_decoded,
        "remark": value.reason if value.reason != status else "",
        "sources": " ".join(value.sources),
        "published_source": entry.published.source if entry.published else "",
    }


def stand_ins(records: Sequence[Mapping[str, Any]]) -> str:
    """How the numbers that were run differ from the paper's, for a footnote; may be empty."""
    ran = [record["stand_in"] for record in records if record["status"] == "run"]
    found: dict[str, list[str]] = {}
    for text in dict.fromkeys(text for text in ran if text):
        corpus, _, task = text.partition(", not the paper's ")
        found.setdefault(corpus, []).append(task)
    return "; ".join(
        f"{corpus}, not the paper's {', '.join(tasks)}" for corpus, tasks in found.items()
    )


def rounded(value: float | None) -> float | None:
    """As precise as reports keep numbers."""
    return None if value is None else round(value, 6)
