"""What trainings left behind, for reports: their curves, their length, and whether they held."""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nat.checksums import verified
from nat.errors import UserError
from nat.files import read_json
from nat.nested import at

FIFTHS = 5
"""Parts of a training that shares of candidates are given for."""

_SHARE = re.compile(r"candidate_(\d)_share(?:_fifth_(\d))?")
_FROM = "from_"
"""Beginning of the columns of a curve with the shares of candidates."""

LOST = 0.5
"""A training has collapsed if its validation BLEU ends below this share of its best, that of the
weights it started from included."""

COUNTS = {
    "parameters": "parameters",
    "epochs": "epochs",
    "training_tokens": "tokens",
    "training_seconds": "seconds",
    "model_dim": "training.architecture.model_dim",
    "ffn_dim": "training.architecture.ffn_dim",
    "layers": "training.architecture.decoder_layers",
    "heads": "training.architecture.heads",
    "dropout": "training.recipe.dropout",
}
"""Measures of a training, and their keys in `training.json`."""


@dataclass(frozen=True)
class TrainingRun:
    """A finished training.

    Attributes:
        updates: until it ended.
        stopped_early: whether it ended before the last update of its recipe, for lack of
            improvement.
        best: best value of its validation metric.
        metric: `bleu` or `loss`.
        validations: (update, validation BLEU), in order; none where the metric is the loss. A
            training that starts from a model has its validation BLEU at update 0.
        counts: what else was counted, by measure, as in `COUNTS`.
        shares: of a training that chooses among candidate texts, in order: of each row of the curve
            the share of each candidate in what was learned, 0 to 1.
    """

    updates: int
    stopped_early: bool
    best: float
    metric: str
    validations: tuple[tuple[int, float], ...]
    counts: Mapping[str, float] = field(default_factory=dict)
    shares: tuple[tuple[float, ...], ...] = ()

    @property
    def collapsed(self) -> bool:
        """Whether the model was lost on the way."""
        if not self.validations:
            return False
        best = max(bleu for _, bleu in self.validations)
        return self.validations[-1][1] < LOST * best

    @property
    def epochs_held(self) -> float | None:
        """Epochs until the model was lost, all of them if it was not; `None` if not counted."""
        epochs = self.counts.get("epochs")
        if epochs is None or not self.collapsed:
            return epochs
        best = max(bleu for _, bleu in self.validations)
        held = [number for number, (_, bleu) in enumerate(self.validations) if bleu >= LOST * best]
        update, _ = self.validations[held[-1] + 1]
        return epochs * update / self.updates

    def _share(self, candidate: int, fifth: int | None) -> float | None:
        """Share of a candidate, counted from 1, in the training or in a fifth of it, percent."""
        rows = self.shares
        if fifth is not None:
            ends = [len(rows) * part // FIFTHS for part in (fifth - 1, fifth)]
            rows = rows[slice(*ends)]
        if not rows or candidate > len(rows[0]):
            return None
        return 100 * sum(row[candidate - 1] for row in rows) / len(rows)

    def measure(self, name: str) -> float | None:
        """The number behind a measure of source `training`; `None` if it was not measured.

        Raises:
            ValueError: if there is no such measure.
        """
        if name == "updates":
            return float(self.updates)
        if name == "collapsed":
            return float(self.collapsed)
        if name == "best_validation_bleu":
            return max((bleu for _, bleu in self.validations), default=None)
        if name == "epochs_held":
            return self.epochs_held
        if name == "million_parameters":
            count = self.counts.get("parameters")
            return None if count is None else count / 1e6
        if name in COUNTS:
            return self.counts.get(name)
        if found := _SHARE.fullmatch(name):
            return self._share(int(found[1]), None if found[2] is None else int(found[2]))
        raise ValueError(f"'{name}' is not a measure of a training")


def read_run(path: Path) -> TrainingRun:
    """Read `training.json` and, beside it, `training.csv`.

    Raises:
        UserError: if one of them is missing or damaged.
    """
    report = read_json(path)
    curve = path.with_suffix(".csv")
    try:
        with verified(curve).open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        return TrainingRun(
            updates=int(report["updates"]),
            stopped_early=int(report["updates"]) < int(at(report, "lengths.updates") or 0),
            best=float(report["validation"]["best"]),
            metric=str(report["validation"]["metric"]),
            validations=tuple(
                (int(row["update"]), float(row["bleu"])) for row in rows if row.get("bleu")
            ),
            counts={
                name: float(value)
                for name, key in COUNTS.items()
                if (value := at(report, key)) is not None
            },
            shares=tuple(
                shares
                for row in rows
                if (shares := tuple(float(row[key]) for key in row if _is_share(key, row[key])))
            ),
        )
    except FileNotFoundError as error:
        raise UserError(f"{curve} does not exist; train again") from error
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path} or {curve.name} is damaged; remove it and train again") from error


def _is_share(key: str, value: str) -> bool:
    return key.startswith(_FROM) and bool(value)


def chain(runs: Sequence[TrainingRun]) -> list[tuple[int, float]]:
    """Validation BLEU over the updates of trainings that start from each other, in one curve."""
    points: list[tuple[int, float]] = []
    done = 0
    for run in runs:
        points += [(done + update, bleu) for update, bleu in run.validations if update or not done]
        done += run.updates
    return points
