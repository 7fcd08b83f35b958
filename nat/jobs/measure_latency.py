"""Measuring a latency: from the files of a run to a JSON file."""

from pathlib import Path

import numpy as np

from nat.artifacts import TIMED, Latency
from nat.configuration import Configuration
from nat.data.binarised import BinarisedText
from nat.data.splits import sides
from nat.data.vocabulary import Vocabulary
from nat.files import write_json
from nat.jobs.translate import method_of
from nat.measures.latency import measure, without_device
from nat.measures.latency_setting import Setting, parse_setting
from nat.training.trained_model import matching_model


def measure_latency(configuration: Configuration, latency: Latency) -> None:
    """Measure a setting, a device and a batch such as `cpu-1` or `cuda-largest`.

    The sentences are drawn evenly from the test set, always the same ones; those that are empty or
    do not fit the model's positions are left out and counted. Where there is no GPU, or its memory
    is too small for the batch, the file says so in its key `state` and holds no times.

    Raises:
        UserError: if a file is missing or files do not belong together; nothing is written.
    """
    options = configuration.latency
    assert options.threads is not None
    chosen = Setting(*parse_setting(latency.setting), options.threads, options.repeats)
    missing = without_device(chosen)
    if missing is not None:
        write_json(Path(latency.path), {"split": TIMED, **missing})
        return
    source, _ = sides(configuration.corpus(latency.corpus))
    inputs = latency.inputs(configuration)
    folder = Path(inputs.corpus.path)
    vocabulary = Vocabulary.load(folder / "vocabulary.txt")
    model = matching_model(inputs.model, configuration, len(vocabulary)).to(chosen.device)
    method = method_of(configuration, latency.decoding, inputs, len(vocabulary), chosen.device)
    sentences = BinarisedText(folder / f"{TIMED}.{source}")
    ids = [
        number
        for number in range(len(sentences))
        if 0 < len(sentences[number]) <= model.longest_source
    ]
    left_out = len(sentences) - len(ids)
    if options.sentences is not None and len(ids) > options.sentences:
        drawn = np.random.default_rng(1).choice(ids, options.sentences, replace=False)
        ids = sorted(drawn.tolist())
    measured = measure(model, method, sentences, ids, chosen)
    counted = {"split": TIMED, "sentences_of_split": len(sentences), "left_out": left_out}
    write_json(Path(latency.path), counted | measured)
