"""Training a system from its inputs to `model.pt`, `training.json` and `training.csv`.

A recipe with the key `keep` also gives the folder `kept` with a model for each of its names: the
weights after that update, without averaging. Other systems may start from them.

Checkpoints are in a folder beside these files. They belong to one configuration and one set of
input data; those of another are discarded. They are removed when the model is finished. The folder
may be a link to one on another disk, which holds nothing else.
"""

import importlib.metadata
import platform
import shlex
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from nat.artifacts import Model, WithMonolingual
from nat.checksums import CHECKPOINTS, OF_FOLDER, sha256_of, verified
from nat.configuration import differences, fingerprint
from nat.data.archive import is_whole_zip
from nat.data.binarised import files_of
from nat.data.corpus_parts import prepared_as
from nat.data.splits import TRAIN
from nat.data.vocabulary import Vocabularies, vocabulary_files
from nat.errors import UserError, told_of
from nat.fairseq_plugin import launcher
from nat.fairseq_plugin.dataset import TrainingPairs
from nat.files import (
    are_intact,
    atomic_directory,
    atomic_write_text,
    link_all,
    make_folder,
    read_json,
    write_json,
)
from nat.job import Job, read_jobs
from nat.jobs.launch import leads, process_group, threads, wait_for_all, world_size
from nat.locks import alone
from nat.machine import processor_name
from nat.measures.training_curve import with_measures
from nat.program import Progress
from nat.training.learnable import Objectives
from nat.training.model_file import WEIGHTS, average, build_model, checksum_of, save_model
from nat.training.record import Record
from nat.training.run import (
    CURVE,
    ENDED,
    FINISHED,
    KEPT,
    REPORT,
    RUN_FILE,
    Run,
    accumulation,
    remove_own_files,
)
from nat.transformer.linear import has_bfloat16_products

PACKAGES = ("torch", "fairseq-fixed", "numpy", "sacrebleu", "pydantic")
SHOWN = 3  # most changes of the configuration that a message lists


def train_system(job: Job[Model]) -> None:
    """Train a system, or resume its training, until all of its outputs are written.

    Raises a `UserError` if an input is missing, it diverges, or a file cannot be written.
    """
    run, folder = describe(job), job.path.parent
    progress = Progress(f"train {run.name}", run.lengths.updates, "updates")
    files, ended = _outputs(run, folder), _outputs(run, folder / ENDED)
    for made in (files, ended):
        if not are_intact(made) or read_json(made[REPORT])["fingerprint"] != run.fingerprint:
            continue
        if leads():
            if made is ended:
                link_all(ended, files)
            if run.folder.exists():
                check_link(run)
                remove_checkpoints(run)
            progress.say(f"is finished already, see {job.path}")
        return
    torch.set_num_threads(threads(job.configuration))
    with ExitStack() as held:
        if leads():
            make_folder(folder)
            held.enter_context(alone(folder, f"training in {folder}", progress.say))
        held.enter_context(process_group())
        if leads():
            prepare_checkpoints(run, progress)
        wait_for_all()
        is_trained = (run.folder / FINISHED).exists()
        wait_for_all()  # the leader removes, in the end, what the others have just asked for
        if not is_trained:
            launcher.train(run)
        if leads():
            finish(run, job.path, progress)
            link_all(files, ended)
            remove_checkpoints(run)


def _outputs(run: Run, folder: Path) -> dict[str, Path]:
    """Files of a finished training by their names, the report last."""
    names = ["model.pt", CURVE, *(f"{KEPT}/{name}.pt" for name in run.keep), REPORT]
    return {name: folder / name for name in names}


def describe(job: Job[Model]) -> Run:
    """Describe a training by its inputs; raises a `UserError` if one is missing."""
    model, inputs, settings = job.artifact, job.inputs, job.configuration.settings
    training, seed = job.configuration.training(model.system), model.seed
    name, raw = f"{model.system} on {model.corpus}", inputs.corpus.path
    source, target = job.corpus.sides
    # monolingual sentences are in a text of their own, which has both sides
    extended = [text.path for text in inputs.texts if isinstance(text, WithMonolingual)]
    train = (
        f"{[*extended, raw][0]}/train.{source}",
        *(f"{text.path}/train.{target}" for text in inputs.texts),
    )
    valid = (f"{raw}/valid.{source}", f"{raw}/valid.{target}")
    start, teacher = (each and each.weights for each in (inputs.start, inputs.teacher))
    pairwise_bleu = inputs.comparison and inputs.comparison.path
    tuned = [] if inputs.gamma is None else [read_json(inputs.gamma.path)["gamma"]]
    read = [*dict.fromkeys(vocabulary_files(Path(raw)))]
    read += [file for text in (*train, *valid) for file in files_of(text)]
    read += filter(None, (pairwise_bleu, start, teacher))
    checksums = [sha256_of(verified(path)) for path in read]
    chooses = training.recipe.validation.metric == "bleu" and job.corpus.unit != "none"
    unit = [job.corpus.unit] if chooses else []
    made_from = fingerprint([training.as_json(), seed, checksums, *tuned, *unit])

    devices, on_gpu = world_size(), torch.cuda.is_available()
    bfloat16 = training.precision == "bf16"
    if training.precision == "auto":
        bfloat16 = has_bfloat16_products(torch.device("cuda" if on_gpu else "cpu"))
    recipe, most = training.recipe, job.configuration.systems[model.system].tokens_per_device
    batches, tokens = accumulation(recipe.batch_tokens, devices, most)
    # the order of sums on a CPU depends on the number of threads, and fairseq refuses the
    # checkpoint of another optimiser
    device = "FusedAdam" if on_gpu else threads(job.configuration)
    updates_per_epoch = None
    if recipe.counts_epochs:
        with torch.device("meta"):  # without its numbers
            shape = build_model(training, Vocabularies.load(Path(raw)).sizes)
        longest = (shape.longest_source, shape.longest_target)
        # their number does not depend on the order of pairs of equal lengths
        objectives = Objectives(training, shape)
        of_text = TrainingPairs(train, longest, tokens, name, objectives=objectives)
        updates_per_epoch = len(of_text.batches(tokens, seed=0)) / (batches * devices)
    with told_of(f"{name}: "):
        lengths = recipe.in_updates(updates_per_epoch)
    return Run(
        name=name,
        training=training,
        lengths=lengths,
        seed=seed,
        train=train,
        pairwise_bleu=pairwise_bleu,
        gamma=tuned[0] if tuned else training.text.regulariser.get("gamma"),
        valid=valid,
        init_from=start,
        teacher=teacher,
        checkpoints=str(job.path.with_name(CHECKPOINTS)),
        logger=settings.logger,
        unit=job.corpus.unit,
        corpus=prepared_as(job.corpus, TRAIN),
        bfloat16=bfloat16,
        devices=devices,
        accumulation=batches,
        tokens_per_batch=tokens,
        fingerprint=made_from,
        exact_fingerprint=fingerprint([made_from, bfloat16, devices, batches, tokens, device]),
    )


def fairseq_command(specification: Path) -> str:
    """Prepare the folder of checkpoints of a training for fairseq's own program.

    Returns its command. When it has ended, the job has only its outputs to write.
    """
    (job,) = read_jobs(specification)
    run = describe(job)
    with alone(job.path.parent, f"training in {job.path.parent}"):
        prepare_checkpoints(run, Progress(f"train {run.name}", run.lengths.updates, "updates"))
    return shlex.join(
        ["env", f"OMP_NUM_THREADS={threads(job.configuration)}", *launcher.command(run)]
    )


def check_link(run: Run) -> None:
    """Refuse a linked folder of checkpoints with files of others, since it will be emptied."""
    run_file = run.folder.resolve() / RUN_FILE  # what another training wrote is no damage there
    owner = read_json(run_file)["checkpoints"] if run_file.exists() else "something else"
    names = [path.name for path in run.folder.iterdir() if path.name != OF_FOLDER]
    if run.folder.is_symlink() and names and owner != run.checkpoints:
        raise UserError(
            f"{run.folder} would be emptied, but it holds {names[0]} of {owner}; make it a link to "
            "an empty folder, one for each training"
        )


def prepare_checkpoints(run: Run, progress: Progress) -> None:
    """Prepare the folder of checkpoints: training resumes from the newest one in it.

    Those of another configuration or of other data are removed, and a damaged checkpoint is, so
    that the training resumes from the one before. Raises errors as `check_link`.
    """
    folder = run.folder
    make_folder(folder)
    check_link(run)
    before = read_json(folder / RUN_FILE) if (folder / RUN_FILE).exists() else {}
    if before.get("exact_fingerprint") != run.exact_fingerprint:
        if before:
            changes = differences(before["training"], run.training.as_json())[:SHOWN]
            why = "; ".join(changes) or "other data, seed, device, batch or number of threads"
            progress.say(f"its old checkpoints do not fit ({why}): discarded")
        remove_own_files(folder)
    write_json(folder / RUN_FILE, run.as_written())
    for update, path in run.saved.items():
        if is_whole_zip(path):  # as torch.save writes
            return
        path.unlink()
        progress.say(f"its checkpoint of update {update:,} is damaged: discarded")
    # of an earlier training; a link may lead to those of others
    if not run.events.is_symlink():
        for path in run.events.rglob("events.out.tfevents.*"):
            path.unlink()


def remove_checkpoints(run: Run) -> None:
    """Remove the folder of checkpoints, but no link, and nothing that the training did not write.

    A link stays for the next training, so that its checkpoints are again where there is room.
    """
    remove_own_files(run.folder)
    if not run.folder.is_symlink():
        with suppress(OSError):  # a user has put a file there in the meantime
            run.folder.rmdir()


def finish(run: Run, output: Path, progress: Progress) -> None:
    """Write the outputs of a finished training, `training.json` last: then they are complete.

    Raises a `UserError` if no validation gave a finite number.
    """
    finished = read_json(run.folder / FINISHED)
    record = Record(**finished["record"])
    metric = run.recipe.validation.metric
    if record.best is None or not record.candidates:
        raise UserError(
            f"{run.name}: no validation gave a finite {metric}; use a lower 'learning_rate' or "
            f"more 'warmup_updates' in the recipe, remove {run.folder} and train again"
        )
    updates = sorted(update for update, _ in record.candidates)
    sizes = run.vocabularies.sizes
    weights = average([run.weights(update) for update, _ in record.candidates])
    save_model(output, weights, run.training, sizes, record.updates)
    if run.keep:
        with atomic_directory(output.parent / KEPT) as kept:
            for name, update in run.keep.items():
                kept_weights = average([run.weights(update)])
                save_model(kept / f"{name}.pt", kept_weights, run.training, sizes, update)
    curve, flags = record.csv(), record.flags(finished["pairs"]["train"])
    atomic_write_text(output.parent / CURVE, curve)
    on_gpu = torch.cuda.is_available()
    batches = record.updates * run.accumulation * run.devices
    report: dict[str, Any] = {
        "fingerprint": run.fingerprint,
        "seed": run.seed,
        WEIGHTS: checksum_of(output),
        "parameters": finished["parameters"],
        "updates": record.updates,
        "epochs": round(batches / finished["batches_per_epoch"], 3),
        "tokens": record.tokens,
        "pairs": finished["pairs"],
        "flags": flags,
        "lengths": asdict(run.lengths),
        "validation": {
            "metric": metric,
            "best": record.best,
            "best_update": record.best_update,
            "validations": record.validations,
        },
        **({} if run.gamma is None else {"gamma": run.gamma}),
        **({"balanced_weights": finished["balance"]} if finished["balance"] else {}),
        "averaged_updates": updates,
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
    write_json(output.parent / REPORT, with_measures(report, curve.splitlines()))
    for flag in flags:
        progress.say(f"warning: {flag}")
    progress.say(
        f"made {output} after {record.updates:,} updates, mean of {len(updates)} checkpoints; "
        f"best validation {metric.replace('bleu', 'BLEU')} {record.best:.2f} at update "
        f"{record.best_update:,}"
    )
