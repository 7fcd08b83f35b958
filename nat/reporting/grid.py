"""Tables and figures as grids of cells, from `config/papers/*.yaml`.

A cell is one number: a measure of one decoding of one system on one split of one task's corpus.
The coordinates of a cell come from four places, later ones filling what earlier ones leave open:
the `cells` of the table, its column (panel), its row (series) and the point of a series. A row and
a column that give the same coordinate differently are an error.

Which score file a cell needs follows from the configuration alone, so the graph can ask before
anything has run.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from nat.configuration import Configuration
from nat.errors import UserError
from nat.files import read_json
from nat.spelling import hint

Kind = Literal["table", "figure"]
COORDINATES = ("system", "task", "decoding", "split", "measure")
PUBLISHED_KEYS = ("table", "row_group", "system", "variant", "task", "metric")
PAPER_SCALE = "paper"
NOT_RUN = "not run"
NOT_AVAILABLE = "not available"
QUOTED = "only quoted"


@dataclass(frozen=True)
class Measure:
    """How a measure of a score file is named and printed; `definition` is for footnotes."""

    label: str
    unit: str
    digits: int
    definition: str = ""


MEASURES = {
    "sacrebleu": Measure("sacreBLEU", "BLEU", 2),
    "tokenised_bleu": Measure("tokenised BLEU", "BLEU", 2),
    "multi_reference_bleu": Measure(
        "multi-ref. sacreBLEU", "BLEU", 2, "against all references that a sentence has"
    ),
    "chrf": Measure("chrF2", "chrF", 2),
    "brevity_penalty": Measure("brevity penalty", "ratio", 3, "of tokenised BLEU"),
    "length_ratio": Measure(
        "length ratio", "ratio", 3, "words of the translations / words of the reference"
    ),
    "repeated_tokens": Measure(
        "repeated words (%)", "%", 2, "words equal to the word directly before them"
    ),
}


@dataclass(frozen=True)
class Cell:
    """One number of a table or figure, for one seed."""

    corpus: str
    system: str
    seed: int
    decoding: str
    split: str
    measure: str

    @property
    def score_path(self) -> str:
        """The score file that holds the number."""
        return f"results/scores/{self._folder}/{self.split}.json"

    @property
    def hypotheses_path(self) -> str:
        """The translations behind the score."""
        return f"results/outputs/{self._folder}/{self.split}.jsonl"

    @property
    def _folder(self) -> str:
        return f"{self.corpus}/{self.system}/seed{self.seed}/{self.decoding}"


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
    where it does not. `x` is set in figures, where `row` is the series and `column` the panel.
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


def targets(configuration: Configuration) -> list[tuple[str, Kind, str]]:
    """Every table and figure of every paper, as (paper, "table" or "figure", number)."""
    found: list[tuple[str, Kind, str]] = []
    for paper in configuration.papers:
        content = configuration.paper(paper)
        found += [(paper, "table", str(number)) for number in content.get("tables") or {}]
        found += [(paper, "figure", str(number)) for number in content.get("figures") or {}]
    return found


def cells(configuration: Configuration, paper: str, kind: Kind, number: str | int) -> list[Cell]:
    """All cells of a table or figure that this scale can run, without repetitions.

    Raises:
        UserError: as `entries`.
    """
    found = (cell for entry in entries(configuration, paper, kind, number) for cell in entry.cells)
    return list(dict.fromkeys(found))


def files(configuration: Configuration, paper: str, kind: Kind, number: str | int) -> list[str]:
    """The files that a table or figure is made of: scores and, for paired tests, translations."""
    places = entries(configuration, paper, kind, number)
    tested = {place.row for place in places if place.baseline}
    tested |= {place.baseline for place in places}
    found = []
    for place in places:
        for cell in place.cells:
            found.append(cell.score_path)
            if place.row in tested:
                found.append(cell.hypotheses_path)
    return list(dict.fromkeys(found))


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
    """The places of a table or figure, row by row.

    Raises:
        UserError: for a table, system, decoding, measure, baseline or published value that does
            not exist; names the file and the key.
    """
    description = describe(configuration, paper, kind, number)
    where = f"config/papers/{paper}.yaml: {kind}s.{number}"
    published = configuration.paper(paper).get("published")
    try:
        pairs = _table if kind == "table" else _figure
        return [
            _entry(configuration, published, description.get("cells") or {}, column, row, where)
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


def _figure(description: Mapping[str, Any], where: str) -> Iterator[tuple[Any, Any]]:
    _no_repetition([series["label"] for series in description["series"]], f"{where}.series")
    _no_repetition([panel["label"] for panel in description["panels"]], f"{where}.panels")
    for series in description["series"]:
        for panel in description["panels"]:
            for point in series["points"]:
                yield {**series, **point}, panel


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
    published: str | None,
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
    for key in ("measure", "task"):
        if chosen[key] is None:
            raise UserError(f"{where}: {label} leave the key '{key}' open")
    measure, task = chosen["measure"], chosen["task"]
    if measure not in MEASURES:
        raise UserError(f"{where}: unknown measure '{measure}'; {hint(measure, MEASURES)}")
    query = {
        **(defaults.get("published") or {}),
        **(column.get("published") or {}),
        **(row.get("published") or {}),
    }
    found, stand_in, reason = _cells(configuration, chosen, f"{where}: {label}")
    return Entry(
        row=row["label"],
        column=column_label(column),
        group=row.get("group", ""),
        task=task,
        measure=measure,
        cells=found,
        # A query without a system is only what the rows have in common.
        published=_published(configuration.root, published, {"task": task, **query}, where)
        if "system" in query
        else None,
        stand_in=stand_in,
        reason=reason,
        baseline=row.get("baseline", ""),
        x=row.get("x"),
    )


def _cells(
    configuration: Configuration, chosen: Mapping[str, Any], where: str
) -> tuple[tuple[Cell, ...], str, str]:
    """The cells of a place, how it differs from the paper's, and why there are none."""
    if chosen["system"] is None:
        return (), "", QUOTED
    for key in ("decoding", "split"):
        if chosen[key] is None:
            raise UserError(f"{where} leave the key '{key}' open")
    configuration.check_decoding(chosen["system"], chosen["decoding"])
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
            system=chosen["system"],
            seed=seed,
            decoding=chosen["decoding"],
            split=chosen["split"],
            measure=chosen["measure"],
        )
        for seed in configuration.seeds
    )
    return found, stand_in, ""


@lru_cache
def _published_rows(path: Path, _changed: float) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _published(
    root: Path, name: str | None, query: Mapping[str, str], where: str
) -> Published | None:
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
    try:
        value = float(row["value"])
    except ValueError as error:
        raise UserError(
            f"{where}: {file} line {line} holds '{row['value']}', which is not a number"
        ) from error
    return Published(value, f"{file} row {line}: {row['table']}; {row['note']}")


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

    With one seed, `low` and `high` are the 95% bootstrap interval over test sentences (BLEU and
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
    """Read the score files of a place below `root`.

    Raises:
        UserError: if a score file is damaged.
    """
    values: list[float] = []
    seeds, sources = [], []
    low = high = None
    ran, not_decoded, signature = False, 0, ""
    for cell in entry.cells:
        path = root / cell.score_path
        if not path.exists():
            continue
        ran = True
        content = read_score(path)
        measured = content["measures"].get(cell.measure)
        if measured is None:
            continue
        values.append(float(measured["value"]))
        low, high = measured.get("low"), measured.get("high")
        signature = measured.get("signature", "")
        not_decoded += content["not_decoded"]
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


def read_score(path: Path) -> dict[str, Any]:
    """Read a score file.

    Raises:
        UserError: if the file is not JSON or not a score file.
    """
    content: dict[str, Any] = read_json(path)
    try:
        int(content["not_decoded"])
        for measured in content["measures"].values():
            float(measured["value"])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path} is not a score file; remove it and run again") from error
    return content


@dataclass(frozen=True)
class Headline:
    """What stands above a table or figure: its title, and the scale and corpora of its numbers."""

    title: str
    origin: str


def headline(configuration: Configuration, paper: str, kind: Kind, number: str) -> Headline:
    """Title and origin of a table or figure."""
    description = describe(configuration, paper, kind, number)
    places = [cell for place in entries(configuration, paper, kind, number) for cell in place.cells]
    corpora = ", ".join(dict.fromkeys(f"{cell.corpus} {cell.split} set" for cell in places))
    return Headline(
        title=f"{configuration.paper(paper)['title']}, {kind} {number}: {description['title']}",
        origin=f"scale {configuration.scale}: {corpora or 'no corpus'}",
    )


def record(scale: str, entry: Entry, value: Value) -> dict[str, Any]:
    """A place and what was measured there as one line of a long CSV.

    Missing numbers are `None`; `status` is "run", "not run", "not available" or "only quoted".
    """
    cell = entry.cells[0] if entry.cells else None
    if value.value is not None:
        status = "run"
    elif entry.cells:
        status = value.reason
    else:
        status = NOT_RUN if entry.reason != QUOTED else QUOTED
    difference = None
    if value.value is not None and entry.published is not None:
        difference = _rounded(value.value - entry.published.value)
    return {
        "group": entry.group,
        "row": entry.row,
        "column": entry.column,
        "x": entry.x,
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
        "ours": _rounded(value.value),
        "spread": _rounded(value.spread),
        "low": _rounded(value.low),
        "high": _rounded(value.high),
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


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
