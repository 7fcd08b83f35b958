"""Starts fairseq's own training program inside this process."""

import logging
import os
from contextlib import nullcontext
from pathlib import Path

import torch
from fairseq import options, trainer
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.distributed import utils as distributed
from fairseq_cli import train as program
from omegaconf import DictConfig

from nat.errors import UserError, refusal
from nat.fairseq_plugin.criterion import Diverged
from nat.fairseq_plugin.task import NO_METRIC, BatchTooLarge, Finished
from nat.training.run import RESTORE, RUN_FILE, Run

NEVER = 10**9
"""Interval in epochs: fairseq must save and validate by updates only."""

CHECKPOINTS = 2
"""Complete checkpoints on disk: if the newest is damaged, the one before it is used."""


def train(run: Run) -> None:
    """Train until the run is finished.

    Args:
        run: what to train; its folder of checkpoints, prepared by `nat.jobs.train`, holds
            everything that is read and written.

    Raises:
        UserError: if the loss is not finite, a batch does not fit the device's memory, or
            a checkpoint cannot be written.
    """
    folder = Path(run.checkpoints)
    # Before fairseq tells of a gradient that is not finite, it searches for its origin, with hooks
    # that take modules with tensors as outputs only; ours have others.
    trainer.NanDetector = nullcontext
    parser = options.get_training_parser()
    arguments = options.parse_args_and_arch(parser, input_args=_arguments(run, folder))
    try:
        distributed.call_main(convert_namespace_to_omegaconf(arguments), _main)
    except (Diverged, FloatingPointError) as error:
        raise UserError(
            f"{run.name}: the loss or its gradient is not finite; use a lower "
            "'learning_rate', more 'warmup_updates' or a 'clip_norm' in the recipe"
        ) from error
    except (BatchTooLarge, torch.OutOfMemoryError) as error:
        raise UserError(
            f"{run.name}: a batch of {run.tokens_per_batch:,} tokens does not fit the memory of "
            "the device; set a lower 'tokens_per_device' in the scale"
        ) from error
    except (OSError, RuntimeError) as error:
        refused = _refused_write(error)
        if refused is None:
            raise
        raise UserError(f"cannot write to {run.checkpoints}: {refusal(refused)}") from error
    finally:
        for leftover in (*folder.glob("crash.pt"), *folder.glob("*.tmp")):
            leftover.unlink(missing_ok=True)


def _main(configuration: DictConfig) -> None:
    for name in ("fairseq", "fairseq_cli", "valid", "train", "train_inner"):
        logging.getLogger(name).setLevel(logging.INFO)
    program.logger.addFilter(_is_no_namespace)
    try:
        program.main(configuration)
    except Finished:
        return
    raise RuntimeError("fairseq ended the training before its last update")


def _is_no_namespace(record: logging.LogRecord) -> bool:
    """Drops the line with every option of fairseq; `training.json` has those that are set."""
    return not isinstance(record.msg, DictConfig)


def _refused_write(error: BaseException | None) -> OSError | None:
    """The error of the file system; torch and fairseq raise further errors after it."""
    while error is not None and not isinstance(error, OSError):
        error = error.__context__
    return error


def _arguments(run: Run, folder: Path) -> list[str]:
    recipe, lengths = run.recipe, run.lengths
    on_gpu = torch.cuda.is_available()
    warmup = lengths.warmup_updates
    values = {
        "task": "nat",
        "run": folder / RUN_FILE,
        "arch": "nat",
        "criterion": "nat",
        "seed": run.seed,
        "max-tokens": run.tokens_per_batch,
        "update-freq": run.accumulation,
        "max-update": lengths.updates,
        "optimizer": "adam",
        "adam-betas": repr(tuple(recipe.betas)),
        "adam-eps": recipe.epsilon,
        "weight-decay": recipe.weight_decay,
        "clip-norm": recipe.clip_norm,
        "lr": recipe.learning_rate,
        "lr-scheduler": recipe.schedule,
        # Without warm-up the rate decreases from its full value: lr / sqrt(update).
        "warmup-updates": max(warmup, 1),
        "save-dir": folder,
        "restore-file": folder / RESTORE,
        "save-interval": NEVER,
        "save-interval-updates": lengths.save_every,
        "keep-interval-updates": CHECKPOINTS,
        "validate-interval": NEVER,
        "validate-interval-updates": lengths.validate_every,
        "best-checkpoint-metric": NO_METRIC,
        "train-subset": "train",
        "valid-subset": "valid",
        "required-batch-size-multiple": 1,
        "num-workers": 0,
        "data-buffer-size": 10 if on_gpu else 0,
        # reduces gradients after the backward pass, so methods may call the model several times
        "ddp-backend": "legacy_ddp",
        "log-format": "simple",
        "log-interval": 100,
        "distributed-world-size": run.devices,
    }
    if run.events is not None:
        values["tensorboard-logdir"] = run.events
    if recipe.schedule == "inverse_sqrt":
        rate = recipe.learning_rate
        values["warmup-init-lr"] = min(1e-7, rate) if warmup else rate
    flags = [
        "--no-epoch-checkpoints",
        "--no-last-checkpoints",
        "--no-progress-bar",
        "--ignore-unused-valid-subsets",
    ]
    if not on_gpu:
        flags.append("--cpu")
    if run.devices > 1:  # explicit, because fairseq's default needs GPUs
        values |= {
            "distributed-init-method": "env://",
            "distributed-rank": int(os.environ["RANK"]),
            "distributed-backend": "nccl" if on_gpu else "gloo",
            # the one that `nat.jobs.launch` chose, which a process may be the only one to see
            "device-id": torch.cuda.current_device() if on_gpu else 0,
        }
        # by default fairseq sends a checkpoint from one process to the others, and torch, which
        # loads weights only, refuses it
        flags += ["--distributed-no-spawn", "--load-checkpoint-on-all-dp-ranks"]
    return [f"--{name}={value}" for name, value in values.items()] + flags
