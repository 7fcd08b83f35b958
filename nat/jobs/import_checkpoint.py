"""A published checkpoint as the model of a system: `model.pt`, `training.json`, `training.csv`."""

from pathlib import Path

from nat.artifacts import Model
from nat.checksums import sha256_of
from nat.configuration import fingerprint
from nat.data.subwords import read_dictionary
from nat.data.vocabulary import Vocabularies
from nat.errors import UserError
from nat.fairseq_plugin.published import converted, read_checkpoint
from nat.files import atomic_write_text, write_json
from nat.job import Job
from nat.measures.training_curve import with_measures
from nat.training.model_file import save_model
from nat.training.record import Record
from nat.training.run import CURVE, REPORT


def import_checkpoint(job: Job[Model]) -> None:
    """Write the model of a system from the checkpoint that its key `imported` names.

    Raises:
        UserError: if a file is missing, is not what the configuration says, or does not fit the
            system or the corpus; nothing is written.
    """
    training, inputs = job.configuration.training(job.artifact.system), job.inputs
    assert training.imported is not None
    checkpoint_file, dictionary_file = Path(inputs.checkpoint.path), Path(inputs.dictionary.path)
    checkpoint = read_checkpoint(checkpoint_file)
    checksum = sha256_of(checkpoint_file)
    if training.imported.sha256 not in (None, checksum):
        raise UserError(
            f"{checkpoint_file} has the checksum {checksum}, but {inputs.checkpoint.named_by} "
            f"expects {training.imported.sha256}; download it again or correct 'sha256'"
        )
    in_pieces = job.corpus.in_pieces
    dictionary = read_dictionary(dictionary_file, in_pieces)
    vocabularies = Vocabularies.load(Path(inputs.corpus.path))
    vocabulary = vocabularies.target
    weights = converted(checkpoint, dictionary, vocabulary, training)
    output = job.path
    save_model(output, weights, training, vocabularies.sizes, checkpoint.updates)
    curve = Record().csv()
    atomic_write_text(output.parent / CURVE, curve)
    files = {"checkpoint": checkpoint_file, "dictionary": dictionary_file}
    found = {name: {"path": str(path), "sha256": sha256_of(path)} for name, path in files.items()}
    report = {
        "fingerprint": fingerprint(
            [training.as_json(), *(each["sha256"] for each in found.values())]
        ),
        "seed": job.artifact.seed,
        "parameters": sum(value.numel() for value in weights.values()),
        "updates": checkpoint.updates,
        "imported": {
            **found,
            "architecture": str(checkpoint.options.get("arch")),
            "symbols_left_out": len(dictionary) - len(vocabulary),
        },
        "training": training.as_json(),
    }
    write_json(output.parent / REPORT, with_measures(report, curve.splitlines()))
