"""Cells of reports: single numbers, and the files that contain them."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nat.artifacts import (
    Analysis,
    Artifact,
    Latency,
    Score,
    Statistics,
    TotalCorrelation,
    TrainingCurve,
    TrainingRecord,
    Translations,
)
from nat.cells.known_measures import (
    BETA,
    LATENCY,
    MEASURES,
    PAIR,
    SCORE,
    TOYS,
    TRAINING,
    VALIDATION,
)
from nat.cells.training_runs import read_run
from nat.checksums import remedy
from nat.errors import UserError
from nat.files import read_json
from nat.measures.latency_setting import STATE, parse_setting

NOT_RUN = "not run"
TIMES = "milliseconds_per_sentence"
"""Key of the times in the file of a latency."""

EXACT = {
    "exact_total_correlation": "given_length",
    "exact_total_correlation_padded": "padded",
    "parallel_excess": "parallel_excess",
    "autoregressive_excess": "autoregressive_excess",
}
"""Measures of a pair that are known for invented languages alone, and their keys."""


@dataclass(frozen=True)
class Cell:
    """One number, for one seed; coordinates that its measure does not need are empty.

    Attributes:
        run: the run with the result, see `nat.configuration.Configuration.run`.
        group: of a latency, the table or figure whose systems are measured together.
        timed: of a latency, what is measured together, see `nat.artifacts.Latency`.
    """

    run: str
    corpus: str
    system: str
    seed: int
    decoding: str
    split: str
    measure: str
    setting: str = ""
    partner: str = ""
    group: str = ""
    timed: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """Where the number comes from, see `Measure`."""
        known = MEASURES.get(self.measure)
        return known.source if known else SCORE

    @property
    def result(self) -> Artifact:
        """The artefact with the number."""
        if self.source == TRAINING:
            return self.record
        if self.source == SCORE:
            return Score(*self._names, self.decoding, self.split)
        if self.source == LATENCY:
            where = self.run, self.corpus, self.group, self.seed, self.setting
            return Latency(*where, self.timed)
        if self.source == PAIR:
            return TotalCorrelation(self.run, self.corpus, self.system, self.partner, self.seed)
        return Analysis(*self._names, self.source)

    @property
    def timed_name(self) -> str:
        """The name of a latency in the file of its group."""
        return f"{self.system}/{self.decoding}"

    @property
    def results(self) -> list[Artifact]:
        """The artefacts that are read for the number, including the curve of a training."""
        return self.of_training if self.source == TRAINING else [self.result]

    @property
    def translations(self) -> Translations:
        """What a score was measured on."""
        return Translations(*self._names, self.decoding, self.split)

    @property
    def statistics(self) -> Statistics:
        """What the number of a score is computed from, see `nat.measures.statistics`."""
        return Statistics(*self._names, self.decoding, self.split)

    @property
    def record(self) -> TrainingRecord:
        """The record of the training of the model."""
        return TrainingRecord(*self._names)

    @property
    def of_training(self) -> list[Artifact]:
        """The record and the curve of the training of the model; of a toy there are none."""
        if self.source in TOYS:
            return []
        return [self.record, TrainingCurve(*self._names)]

    @property
    def score_path(self) -> str:
        """The file that holds the number."""
        return self.result.path

    @property
    def translations_path(self) -> str:
        """The translations behind a score."""
        return self.translations.path

    @property
    def _names(self) -> tuple[str, str, str, int]:
        return self.run, self.corpus, self.system, self.seed


@dataclass(frozen=True)
class Measured:
    """A number from a file.

    `low` and `high` are its 95% bootstrap interval, if any, or the quartiles of a time. If the
    number is a share of sentences, `hits` has a digit 1 for each sentence that counts and 0 for the
    others. If it is a ratio of sums over sentences, `by_sentence` has both terms of each sentence,
    by its number. `flags` says what makes the translations or their model suspicious.
    """

    value: float
    low: float | None = None
    high: float | None = None
    signature: str = ""
    not_decoded: int = 0
    hits: str = ""
    by_sentence: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    flags: tuple[str, ...] = ()


def measured(cell: Cell, root: Path) -> Measured | None:
    """Read the number of a cell in `root`; `None` if there is none, see `state`.

    Raises:
        UserError: if the file is missing or damaged.
    """
    path = root / cell.score_path
    if cell.source == TRAINING:
        relative = MEASURES[cell.measure].relative
        value = None if relative else read_run(path).measure(cell.measure)
        return None if value is None else Measured(value)
    if cell.source == LATENCY:
        return _of_latency(cell, path)
    if cell.source == PAIR:
        return _of_pair(cell, path)
    if cell.source == SCORE:
        content = read_score(path)
        found, lost = content["measures"].get(cell.measure), int(content["not_decoded"])
        flags = tuple(content.get("flags", ()))
    else:
        found, lost, flags = _of_analysis(cell, path), 0, ()
    if found is None:
        return None
    return Measured(
        value=float(found["value"]),
        low=found.get("low"),
        high=found.get("high"),
        signature=found.get("signature", ""),
        not_decoded=lost,
        hits=found.get("hits", ""),
        by_sentence=_by_sentence(found),
        flags=flags,
    )


def state(cell: Cell, root: Path) -> str:
    """The reason in the file of a cell why it has no number; otherwise empty.

    Raises:
        UserError: if the file is missing or damaged.
    """
    if cell.source == SCORE:
        content = read_score(root / cell.score_path)
        lacking = content.get("not_available", [cell.measure])
        if cell.measure in {*content["measures"], *lacking}:
            return ""
        every: Any = {"system": "*", "seed": "*", "decoding": "*"}
        same = Score(run=cell.run, corpus=cell.corpus, split=cell.split, **every).path
        return (
            f"{NOT_RUN}: these scores are older than the measure; --forcerun {same} makes them "
            "again, from the same translations"
        )
    if cell.source != LATENCY:
        return ""
    return str(read_latency(root / cell.score_path, cell.timed_name).get(STATE, ""))


def check_setting(measure: str, setting: str) -> None:
    """Refuse a setting that a measure cannot have.

    Raises:
        UserError: naming what was expected.
    """
    known = MEASURES[measure]
    if known.source == LATENCY:
        parse_setting(setting)
    elif known.setting:
        beta_of(setting)
    elif setting:
        raise UserError(f"setting: found '{setting}', but the measure '{measure}' has no settings")


def beta_of(setting: str) -> float:
    """The weight of BLEU in L_target, positive.

    Raises:
        UserError: for any other setting.
    """
    try:
        beta = float(setting or BETA)
    except ValueError:
        beta = math.nan
    if not 0 < beta < math.inf:
        raise UserError(f"setting: found '{setting}', expected beta, a number above 0 such as 0.25")
    return beta


def _of_latency(cell: Cell, path: Path) -> Measured | None:
    content = read_latency(path, cell.timed_name)
    if STATE in content or MEASURES[cell.measure].relative:
        return None
    times = content[TIMES]
    median, mean, low, high = (
        float(times[name]) for name in ("median", "mean", "quartile_1", "quartile_3")
    )

    def seconds(milliseconds: float) -> float:
        return milliseconds * float(content["sentences_of_split"]) / 1000

    def words(milliseconds: float) -> float:
        return 1000 * float(content["source_words_per_sentence"]) / milliseconds

    values: dict[str, Callable[[], Measured | None]] = {
        "latency": lambda: Measured(median, low, high),
        "latency_mean": lambda: Measured(mean, low, high),
        "latency_quartile_1": lambda: Measured(low),
        "latency_quartile_3": lambda: Measured(high),
        "decoding_seconds": lambda: Measured(seconds(mean), seconds(low), seconds(high)),
        "words_per_second": lambda: Measured(words(median), words(high), words(low)),
        "model_size": lambda: Measured(content["model_bytes"] / 1e6),
        "memory": lambda: (
            Measured(content["memory_bytes"] / 1e6) if content["memory_bytes"] else None
        ),
    }
    try:
        return values[cell.measure]()
    except KeyError as error:
        raise UserError(f"{path} has no {error}; remove it and run again") from error


def _of_pair(cell: Cell, path: Path) -> Measured | None:
    content = read_json(path)
    unit = MEASURES[cell.measure].unit
    exact = EXACT.get(cell.measure)
    try:
        split = content["splits"].get(cell.split)
        if split is None or (exact is not None and "exact_per_token" not in split):
            return None
        found = split["per_token"] if exact is None else split["exact_per_token"][exact]
        ratio = exact is None and unit == "bits"
        return Measured(float(found[unit]), by_sentence=_by_sentence(split) if ratio else {})
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path} is not a total correlation; {remedy(path)}") from error


def _by_sentence(found: Mapping[str, Any]) -> dict[int, tuple[float, float]]:
    given = found.get("by_sentence")
    if given is None:
        return {}
    pairs = zip(given["sums"], given["tokens"], strict=True)
    return dict(zip(given["numbers"], pairs, strict=True))


def _of_analysis(cell: Cell, path: Path) -> Mapping[str, Any] | None:
    found = read_analysis(path, cell.split)
    if cell.measure not in ("l_target", "l_mple") or "target_bleu" not in found:
        return found.get(cell.measure)
    value = -beta_of(cell.setting) * float(found["target_bleu"]["value"])
    if cell.measure == "l_mple":
        held_out = read_analysis(path, VALIDATION)
        value += sum(float(held_out[name]["value"]) for name in ("l_nat", "l_input"))
    return {"value": value}


def read_score(path: Path) -> dict[str, Any]:
    """Read a score file.

    Raises:
        UserError: if the file is not JSON or not a score file.
    """
    content: dict[str, Any] = read_json(path)
    try:
        int(content["not_decoded"])
        _check_measures(content["measures"])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path} is not a score file; {remedy(path)}") from error
    return content


def read_analysis(path: Path, split: str) -> Mapping[str, Any]:
    """The measures of an analysis on a split, by name; none if it was not made on that split.

    Raises:
        UserError: if the file is not JSON or not an analysis.
    """
    content = read_json(path)
    try:
        measures: dict[str, Any] = content["splits"].get(split, {}).get("measures", {})
        _check_measures(measures)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path} is not an analysis; {remedy(path)}") from error
    return measures


def read_latency(path: Path, name: str) -> dict[str, Any]:
    """Read what a file of latencies says of one decoding and of all.

    Args:
        path: of the file.
        name: of the decoding, as in `at-base/beam5`.

    Raises:
        UserError: if the file is not JSON, or not one of latencies with this one.
    """
    content: dict[str, Any] = read_json(path)
    try:
        if STATE in content:
            return content
        found: dict[str, Any] = content["systems"][name]
        if STATE not in found:
            times = found[TIMES]
            [float(times[each]) for each in ("median", "mean", "quartile_1", "quartile_3")]
            [float(value) for value in times["repeats"]]
            int(content["sentences_of_split"])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path} is not a latency of {name}; {remedy(path)}") from error
    return {key: content[key] for key in content if key != "systems"} | found


def _check_measures(measures: Mapping[str, Any]) -> None:
    for found in measures.values():
        float(found["value"])
