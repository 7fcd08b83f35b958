"""Measures of a training: its length, its validations, and whether the model held."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nat.checksums import reading
from nat.measures.known import TRAINING
from nat.options import at

FIFTHS = 5  # parts of a training that shares of candidates are given for
_FROM = "from_"  # beginning of the columns of a curve with the shares of candidates

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


def with_measures(report: Mapping[str, Any], curve: Iterable[str]) -> dict[str, Any]:
    """Add the numbers that the lines of `training.csv` give to what `training.json` says."""
    rows = list(csv.DictReader(curve))
    counts = {name: at(report, key) for name, key in COUNTS.items()}
    updates, validated = int(report["updates"]), _validations(rows)
    best = max((bleu for _, bleu in validated), default=None)
    held = [best is None or bleu >= LOST * best for _, bleu in validated]
    collapsed = bool(held) and not held[-1]
    epochs = counts["epochs"]
    if collapsed and epochs is not None:
        lost_at, _ = validated[len(held) - held[::-1].index(True)]
        epochs = epochs * lost_at / updates
    values = {
        **counts,
        "updates": updates,
        "best_validation_bleu": best,
        "collapsed": int(collapsed),
        "stopped_early": int(updates < int(at(report, "lengths.updates") or 0)),
        "epochs_held": epochs,
        "million_parameters": counts["parameters"] and counts["parameters"] / 1e6,
        **_shares(rows),
    }
    numbers = {name: {"value": value} for name, value in values.items() if value is not None}
    return {"measures": {TRAINING: numbers}, **report}


def validations(curve: Path) -> list[tuple[int, float]]:
    """Read updates and validation BLEU from `training.csv`; none where the metric is the loss.

    A training that starts from a model has its BLEU at update 0. Raises as `reading`.
    """
    with reading(curve), curve.open(encoding="utf-8", newline="") as file:
        return _validations(csv.DictReader(file))


def _validations(rows: Iterable[Mapping[str, str]]) -> list[tuple[int, float]]:
    return [(int(row["update"]), float(row["bleu"])) for row in rows if row.get("bleu")]


def _shares(rows: Sequence[Mapping[str, str]]) -> dict[str, float]:
    """Of a training that chooses among candidate texts: the share of each candidate, counted from
    1, in what was learned, in the training and in each fifth of it that has a row, percent."""
    columns = ([row[key] for key in row if key.startswith(_FROM) and row[key]] for row in rows)
    shares = [[*map(float, each)] for each in columns if each]
    ends = [len(shares) * part // FIFTHS for part in range(FIFTHS + 1)]
    parts = {f"_fifth_{part}": shares[ends[part - 1] : ends[part]] for part in range(1, FIFTHS + 1)}
    return {
        f"candidate_{number}_share{part}": 100 * sum(column) / len(column)
        for part, chosen in ({"": shares} | parts).items()
        for number, column in enumerate(zip(*chosen, strict=True), 1)
    }
