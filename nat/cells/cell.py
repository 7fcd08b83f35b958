"""Cells of reports: single numbers, and the files that contain them."""

import math
from dataclasses import dataclass
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
from nat.checksums import remedy
from nat.errors import UserError
from nat.measures import results
from nat.measures.latency_setting import parse_setting
from nat.measures.results import Number

NOT_RUN = "not run"


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
class Measured(Number):
    """A number that there is."""

    value: float


def measured(cell: Cell, root: Path) -> Measured | None:
    """Read the number of a cell in `root`; `None` if there is none, see `state`.

    Raises:
        UserError: if the file is missing or damaged.
    """
    found = numbers(cell, root).get(cell.measure)
    if found is None or found.value is None:
        return None
    flags = () if cell.source == TRAINING else found.flags
    return Measured(**{**vars(found), "flags": flags})


def numbers(cell: Cell, root: Path) -> dict[str, Number]:
    """All numbers beside that of a cell, by measure.

    Raises:
        UserError: if the file is missing or damaged.
    """
    path = root / cell.score_path
    parts = {TRAINING: results.TRAINING, LATENCY: cell.timed_name}
    found = results.read(path, parts.get(cell.source, cell.split))
    if cell.source == LATENCY and not found:
        raise UserError(f"{path} is not a latency of {cell.timed_name}; {remedy(path)}")
    if cell.measure in ("l_target", "l_mple") and "target_bleu" in found:
        value = -beta_of(cell.setting) * (found["target_bleu"].value or 0.0)
        if cell.measure == "l_mple":
            held_out = results.read(path, VALIDATION)
            value += sum(held_out[name].value or 0.0 for name in ("l_nat", "l_input"))
        found[cell.measure] = Number(value)
    return found


def state(cell: Cell, root: Path) -> str:
    """The reason in the file of a cell why it has no number; otherwise empty.

    Raises:
        UserError: if the file is missing or damaged.
    """
    found = numbers(cell, root)
    relative = MEASURES[cell.measure].relative if cell.source == LATENCY else False
    number = found.get("latency" if relative else cell.measure)
    if number is not None or cell.source != SCORE:
        return "" if number is None else number.reason
    every: Any = {"system": "*", "seed": "*", "decoding": "*"}
    same = Score(run=cell.run, corpus=cell.corpus, split=cell.split, **every).path
    return (
        f"{NOT_RUN}: these scores are older than the measure; --forcerun {same} makes them "
        "again, from the same translations"
    )


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
