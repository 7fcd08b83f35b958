"""Jobs of a model that neither train it nor translate with it: analyses, published checkpoints."""

import importlib
from pathlib import Path

import torch

from nat.artifacts import Analysis, Model
from nat.checksums import sha256_of
from nat.configuration import fingerprint
from nat.data.subwords import read_dictionary
from nat.data.vocabulary import Vocabularies
from nat.errors import UserError
from nat.fairseq_plugin.published import converted, read_checkpoint
from nat.files import atomic_write_text, write_json
from nat.job import Job
from nat.jobs.launch import threads
from nat.measures import training_curve
from nat.training.model_file import save_model
from nat.training.record import Record
from nat.training.run import CURVE, REPORT


def analyse_model(job: Job[Analysis]) -> None:
    """Measure a model, or the toy of an objective, by an analysis of `nat/analyses`."""
    analysis = job.artifact
    torch.set_num_threads(threads(job.configuration))
    splits = importlib.import_module(f"nat.analyses.{analysis.analysis}").analyse(job)
    numbers = {name: split.pop("measures") for name, split in splits.items()}
    names = {name: each for name, each in vars(analysis).items() if name != "run"}
    write_json(job.path, {"measures": numbers, **names, "splits": splits})


def import_checkpoint(job: Job[Model]) -> None:
    """Write the model of a system from the published checkpoint that its key `imported` names.

    It has the files of a training: `model.pt`, `training.json` and an empty `training.csv`.
    """
    training, inputs, output = job.configuration.training(job.artifact.system), job.inputs, job.path
    assert training.imported is not None
    checkpoint = read_checkpoint(Path(inputs.checkpoint.path))
    paths = {"checkpoint": inputs.checkpoint.path, "dictionary": inputs.dictionary.path}
    files = {name: {"path": path, "sha256": sha256_of(path)} for name, path in paths.items()}
    checksums = [file["sha256"] for file in files.values()]
    if training.imported.sha256 not in (None, checksums[0]):
        raise UserError(
            f"{checkpoint.path} has the checksum {checksums[0]}, but the system "
            f"'{training.system}' expects {training.imported.sha256}; download it again or correct "
            "its key 'imported.sha256'"
        )
    dictionary = read_dictionary(Path(inputs.dictionary.path), job.corpus.in_pieces)
    vocabularies = Vocabularies.load(Path(inputs.corpus.path))
    weights = converted(checkpoint, dictionary, vocabularies.target, training)
    save_model(output, weights, training, vocabularies.sizes, checkpoint.updates)
    curve = Record().csv()
    atomic_write_text(output.with_name(CURVE), curve)
    report = {
        "fingerprint": fingerprint([training.as_json(), *checksums]),
        "seed": job.artifact.seed,
        "parameters": sum(value.numel() for value in weights.values()),
        "updates": checkpoint.updates,
        "imported": {
            **files,
            "architecture": str(checkpoint.options.get("arch")),
            "symbols_left_out": len(dictionary) - len(vocabularies.target),
        },
        "training": training.as_json(),
    }
    measured = training_curve.with_measures(report, curve.splitlines())
    write_json(output.with_name(REPORT), measured)
