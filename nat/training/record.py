"""The record of a training: its curve, its best validations, and its counts.

The record is part of every checkpoint, so that a resumed training ends with the same curve and the
same choice of weights as one that was never stopped.
"""

import csv
import io
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

ROWS = 200
"""Rows of the training curve, validations aside."""
MOST_INFEASIBLE = 0.1
"""Tokens of targets without an alignment, for each position that carries loss, above which a
training is flagged."""

FIRST_COLUMNS = ("update", "split", "seconds", "loss", "nll", "length")
LAST_COLUMNS = ("bleu", "learning_rate", "gradient_norm", "tokens_per_second")
NO_LOSSES = ("positions", "tokens", "updates", "training_seconds", "gradient_norm")
"""Sums of the record that are not losses."""


@dataclass
class Record:
    """The state of a training's bookkeeping; every field is JSON-able."""

    updates: int = 0
    tokens: int = 0  # of targets
    seconds: float = 0.0  # wall time, without time lost when a run was killed
    training_seconds: float = 0.0  # wall time of updates
    rows: list[dict[str, Any]] = field(default_factory=list)  # of the curve
    open: dict[str, float] = field(default_factory=dict)  # sums since the last row
    candidates: list[tuple[int, float]] = field(default_factory=list)
    """Update and validation metric (more is better) of the weights that are kept for the mean."""
    best: float | None = None  # validation metric; None before the first finite number
    best_update: int = 0
    since_best: int = 0  # validations since then
    validations: int = 0
    without_gradient: int = 0  # batches, which others have replaced

    def add_update(
        self, sums: Mapping[str, float], learning_rate: float, norm: float, row_every: int
    ) -> dict[str, Any]:
        """Count one update; return the row of the curve so far, which is one of `row_every`.

        `sums` are `loss` and its parts summed over positions (nats), `positions`, `tokens` of
        targets and `training_seconds`; `norm` is that of the gradient, before clipping.
        """
        self.updates += 1
        self.tokens += round(sums["tokens"])
        self.training_seconds += sums["training_seconds"]
        total = Counter(self.open)
        total.update({**sums, "updates": 1, "gradient_norm": norm})
        self.open = dict(total)
        row = {
            **self._row("train", per_position(total)),
            "learning_rate": learning_rate,
            "gradient_norm": total["gradient_norm"] / total["updates"],
            "tokens_per_second": total["tokens"] / max(total["training_seconds"], 1e-9),
        }
        if self.updates % row_every == 0:
            self.rows.append(row)
            self.open = {}
        return row

    def _row(self, split: str, values: Mapping[str, float]) -> dict[str, Any]:
        return {"update": self.updates, "split": split, "seconds": self.seconds, **values}

    def add_validation(
        self, values: Mapping[str, float], metric: str, keep: int, by: str, saved: bool
    ) -> bool:
        """Record a validation; return True if the weights of this update are to be kept.

        Args:
            values: losses per position (nats) and `bleu` where it was measured.
            metric: `bleu` (higher is better) or `loss` (lower is better).
            keep: how many weights enter the mean.
            by: `best`, those with the best metric (the later of equal ones), or `last`.
            saved: whether this update is a checkpoint's; only such weights are kept, and only if
                the metric is a finite number.
        """
        self.rows.append(self._row("valid", values))
        self.validations += 1
        sign = 1 if metric == "bleu" else -1  # so that more is better
        value = values[metric]
        finite = math.isfinite(value)
        if finite and (self.best is None or sign * value > sign * self.best):
            self.best, self.best_update, self.since_best = value, self.updates, 0
        else:
            self.since_best += 1
        if not (saved and finite):
            return False
        candidates = [*self.candidates, (self.updates, sign * value)]
        if by == "best":
            candidates.sort(key=lambda candidate: (candidate[1], candidate[0]))
        self.candidates = candidates[-keep:]
        return self.updates in [update for update, _ in self.candidates]

    def flags(self, pairs: Mapping[str, Any]) -> list[str]:
        """Reasons to suspect a finished training, each as the end of a sentence.

        `pairs` of its text says how many were `used`, and `left_out` by reason.
        """
        last: dict[str, Any] = next(
            (row for row in reversed(self.rows) if row["split"] == "valid"), {}
        )
        flags = []
        if last.get("bleu") == 0:
            flags.append("the last validation of its training has BLEU 0")
        left_out = sum(pairs["left_out"].values())
        if left_out > pairs["used"]:
            flags.append(
                f"its training left out {left_out:,} of {left_out + pairs['used']:,} pairs, see "
                "key 'pairs' of training.json"
            )
        if self.without_gradient:
            flags.append(
                f"{self.without_gradient:,} of its batches had no gradient, so others came"
            )
        if last.get("infeasible", 0.0) > MOST_INFEASIBLE:
            flags.append(
                "targets of its text that do not fit their canvas are not learned from, in "
                f"validation {last['infeasible']:.2f} such tokens for each one that is learned "
                "from; see 'upsample' of the system"
            )
        return flags

    def csv(self) -> str:
        """The curve as comma-separated values with a header."""
        keys = dict.fromkeys(key for row in self.rows for key in row)
        middle = [key for key in keys if key not in (*FIRST_COLUMNS, *LAST_COLUMNS)]
        columns = [key for key in (*FIRST_COLUMNS, *middle, *LAST_COLUMNS) if key in keys]
        text = io.StringIO()
        writer = csv.DictWriter(text, columns, lineterminator="\n")
        writer.writeheader()
        for row in self.rows:
            shown = {k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()}
            writer.writerow(shown)
        return text.getvalue()


def per_position(sums: Mapping[str, float]) -> dict[str, float]:
    """`loss` and its parts per position that carries loss, nats."""
    positions = max(sums["positions"], 1)
    return {name: value / positions for name, value in sums.items() if name not in NO_LOSSES}
