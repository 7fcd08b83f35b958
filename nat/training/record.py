"""The record of a training: its curve, its best validations, and its counts.

The record is part of every checkpoint, so that a resumed training ends with the same curve and the
same choice of weights as one that was never stopped.
"""

import csv
import io
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

ROWS = 200
"""Rows of the training curve, validations aside."""

FIRST_COLUMNS = ("update", "split", "seconds", "loss", "nll", "length")
LAST_COLUMNS = ("bleu", "learning_rate", "gradient_norm", "tokens_per_second")

NO_LOSSES = (
    *("positions", "tokens", "sentences", "updates"),
    *("training_seconds", "gradient_norm", "learning_rate"),
)
"""Sums of the record that are not losses."""


@dataclass
class Record:
    """The state of a training's bookkeeping; every field is JSON-able.

    Attributes:
        updates: updates done.
        tokens: target tokens seen.
        seconds: wall time, without time lost when a run was killed.
        training_seconds: wall time of updates.
        rows: of the training curve.
        open: sums since the last row: losses (nats), positions, tokens, and so on.
        candidates: (update, validation metric) whose weights are kept for the mean.
        best: best value of the validation metric, None before the first that is a finite number.
        best_update: where it was reached.
        since_best: validations since then.
        validations: number of validations.
    """

    updates: int = 0
    tokens: int = 0
    seconds: float = 0.0
    training_seconds: float = 0.0
    rows: list[dict[str, Any]] = field(default_factory=list)
    open: dict[str, float] = field(default_factory=dict)
    candidates: list[tuple[int, float]] = field(default_factory=list)
    best: float | None = None
    best_update: int = 0
    since_best: int = 0
    validations: int = 0

    def state(self) -> dict[str, Any]:
        """All fields, for a checkpoint."""
        return asdict(self)

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "Record":
        """The record with the fields `state`; checkpoints of earlier versions have others, too."""
        known = {each.name: state[each.name] for each in fields(cls) if each.name in state}
        candidates = [(int(update), float(metric)) for update, metric in state["candidates"]]
        return cls(**{**known, "candidates": candidates})

    def add_update(self, sums: Mapping[str, float], learning_rate: float, norm: float) -> None:
        """Count one update.

        Args:
            sums: `loss` and its parts summed over positions (nats), `positions`, `tokens` (target
                tokens) and `training_seconds`.
            learning_rate: of this update.
            norm: of the gradient, before clipping.
        """
        self.updates += 1
        self.tokens += round(sums["tokens"])
        self.training_seconds += sums["training_seconds"]
        total = Counter(self.open)
        total.update(sums)
        total.update({"updates": 1, "gradient_norm": norm})
        self.open = {**total, "learning_rate": learning_rate}

    def close_row(self, every: int) -> None:
        """Add a row with the open sums to the curve after every `every` updates."""
        if self.updates % every:
            return
        sums = self.open
        self.rows.append(
            {
                "update": self.updates,
                "split": "train",
                "seconds": self.seconds,
                **per_position(sums),
                "learning_rate": sums["learning_rate"],
                "gradient_norm": sums["gradient_norm"] / sums["updates"],
                "tokens_per_second": sums["tokens"] / max(sums["training_seconds"], 1e-9),
            }
        )
        self.open = {}

    def add_validation(
        self, values: Mapping[str, float], metric: str, keep: int, by: str, saved: bool
    ) -> bool:
        """Record a validation and decide whether to keep the weights of this update.

        Args:
            values: losses per position (nats) and `bleu` where it was measured.
            metric: `bleu` (higher is better) or `loss` (lower is better).
            keep: how many weights enter the mean.
            by: `best`, those with the best metric (the later of equal ones), or `last`.
            saved: whether this update is a checkpoint's; only such weights are kept, and only if
                the metric is a finite number.

        Returns:
            Whether the weights of this update are to be kept.
        """
        row = {"update": self.updates, "split": "valid", "seconds": self.seconds, **values}
        self.rows.append(row)
        self.validations += 1
        value = values[metric]
        # so that more is better
        merit = value if metric == "bleu" else -value
        best = -math.inf if self.best is None else self.best * (1 if metric == "bleu" else -1)
        finite = math.isfinite(merit)
        if finite and merit > best:
            self.best, self.best_update, self.since_best = value, self.updates, 0
        else:
            self.since_best += 1
        if not (saved and finite):
            return False
        candidates = [*self.candidates, (self.updates, merit)]
        if by == "best":
            candidates.sort(key=lambda candidate: (candidate[1], candidate[0]))
        self.candidates = candidates[-keep:]
        return any(update == self.updates for update, _ in self.candidates)

    @property
    def last_bleu(self) -> float | None:
        """BLEU of the last validation; None if it was not measured."""
        found = [row.get("bleu") for row in self.rows if row["split"] == "valid"]
        return found[-1] if found else None

    @property
    def last_infeasible(self) -> float:
        """Tokens of targets that did not fit their canvas, per position that carried loss.

        In the last validation; zero where the objective has no canvas of its own.
        """
        found = [row.get("infeasible", 0.0) for row in self.rows if row["split"] == "valid"]
        return found[-1] if found else 0.0

    def csv(self) -> str:
        """The curve as comma-separated values with a header."""
        found = dict.fromkeys(key for row in self.rows for key in row)
        middle = [key for key in found if key not in (*FIRST_COLUMNS, *LAST_COLUMNS)]
        columns = [key for key in (*FIRST_COLUMNS, *middle, *LAST_COLUMNS) if key in found]
        text = io.StringIO()
        writer = csv.DictWriter(text, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: _shown(value) for key, value in row.items()} for row in self.rows)
        return text.getvalue()


def per_position(sums: Mapping[str, float]) -> dict[str, float]:
    """`loss` and its parts per position that carries loss, nats."""
    positions = max(sums["positions"], 1)
    return {name: value / positions for name, value in sums.items() if name not in NO_LOSSES}


def _shown(value: Any) -> Any:
    return f"{value:.6g}" if isinstance(value, float) else value
