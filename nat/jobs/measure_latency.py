"""Measuring latencies: from the files of a run to a JSON file."""

import importlib.metadata
import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from nat.artifacts import TIMED, Decoded, Inputs, Latency
from nat.data.batch import source_tensor
from nat.data.binarised import BinarisedText
from nat.data.splits import sides
from nat.data.subwords import merge
from nat.data.vocabulary import Vocabularies, VocabularySizes
from nat.decoding.engines.ctranslate2 import PROJECTION, runs_on_gpu
from nat.files import write_json
from nat.job import Job, JobDecoding
from nat.jobs.translate import method_of
from nat.measures.latency import System, measure, without_device
from nat.measures.latency_numbers import with_measures
from nat.measures.latency_setting import (
    ALL_CORES,
    NO_CUBLAS,
    ONLY_GPUS,
    ONLY_PROCESSORS,
    Setting,
    parse_setting,
)
from nat.measures.memory import peak_of
from nat.training.model_file import matching_model

PACKAGES = {"ctranslate2": "ctranslate2", "onnx": "onnxruntime"}
"""The Python package of each engine."""

WEIGHT_FILES = {
    "ctranslate2": ("{precision}/model.bin", PROJECTION),
    "onnx": ("*.{precision}.onnx",),
}
"""The files that an engine opens at a precision, which is that of float32 for float16."""


def measure_latency(jobs: Sequence[Job[Any]]) -> None:
    """Measure the systems of a group in a setting, a device and a batch such as `cpu-1`.

    The sentences are drawn at random from the test set, always the same ones; those that are empty
    or do not fit the positions of one of the models are left out and counted. Where there is no
    GPU, the file has no times, and its key `state` says so. A system that cannot run on the device
    has a key `state` instead of times, which says why.

    Args:
        jobs: of the latencies, and of each system in their order.

    Raises:
        UserError: if a file is missing or files do not belong together; nothing is written.
    """
    job: Job[Latency] = jobs[0]
    latency, options = job.artifact, job.configuration.settings.latency
    assert options.threads is not None
    device, batch, threads = parse_setting(latency.setting)
    counts = [options.threads if threads is None else threads]
    if threads == ALL_CORES:
        counts = sorted({1, len(os.sched_getaffinity(0))})
    chosen = Setting(device, batch, counts[-1], options.repeats, options.most_repeats)
    missing = without_device(chosen)
    if missing is not None:
        found = with_measures({"split": TIMED, **missing}, latency.names)
        write_json(job.path, found)
        return
    source, _ = sides(job.corpus)
    folder = Path(job.inputs.corpus.path)
    vocabularies = Vocabularies.load(folder)
    sizes = vocabularies.sizes
    sentences = BinarisedText(folder / f"{TIMED}.{source}")
    timed: dict[str, Job[Decoded]] = dict(zip(latency.names, jobs[1:], strict=True))
    memory = {
        name: peak_of(
            partial(_first_sentence, each, sizes, sentences, chosen), [_package(each.inputs)]
        )
        for name, each in (timed if chosen.device == "cpu" else {}).items()
        if not _described(each).is_only_on_gpus
    }
    systems = {name: _ways(each, sizes, chosen, counts) for name, each in timed.items()}
    ids, left_out = _drawn(sentences, systems, options.sentences)
    measured = measure(systems, sentences, ids, chosen)
    for name, each in timed.items():
        found = measured["systems"][name]
        found["model_bytes"] = _size(each)
        found["memory_bytes"] = memory.get(name)
    words = [
        len(merge(vocabularies.source.decode(sentences[number].tolist())).split()) for number in ids
    ]
    counted = {
        "split": TIMED,
        "sentences_of_split": len(sentences),
        "left_out": left_out,
        "source_words_per_sentence": float(np.mean(words)),
    }
    write_json(job.path, with_measures(counted | measured))


def _drawn(
    sentences: BinarisedText, systems: Mapping[str, list[System] | str], most: int | None
) -> tuple[list[int], int]:
    """The numbers of the sentences that are timed, at most `most` of those that every system can
    translate, and how many are empty or too long for one of the systems."""
    limits = {
        way.model.longest_source
        for ways in systems.values()
        if not isinstance(ways, str)
        for way in ways
    }
    lengths = [len(sentences[number]) for number in range(len(sentences))]
    ids = [
        number
        for number, length in enumerate(lengths)
        if length > 0 and all(length <= longest for longest in limits)
    ]
    left_out = len(sentences) - len(ids)
    if most is not None and len(ids) > most:
        ids = sorted(np.random.default_rng(1).choice(ids, most, replace=False).tolist())
    return ids, left_out


def _first_sentence(
    timed: Job[Decoded], sizes: VocabularySizes, sentences: BinarisedText, setting: Setting
) -> None:
    """Load a system and translate the first sentence that it can, in a process of its own."""
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # models are loaded to a GPU first, if there is one
    ways = _ways(timed, sizes, setting, [setting.threads])
    assert not isinstance(ways, str)
    (system,) = ways
    torch.set_num_threads(system.threads)
    longest = system.model.longest_source
    number = next(n for n, length in enumerate(sentences.lengths) if 0 < length <= longest)
    system.opened()(system.model, source_tensor([sentences[number]]))


def _package(inputs: Inputs) -> str:
    """The Python package that runs the model of a decoding."""
    return "torch" if inputs.converted is None else PACKAGES[inputs.converted.engine]


def _described(timed: Job[Decoded]) -> JobDecoding:
    return timed.configuration.decodings[timed.artifact.decoding]


def _size(timed: Job[Decoded]) -> int:
    """Bytes of the files of the model that the engine opens."""
    inputs = timed.inputs
    if inputs.converted is None:
        return Path(inputs.model.path).stat().st_size
    options = _described(timed).method.options
    precision = options["precision"].replace("float16", "float32")
    return sum(
        path.stat().st_size
        for files in WEIGHT_FILES[inputs.converted.engine]
        for path in Path(inputs.converted.path).glob(files.format(precision=precision))
    )


def _ways(
    timed: Job[Decoded], sizes: VocabularySizes, setting: Setting, counts: Sequence[int]
) -> list[System] | str:
    """A system with each number of threads, or the reason why it cannot run on the device."""
    if setting.device == "cpu" and _described(timed).is_only_on_gpus:
        return ONLY_GPUS
    inputs, configuration = timed.inputs, timed.configuration
    options = _described(timed).method.options
    if inputs.converted is not None and setting.device == "cuda":
        if inputs.converted.engine == "onnx":
            return ONLY_PROCESSORS
        if not runs_on_gpu():
            return NO_CUBLAS
    mapped = inputs.converted is not None
    model = matching_model(inputs.model, configuration, sizes, mapped=mapped).to(setting.device)
    engine = _package(inputs)
    precision = str(next(model.parameters()).dtype).removeprefix("torch.")
    opened = partial(
        method_of,
        configuration,
        timed.artifact.decoding,
        inputs,
        sizes,
        setting.device,
        alone=setting.batch == 1,
    )
    return [
        System(
            model,
            opened,
            engine=f"{engine} {importlib.metadata.version(engine)}",
            precision=options.get("precision", precision),
            threads=threads,
        )
        for threads in counts
    ]
