"""Training a system from its inputs to `model.pt`, `training.json` and `training.csv`.

A recipe with the key `keep` also gives the folder `kept` with a model for each of its names: the
weights after that update, without averaging. Other systems may start from them.

Checkpoints are in a folder beside these files. They belong to one configuration and one set of
input data; those of another are discarded. They are removed when the model is finished.
"""

import errno
import fcntl
import hashlib
import importlib.metadata
import os
import platform
import re
import shutil
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from nat.artifacts import Model
from nat.configuration import Configuration, differences
from nat.configuration.lengths import counts_epochs, in_updates
from nat.configuration.models import Training
from nat.data.splits import sides
from nat.data.vocabulary import Vocabulary
from nat.errors import UserError
from nat.files import atomic_directory, atomic_write_text, read_json, write_json
from nat.jobs.launch import leads, together, wait_for_all, world_size
from nat.jobs.tune_gamma import tuned_gamma
from nat.machine import processor_name
from nat.program import Progress
from nat.training.averaging import average, kept_path, weights_path
from nat.training.model_file import build_model, save_model
from nat.training.record import Record
from nat.training.run import CURVE, FINISHED, KEPT, RESTORE, RUN_FILE, Run, accumulation
from nat.transformer.linear import has_bfloat16_products
from nat.transformer.model import Transformer

PACKAGES = ("torch", "fairseq-fixed", "numpy", "sacrebleu", "pydantic")
SHOWN = 3
"""Most changes of the configuration that a message lists."""

SECONDS_FOR_OTHERS = 300
"""How long a Slurm job waits for another process that is still training in its folder."""

_CHECKPOINT = re.compile(r"checkpoint_\d+_(\d+)\.pt")


def train_system(configuration: Configuration, model: Model) -> None:
    """Train a system, or resume its training, until `model.pt` is written.

    `training.json`, `training.csv` and, if the recipe keeps checkpoints, the folder `kept` appear
    beside it.

    Raises:
        UserError: if an input is missing, the training diverges or a file cannot be written.
    """
    cannot = configuration.cannot_train(model.system)
    if cannot:
        raise UserError(
            f"{configuration.file_of('systems', model.system)}: {cannot}; install fairseq with a "
            "compiler and without READTHEDOCS (envs/fairseq.txt), or leave the system out"
        )
    run, output = describe(configuration, model), Path(model.path)
    progress = Progress(f"train {run.name}", run.updates, "updates")
    if _is_written(run, output):
        if leads():
            shutil.rmtree(run.checkpoints, ignore_errors=True)
            progress.say(f"is finished already, see {output}")
        return
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", configuration.threads)))
    with _alone(output.parent, progress) if leads() else nullcontext(), together():
        if leads():
            prepare_checkpoints(run, progress)
        wait_for_all()
        if not _is_trained(run):
            # fairseq takes seconds to import
            from nat.fairseq_plugin.launcher import train

            train(run)
        if leads():
            finish(run, output, progress)


def describe(configuration: Configuration, model: Model) -> Run:
    """Find the inputs of a training.

    Raises:
        UserError: if one is missing.
    """
    training = configuration.training(model.corpus, model.system)
    inputs, seed = model.inputs_of_training(configuration), model.seed
    source, target = sides(configuration.corpus(model.corpus))
    raw = Path(inputs.corpus.path)
    train = (
        raw / f"train.{source}",
        *(Path(text.path) / f"train.{target}" for text in inputs.texts),
    )
    valid = (raw / f"valid.{source}", raw / f"valid.{target}")
    consulted = (inputs.start, inputs.teacher)
    start, teacher = (None if each is None else each.weights for each in consulted)
    pairwise_bleu = None if inputs.comparison is None else inputs.comparison.path
    gamma = training.text.regulariser.get("gamma")
    if inputs.gamma is not None:
        gamma = tuned_gamma(Path(inputs.gamma.path))
    devices = world_size()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    precision = training.precision
    bfloat16 = has_bfloat16_products(device) if precision == "auto" else precision == "bf16"
    batches, tokens = accumulation(
        training.recipe.batch_tokens, devices, configuration.tokens_per_device
    )
    files = [raw / "vocabulary.txt"] + [
        Path(f"{prefix}.{part}.npy")
        for prefix in (*train, *valid)
        for part in ("tokens", "offsets")
    ]
    others = [Path(path) for path in (pairwise_bleu, start, teacher) if path is not None]
    checksums = [_sha256(path) for path in [*files, *others]]
    tuned = [] if inputs.gamma is None else [gamma]
    fingerprint = configuration.fingerprint([training.as_json(), seed, checksums, *tuned])
    name = f"{model.system} on {model.corpus}"
    updates_per_epoch = None
    if counts_epochs(training.recipe):
        # fairseq takes seconds to import
        from nat.fairseq_plugin.dataset import batches_per_epoch

        shape = _shape(training, raw / "vocabulary.txt")
        longest = (shape.longest_source, shape.longest_target)
        each = batches_per_epoch([str(prefix) for prefix in train], longest, tokens, name)
        updates_per_epoch = each / (batches * devices)
    return Run(
        name=name,
        training=training,
        lengths=in_updates(training.recipe, updates_per_epoch, name),
        seed=seed,
        train=tuple(str(prefix) for prefix in train),
        pairwise_bleu=pairwise_bleu,
        gamma=gamma,
        valid=(str(valid[0]), str(valid[1])),
        vocabulary=str(raw / "vocabulary.txt"),
        init_from=start,
        teacher=teacher,
        checkpoints=str(Path(model.path).with_name("checkpoints")),
        bfloat16=bfloat16,
        devices=devices,
        accumulation=batches,
        tokens_per_batch=tokens,
        fingerprint=fingerprint,
        exact_fingerprint=configuration.fingerprint(
            [fingerprint, bfloat16, devices, batches, tokens]
        ),
    )


def _shape(training: Training, vocabulary: Path) -> Transformer:
    """The model of a training without its numbers."""
    with torch.device("meta"):
        return build_model(training, len(Vocabulary.load(vocabulary)))


@contextmanager
def _alone(folder: Path, progress: Progress) -> Iterator[None]:
    """Prevent other processes from training in the same folder.

    A training survives a Snakemake that was killed, and on a cluster, for a while, a node that was
    given up. The operating system releases the lock when the process ends for any reason. On file
    systems without locks nothing is checked.
    """
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    patience = SECONDS_FOR_OTHERS if "SLURM_JOB_ID" in os.environ else 0
    try:
        try:
            _lock(handle, patience, progress)
        except BlockingIOError as error:
            raise UserError(
                f"another process is training in {folder}, perhaps one that a killed run left "
                "behind; wait for its end or stop it, then run again"
            ) from error
        except OSError as error:
            if error.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.EBADF, errno.ENOSYS):
                raise
        yield
    finally:
        os.close(handle)


def _lock(handle: int, patience: float, progress: Progress) -> None:
    """Lock a folder; raises `BlockingIOError` if another process has not released it in time."""
    until = time.monotonic() + patience
    told = False
    while True:
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                raise
        if not told:
            progress.say("waits for another process that is still training in its folder")
            told = True
        time.sleep(1)


def prepare_checkpoints(run: Run, progress: Progress) -> None:
    """Prepare the folder of checkpoints, with a link to the one to resume from.

    Those of another configuration or of other data are removed, as are damaged ones.
    """
    folder = Path(run.checkpoints)
    run_file = folder / RUN_FILE
    before = read_json(run_file) if run_file.exists() else {}
    if folder.exists() and before.get("exact_fingerprint") != run.exact_fingerprint:
        changes = differences(before.get("training", {}), run.training.as_json()) if before else []
        why = "; ".join(changes[:SHOWN]) or "other data, another seed, device or batch"
        shutil.rmtree(folder)
        progress.say(f"its old checkpoints do not fit ({why}): discarded")
    folder.mkdir(parents=True, exist_ok=True)
    run.write(run_file)
    for leftover in [*folder.glob("*.tmp"), *folder.glob(".*"), folder / RESTORE]:
        leftover.unlink(missing_ok=True)
    found = {
        int(match[1]): path
        for path in folder.iterdir()
        if (match := _CHECKPOINT.fullmatch(path.name))
    }
    for update in sorted(found, reverse=True):
        if _is_complete(found[update]):
            (folder / RESTORE).symlink_to(found[update].name)
            return
        found[update].unlink()
        progress.say(f"its checkpoint of update {update:,} is damaged: discarded")


def finish(run: Run, output: Path, progress: Progress) -> None:
    """Write the outputs of a finished training, then remove its checkpoints.

    `training.json` is written last, because it marks the outputs as complete.
    """
    folder = Path(run.checkpoints)
    finished = read_json(folder / FINISHED)
    record = Record.from_state(finished["record"])
    updates = [update for update, _ in record.candidates]
    weights = average([weights_path(folder, update) for update in updates])
    symbols = finished["vocabulary_size"]
    save_model(output, weights, run.training, symbols, record.updates)
    if run.keep:
        with atomic_directory(output.parent / KEPT) as kept:
            for name, update in run.keep.items():
                weights = average([kept_path(folder, update)])
                save_model(kept / f"{name}.pt", weights, run.training, symbols, update)
    atomic_write_text(output.parent / CURVE, record.csv())
    write_json(output.parent / "training.json", _report(run, record, finished))
    shutil.rmtree(folder)
    metric = {"bleu": "BLEU"}.get(run.metric, run.metric)
    progress.say(
        f"made {output} after {record.updates:,} updates, mean of {len(updates)} checkpoints; "
        f"best validation {metric} {record.best:.2f} at update {record.best_update:,}"
    )


def _report(run: Run, record: Record, finished: dict[str, Any]) -> dict[str, Any]:
    on_gpu = torch.cuda.is_available()
    batches = record.updates * run.accumulation * run.devices
    return {
        "fingerprint": run.fingerprint,
        "seed": run.seed,
        "parameters": finished["parameters"],
        "updates": record.updates,
        "epochs": round(batches / finished["batches_per_epoch"], 3),
        "tokens": record.tokens,
        "pairs": finished["pairs"],
        "lengths": asdict(run.lengths),
        "validation": {
            "metric": run.metric,
            "best": record.best,
            "best_update": record.best_update,
            "validations": record.validations,
        },
        **({} if run.gamma is None else {"gamma": run.gamma}),
        **({"balanced_weights": finished["balance"]} if finished.get("balance") else {}),
        "averaged_updates": sorted(update for update, _ in record.candidates),
        "seconds": round(record.seconds, 1),
        "update_seconds": round(record.training_seconds, 1),
        "tokens_per_second": round(record.tokens / max(record.training_seconds, 1e-9), 1),
        "precision": "bf16" if run.bfloat16 else "fp32",
        "device": torch.cuda.get_device_name() if on_gpu else processor_name(),
        "devices": run.devices,
        "batches_per_update_and_device": run.accumulation,
        "tokens_per_batch": run.tokens_per_batch,
        "threads": torch.get_num_threads(),
        "versions": {
            "python": platform.python_version(),
            **{package: importlib.metadata.version(package) for package in PACKAGES},
        },
        "training": run.training.as_json(),
    }


def _is_trained(run: Run) -> bool:
    """Whether the folder of checkpoints contains the end of this run, without its outputs."""
    folder = Path(run.checkpoints)
    if not (folder / FINISHED).exists() or not (folder / RUN_FILE).exists():
        return False
    return Run.read(folder / RUN_FILE).exact_fingerprint == run.exact_fingerprint


def _is_written(run: Run, output: Path) -> bool:
    report = output.parent / "training.json"
    kept = [output.parent / KEPT / f"{name}.pt" for name in run.keep]
    if not all(path.exists() for path in (output, output.parent / CURVE, report, *kept)):
        return False
    return bool(read_json(report).get("fingerprint") == run.fingerprint)


def _is_complete(path: Path) -> bool:
    """Whether a file of `torch.save` is complete: its directory comes last, with checksums."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.testzip() is None
    except (zipfile.BadZipFile, OSError):
        return False


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}); make it first") from error
