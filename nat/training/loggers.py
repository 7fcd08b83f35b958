"""Loggers that show a training in other programs while it goes on; they change no model.

Each is told the rows of the training curve: every validation, and the updates between two rows.
Packages are imported when a training begins, and only that of the logger that is chosen.
"""

import importlib
import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from nat.extras import extras_named
from nat.training.run import Run


class TrainingLogger(NamedTuple):
    """Functions that show values by name, such as `valid/loss`, after an update, and that end."""

    log: Callable[[Mapping[str, float], int], object] = lambda values, update: None
    close: Callable[[], object] = lambda: None


def _tensorboard(package: Any, run: Run, updates: int) -> TrainingLogger:
    """Event files; what a killed training has shown after its checkpoint is shown again."""
    writer = package.SummaryWriter(str(run.events), purge_step=updates + 1, flush_secs=20)

    def log(values: Mapping[str, float], update: int) -> None:
        for name, value in values.items():
            writer.add_scalar(name, value, update)

    return TrainingLogger(log, writer.close)


def _wandb(package: Any, run: Run, _updates: int) -> TrainingLogger:
    """A run that a resumed training goes on with."""
    there = package.init(
        project=os.environ.get("WANDB_PROJECT", "nat"),
        name=f"{run.name}, seed {run.seed}",
        id=run.exact_fingerprint,
        resume="allow",
        config=run.training.as_json(),
    )
    return TrainingLogger(lambda values, update: there.log(values, step=update), there.finish)


def _mlflow(package: Any, run: Run, _updates: int) -> TrainingLogger:
    """A run of the server that MLflow's own variables name; a resumed training is another one."""
    package.start_run(run_name=f"{run.name}, seed {run.seed}")
    package.log_dict(run.training.as_json(), "training.json")
    log = package.log_metrics
    return TrainingLogger(lambda values, update: log(values, step=update), package.end_run)


LOGGERS = {
    "tensorboard": (_tensorboard, "torch.utils.tensorboard"),
    "wandb": (_wandb, "wandb"),
    "mlflow": (_mlflow, "mlflow"),
}
"""Functions that open a logger, and the modules that they use."""


def opened(run: Run, updates: int) -> TrainingLogger:
    """The logger that the configuration names, of a training after so many updates.

    Raises:
        UserError: if its package is not installed.
    """
    if run.logger is None:
        return TrainingLogger()
    open_logger, module = LOGGERS[run.logger]
    with extras_named():
        return open_logger(importlib.import_module(module), run, updates)
