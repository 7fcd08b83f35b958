"""Starts fairseq's own training program inside this process."""

import errno
import logging
import os
import warnings
from contextlib import nullcontext
from pathlib import Path

import torch
from fairseq import options, trainer
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.distributed import utils as distributed
from fairseq_cli import train as program
from omegaconf import DictConfig

from nat.checksums import is_of_memory
from nat.errors import UserError, refusal
from nat.fairseq_plugin.components import ON_CPU, ON_GPU, Diverged
from nat.fairseq_plugin.task import NO_METRIC, Finished
from nat.training.run import Run
from nat.transformer.attention import choose_kernels

REFUSALS = (errno.EACCES, errno.EDQUOT, errno.EFBIG, errno.ENOSPC, errno.EROFS)
NEVER = 10**9  # interval in epochs: fairseq must save and validate by updates only
CHECKPOINTS_ON_DISK = 2  # if the newest is damaged, the one before it is used


def train(run: Run) -> None:
    """Train until the run is finished, in the folder that `nat.jobs.train` has prepared.

    Raises:
        UserError: if the loss is not finite, a batch does not fit the device's memory, or
            a checkpoint cannot be written.
    """
    prepare()
    for name in ("fairseq", "fairseq_cli", "valid", "train", "train_inner"):
        logging.getLogger(name).setLevel(logging.INFO)
    # without the line with every option of fairseq; `training.json` has those that are set
    program.logger.addFilter(lambda record: not isinstance(record.msg, DictConfig))
    try:
        distributed.call_main(_configuration(run), _main)
    except (Diverged, FloatingPointError) as error:
        raise UserError(
            f"{run.name}: the loss or its gradient is not finite; use a lower "
            "'learning_rate', more 'warmup_updates' or a 'clip_norm' in the recipe"
        ) from error
    except (MemoryError, OSError, RuntimeError) as error:
        if is_of_memory(error):
            raise UserError(
                f"{run.name}: a batch of {run.tokens_per_batch:,} tokens does not fit the memory "
                "of the device; set a lower 'tokens_per_device' in the scale"
            ) from error
        if (refused := _refused_write(error)) is None:
            raise
        raise UserError(f"cannot write to {run.checkpoints}: {refusal(refused)}") from error
    finally:
        for leftover in (run.folder / "crash.pt", *run.folder.glob("checkpoint_*.tmp")):
            leftover.unlink(missing_ok=True)


def prepare() -> None:
    """Prepare this process for any training by fairseq."""
    # Before fairseq tells of a gradient that is not finite, it searches for its origin, with hooks
    # that take modules with tensors as outputs only; ours have others.
    trainer.NanDetector = nullcontext
    if torch.cuda.is_available():
        choose_kernels()


def _main(configuration: DictConfig) -> None:
    try:
        program.main(configuration)
    except Finished:
        return
    raise RuntimeError("fairseq ended the training before its last update")


def _refused_write(error: BaseException | None) -> OSError | None:
    """The error of the file system after which torch and fairseq have raised others, if any."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in REFUSALS:
            return error
        error = error.__context__
    return None


def command(run: Run) -> list[str]:
    """The words that start the same training with fairseq's own program, on one device.

    They are for the folder of checkpoints that `nat.jobs.train` has prepared.
    """
    return ["fairseq-train", *_words(run), "--user-dir", str(Path(__file__).parent)]


def _configuration(run: Run) -> DictConfig:
    """The options as fairseq's program reads them."""
    with warnings.catch_warnings(action="ignore"):  # of what fairseq uses of hydra
        given = options.parse_args_and_arch(options.get_training_parser(), _words(run))
        return convert_namespace_to_omegaconf(given)


def _words(run: Run) -> list[str]:
    """The command line of a training: its folder, and the options that are set."""
    recipe, lengths, folder = run.recipe, run.lengths, run.folder
    on_gpu = torch.cuda.is_available()
    warmup, rate = lengths.warmup_updates, recipe.learning_rate
    chosen = {
        **dict.fromkeys(("task", "arch", "criterion"), "nat"),
        "seed": run.seed,
        "cpu": not on_gpu,
        "log_format": "simple",
        "max_tokens": run.tokens_per_batch,
        "data_buffer_size": 10 if on_gpu else 0,
        "validate_interval": NEVER,
        "validate_interval_updates": lengths.validate_every,
        "clip_norm": recipe.clip_norm,
        "update_freq": run.accumulation,
        "max_update": lengths.updates,
        "save_dir": folder,
        "restore_file": next(iter(run.saved.values()), folder / "none"),
        "save_interval": NEVER,
        "save_interval_updates": lengths.save_every,
        "keep_interval_updates": CHECKPOINTS_ON_DISK,
        "no_epoch_checkpoints": True,
        "no_last_checkpoints": True,
        "best_checkpoint_metric": NO_METRIC,
        # reduces gradients after the backward pass, so methods may call the model several times
        "ddp_backend": "legacy_ddp",
        "distributed_world_size": run.devices,
        "optimizer": ON_GPU if on_gpu else ON_CPU,
        "adam_betas": tuple(recipe.betas),
        "adam_eps": recipe.epsilon,
        "weight_decay": recipe.weight_decay,
        "lr": rate,
        "lr_scheduler": "polynomial_decay" if recipe.schedule == "linear" else recipe.schedule,
        "warmup_updates": max(warmup, 1),
    }
    if recipe.schedule == "inverse_sqrt":
        # without warm-up the rate decreases from its full value: lr / sqrt(update)
        chosen["warmup_init_lr"] = min(1e-7, rate) if warmup else rate
    elif recipe.schedule == "linear":
        chosen["total_num_update"] = lengths.updates  # after which the rate is 0
    if run.devices > 1:  # explicit, because fairseq's default needs GPUs
        chosen |= {
            "distributed_init_method": "env://",
            "distributed_rank": os.environ["RANK"],
            "distributed_backend": "nccl" if on_gpu else "gloo",
            # the one that `nat.jobs.launch` chose, which a process may be the only one to see
            "device_id": torch.cuda.current_device() if on_gpu else 0,
            "distributed_no_spawn": True,
            # by default fairseq sends a checkpoint from one process to the others, and torch,
            # which loads weights only, refuses it
            "load_checkpoint_on_all_dp_ranks": True,
        }
    words = [run.checkpoints]
    for name, value in chosen.items():
        if value is not False:
            words.append(f"--{name.replace('_', '-')}")
            words += [] if value is True else [str(value)]
    return words
