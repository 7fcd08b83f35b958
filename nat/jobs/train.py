"""Training a system from its inputs to `model.pt`, `training.json` and `training.csv`.

A recipe with the key `keep` also gives the folder `kept` with a model for each of its names: the
weights after that update, without averaging. Other systems may start from them.

Checkpoints are in a folder beside these files. They belong to one configuration and one set of
input data; those of another are discarded. They are removed when the model is finished. The folder
may be a link to one on another disk, which holds nothing else.
"""

import importlib.metadata
import importlib.util
import platform
import re
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

import torch

from nat.artifacts import Model
from nat.checksums import CHECKPOINTS, is_intact, is_record, sha256_of, verified
from nat.configuration import differences, fingerprint
from nat.configuration.lengths import counts_epochs, in_updates
from nat.data.archive import is_whole_zip
from nat.data.binarised import files_of
from nat.data.splits import TRAIN, prepared_as, sides
from nat.data.vocabulary import Vocabularies, vocabulary_files
from nat.errors import UserError
from nat.fairseq_plugin import launcher
from nat.fairseq_plugin.dataset import batches_per_epoch
from nat.files import (
    atomic_directory,
    atomic_write_text,
    link,
    make_folder,
    read_json,
    write_json,
)
from nat.job import Job
from nat.jobs.launch import leads, process_group, wait_for_all, world_size
from nat.jobs.threads import threads
from nat.jobs.tune_gamma import tuned_gamma
from nat.locks import alone
from nat.machine import processor_name
from nat.measures.training_curve import with_measures
from nat.program import Progress
from nat.training.averaging import average, kept_path, weights_path
from nat.training.model_file import build_model, save_model
from nat.training.record import Record
from nat.training.run import (
    CURVE,
    ENDED,
    FINISHED,
    KEPT,
    REPORT,
    RESTORE,
    RUN_FILE,
    Run,
    accumulation,
    is_written,
)
from nat.transformer.fairseq_models import COMPILED, NEEDS_COMPILED, has_compiled_parts
from nat.transformer.linear import has_bfloat16_products

PACKAGES = ("torch", "fairseq-fixed", "numpy", "sacrebleu", "pydantic")
WRITERS = ("tensorboard", "tensorboardX")
"""Packages one of which fairseq writes event files with."""
EVENTS = "tensorboard"
EVENT_FILES = tuple(f"{part}/events.out.tfevents.*" for part in ("train", "train_inner", "valid"))
"""What fairseq writes there."""
MOST_INFEASIBLE = 0.1
"""Tokens of targets without an alignment, for each position that carries loss, above which a
training is flagged."""
SHOWN = 3
"""Most changes of the configuration that a message lists."""

_CHECKPOINT = re.compile(r"checkpoint_\d+_(\d+)\.pt")


def train_system(job: Job[Model]) -> None:
    """Train a system, or resume its training, until `model.pt` is written.

    `training.json`, `training.csv` and, if the recipe keeps checkpoints, the folder `kept` appear
    beside it.

    Raises:
        UserError: if an input is missing, the training diverges or a file cannot be written.
    """
    system = job.artifact.system
    target = job.configuration.training(system).target
    if target.options.get("model") in COMPILED and not has_compiled_parts():
        raise UserError(
            f"config/systems: '{system}': {NEEDS_COMPILED}; install them (docs/methods.md) or "
            "leave the system out"
        )
    run, output = describe(job), job.path
    progress = Progress(f"train {run.name}", run.updates, "updates")
    ended = _ended(output)
    if _is_written(run, output) or _is_written(run, ended):
        if leads():
            if not _is_written(run, output):
                _link(run, ended, output)
            if Path(run.checkpoints).exists():
                check_checkpoints(run)
                remove_checkpoints(run)
            progress.say(f"is finished already, see {output}")
        return
    torch.set_num_threads(threads(job.configuration))
    lock: AbstractContextManager[None] = nullcontext()
    if leads():
        make_folder(output.parent)
        lock = alone(output.parent, f"training in {output.parent}", progress.say)
    with lock, process_group():
        if leads():
            prepare_checkpoints(run, progress)
            if run.events is not None and not (Path(run.checkpoints) / RESTORE).exists():
                _remove_events(Path(run.events))
        wait_for_all()
        is_trained = _is_trained(run)
        wait_for_all()  # the leader removes, in the end, what the others have just asked for
        if not is_trained:
            launcher.train(run)
        if leads():
            finish(run, output, progress)


def describe(job: Job[Model]) -> Run:
    """Find the inputs of a training.

    Raises:
        UserError: if one is missing.
    """
    model, inputs, settings = job.artifact, job.inputs, job.configuration.settings
    training, seed = job.configuration.training(model.system), model.seed
    source, target = sides(job.corpus)
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
        training.recipe.batch_tokens, devices, settings.tokens_per_device
    )
    texts = chain.from_iterable(map(files_of, (*train, *valid)))
    others = filter(None, (pairwise_bleu, start, teacher))
    read = (*dict.fromkeys(vocabulary_files(raw)), *texts, *others)
    checksums = [sha256_of(verified(path)) for path in read]
    tuned = [] if inputs.gamma is None else [gamma]
    made_from = fingerprint([training.as_json(), seed, checksums, *tuned])
    name = f"{model.system} on {model.corpus}"
    updates_per_epoch = None
    if counts_epochs(training.recipe):
        with torch.device("meta"):  # without its numbers
            shape = build_model(training, Vocabularies.load(raw).sizes)
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
        vocabularies=str(raw),
        init_from=start,
        teacher=teacher,
        checkpoints=str(Path(model.path).with_name(CHECKPOINTS)),
        events=_events(model) if settings.tensorboard else None,
        corpus=prepared_as(job.corpus, TRAIN),
        bfloat16=bfloat16,
        devices=devices,
        accumulation=batches,
        tokens_per_batch=tokens,
        fingerprint=made_from,
        exact_fingerprint=fingerprint(
            # the order of sums on a CPU depends on the number of threads
            [made_from, bfloat16, devices, batches, tokens]
            # and fairseq refuses the checkpoint of another optimiser
            + ([threads(job.configuration)] if device.type == "cpu" else ["FusedAdam"])
        ),
    )


def _events(model: Model) -> str:
    """The folder of event files."""
    if not any(map(importlib.util.find_spec, WRITERS)):
        raise UserError(
            f"config/config.yaml: key 'tensorboard': event files need the package {WRITERS[0]}, "
            f"which is not installed; run 'pip install {WRITERS[0]}' or set the key to false"
        )
    return str(Path(model.path).with_name(EVENTS))


def prepare_checkpoints(run: Run, progress: Progress) -> None:
    """Prepare the folder of checkpoints, with a link to the one to resume from.

    Those of another configuration or of other data are removed, and a damaged checkpoint is, so
    that the training resumes from the one before.

    Raises:
        UserError: as `check_checkpoints`, and if weights that are kept for averaging are damaged.
    """
    folder = Path(run.checkpoints)
    make_folder(folder)
    check_checkpoints(run)
    run_file = folder / RUN_FILE
    before = read_json(run_file) if run_file.exists() else {}
    if any(folder.iterdir()) and before.get("exact_fingerprint") != run.exact_fingerprint:
        changes = differences(before.get("training", {}), run.training.as_json())[:SHOWN]
        other = "; ".join(changes) or "other data, another seed, device, batch or number of threads"
        why = other if before else "some are missing"
        _remove_written(folder)
        progress.say(f"its old checkpoints do not fit ({why}): discarded")
    run.write(run_file)
    written = [path for path in folder.iterdir() if is_written(path)]
    hidden = [path for path in written if path.name.startswith(".") and not is_record(path)]
    temporary = [path for path in written if path.suffix == ".tmp"]
    for leftover in [*temporary, *hidden, folder / RESTORE]:
        leftover.unlink(missing_ok=True)
    for weights in folder.glob("*.pt"):
        verified(weights)
    found = {
        int(match[1]): path
        for path in folder.iterdir()
        if (match := _CHECKPOINT.fullmatch(path.name))
    }
    for update in sorted(found, reverse=True):
        if is_whole_zip(found[update]):  # as torch.save writes
            (folder / RESTORE).symlink_to(found[update].name)
            return
        found[update].unlink()
        progress.say(f"its checkpoint of update {update:,} is damaged: discarded")


def check_checkpoints(run: Run) -> None:
    """Refuse a folder of checkpoints that holds anything else, since it is emptied.

    Raises:
        UserError: if it holds what no training writes or, as a link that two trainings share can
            lead to, the checkpoints of another model.
    """
    folder = Path(run.checkpoints)
    found = sorted(folder.iterdir())
    # NFS keeps a file that is removed while somebody reads it, as `tail -f` does, under such a name
    foreign = [each for each in found if not (is_written(each) or each.name.startswith(".nfs"))]
    if foreign:
        raise UserError(
            f"{folder} would be emptied, but it holds {foreign[0].name}, which no training has "
            "written; move that elsewhere, or make the folder a link to an empty one"
        )
    if folder.is_symlink() and (folder / RUN_FILE).exists():
        other = read_json(folder / RUN_FILE)
        same = other.get("exact_fingerprint") == run.exact_fingerprint
        if not same and other.get("checkpoints") != run.checkpoints:
            raise UserError(
                f"{folder} would be emptied, but it holds {RUN_FILE} of {other.get('checkpoints')};"
                " make each of them a link to a folder of its own"
            )


def remove_checkpoints(run: Run) -> None:
    """Remove the folder of checkpoints, but no link, and nothing that the training did not write.

    A link stays for the next training, so that its checkpoints are again where there is room.
    """
    folder = Path(run.checkpoints)
    _remove_written(folder)
    if not folder.is_symlink():
        with suppress(OSError):  # a user has put a file there in the meantime
            folder.rmdir()


def _remove_written(folder: Path) -> None:
    """Empty a folder of checkpoints, so that one that is half empty belongs to no run."""
    (folder / RUN_FILE).unlink(missing_ok=True)
    for path in filter(is_written, [*folder.iterdir()]):
        path.unlink()


def _remove_events(folder: Path) -> None:
    """Remove the event files of an earlier training; several models may share a linked folder."""
    if not folder.is_symlink():
        for path in chain.from_iterable(map(folder.glob, EVENT_FILES)):
            path.unlink()


def finish(run: Run, output: Path, progress: Progress) -> None:
    """Write the outputs of a finished training, then remove its checkpoints.

    `training.json` is written last, because it marks the outputs as complete.
    """
    folder = Path(run.checkpoints)
    finished = read_json(folder / FINISHED)
    record = Record.from_state(finished["record"])
    if record.best is None or not record.candidates:
        raise UserError(
            f"{run.name}: no validation gave a finite {run.metric}; use a lower 'learning_rate' or "
            f"more 'warmup_updates' in the recipe, remove {folder} and train again"
        )
    updates = [update for update, _ in record.candidates]
    weights = average([weights_path(folder, update) for update in updates])
    sizes = Vocabularies.load(Path(run.vocabularies)).sizes
    save_model(output, weights, run.training, sizes, record.updates)
    if run.keep:
        with atomic_directory(output.parent / KEPT) as kept:
            for name, update in run.keep.items():
                weights = average([kept_path(folder, update)])
                save_model(kept / f"{name}.pt", weights, run.training, sizes, update)
    curve = record.csv()
    atomic_write_text(output.parent / CURVE, curve)
    report = with_measures(_report(run, record, finished), curve.splitlines())
    write_json(output.parent / REPORT, report)
    _link(run, output, _ended(output))
    remove_checkpoints(run)
    metric = {"bleu": "BLEU"}.get(run.metric, run.metric)
    for flag in flags(record, finished["pairs"]["train"]):
        progress.say(f"warning: {flag}")
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
        "flags": flags(record, finished["pairs"]["train"]),
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
        "corpus": run.corpus,
    }


def flags(record: Record, pairs: dict[str, Any]) -> list[str]:
    """What makes a finished training suspicious, each as the end of a sentence.

    Args:
        record: of the training.
        pairs: of the training text: the number `used`, and of those `left_out` by reason.
    """
    found = []
    if record.last_bleu == 0:
        found.append("the last validation of its training has BLEU 0")
    left_out = sum(pairs["left_out"].values())
    if left_out > pairs["used"]:
        found.append(
            f"its training left out {left_out:,} of {left_out + pairs['used']:,} pairs, see key "
            "'pairs' of training.json"
        )
    if record.last_infeasible > MOST_INFEASIBLE:
        found.append(
            "targets of its text that do not fit their canvas are not learned from, in validation "
            f"{record.last_infeasible:.2f} such tokens for each one that is learned from; see "
            "'upsample' of the system"
        )
    return found


def _is_trained(run: Run) -> bool:
    """Whether the folder of checkpoints contains the end of this run, without its outputs."""
    folder = Path(run.checkpoints)
    if not (folder / FINISHED).exists() or not (folder / RUN_FILE).exists():
        return False
    return bool(read_json(folder / RUN_FILE).get("exact_fingerprint") == run.exact_fingerprint)


def _ended(output: Path) -> Path:
    """The second name of a model."""
    return output.with_name(ENDED) / output.name


def _is_written(run: Run, output: Path) -> bool:
    report = output.with_name(REPORT)
    kept = [output.with_name(KEPT) / f"{name}.pt" for name in run.keep]
    written = (output, output.with_name(CURVE), report, *kept)
    if not all(path.exists() and is_intact(path) for path in written):
        return False
    return bool(read_json(report).get("fingerprint") == run.fingerprint)


def _link(run: Run, output: Path, to: Path) -> None:
    """Give what a training has made second names beside those of its model; the report is last."""
    to.with_name(REPORT).unlink(missing_ok=True)
    for name in (output.name, CURVE, *([KEPT] if run.keep else []), REPORT):
        link(output.with_name(name), to.with_name(name))
