"""Converting a model for another program: from the files of a run to a folder."""

from pathlib import Path

from nat.artifacts import Converted
from nat.data.vocabulary import Vocabularies
from nat.export.ctranslate2 import write_ctranslate2
from nat.export.onnx import write_onnx
from nat.job import Job
from nat.training.trained_model import matching_model
from nat.training.weights import checksum_of

WRITERS = {"ctranslate2": write_ctranslate2, "onnx": write_onnx}
"""What writes the model for each engine."""


def convert_model(job: Job[Converted]) -> None:
    """Convert a model for another engine.

    Raises:
        UserError: if a file is missing, files do not belong together, or the engine cannot run
            the model; nothing is written.
    """
    inputs = job.inputs
    vocabularies = Vocabularies.load(Path(inputs.corpus.path))
    model = matching_model(inputs.model, job.configuration, vocabularies.sizes)
    weights = checksum_of(Path(inputs.model.path))
    WRITERS[job.artifact.engine](model, vocabularies, job.path, weights)
