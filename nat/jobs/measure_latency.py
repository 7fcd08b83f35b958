"""Measuring latencies: from the files of a run to a JSON file."""

import importlib.metadata
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from nat.artifacts import TIMED, Decoded, Latency
from nat.data.batch import source_tensor
from nat.data.binarised import BinarisedText
from nat.data.subwords import merge
from nat.data.vocabulary import Vocabularies, VocabularySizes
from nat.decoding.engines import PROJECTION, engine_module
from nat.files import write_json
from nat.job import Job
from nat.jobs.translate import Methods
from nat.measures.latency import System, measure
from nat.measures.latency_setting import (
    ALL_CORES,
    NAMES,
    NO_CUBLAS,
    NO_GPU,
    ONLY_GPUS,
    ONLY_PROCESSORS,
    Setting,
    numbers,
    parse_setting,
)
from nat.measures.memory import peak_of
from nat.measures.results import missing
from nat.training.model_file import matching_model

PACKAGES = {None: "torch", "ctranslate2": "ctranslate2", "onnx": "onnxruntime"}
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
    GPU, or a system cannot run on the device, its numbers have the reason instead of a value. After
    the job of the latencies come those of the systems in their order.
    """
    job: Job[Latency] = jobs[0]
    latency, options = job.artifact, job.configuration.scale.latency
    assert options.threads is not None
    device, batch, threads = parse_setting(latency.setting)
    counts = [options.threads if threads is None else threads]
    if threads == ALL_CORES:
        counts = sorted({1, len(os.sched_getaffinity(0))})
    setting = Setting(device, batch, counts[-1], options.repeats, options.most_repeats)
    if device == "cuda" and not torch.cuda.is_available():
        without = {name: missing(NAMES, NO_GPU) for name in latency.names}
        write_json(job.path, {"measures": without, "split": TIMED, "setting": vars(setting)})
        return
    folder = Path(job.inputs.corpus.path)
    vocabularies = Vocabularies.load(folder)
    sentences = BinarisedText(folder / f"{TIMED}.{job.corpus.sides[0]}")
    timed = {
        name: _Timed(each, vocabularies.sizes, setting)
        for name, each in zip(latency.names, jobs[1:], strict=True)
    }
    memory = {
        name: peak_of(partial(each.translate_first, sentences), [each.package])
        for name, each in timed.items()
        if device == "cpu" and each.why_not is None
    }
    systems = {name: each.system(counts) for name, each in timed.items() if not each.why_not}
    limits = (each.model.longest_source for each in systems.values())
    limit = min(limits, default=max(sentences.lengths))
    ids = np.flatnonzero((sentences.lengths > 0) & (sentences.lengths <= limit)).tolist()
    left_out = len(sentences) - len(ids)
    if options.sentences is not None and len(ids) > options.sentences:
        drawn = np.random.default_rng(1).choice(ids, options.sentences, replace=False)
        ids = sorted(drawn.tolist())
    done, repeats = measure(systems, sentences, ids, setting)
    lines = (vocabularies.source.decode(sentences[number].tolist()) for number in ids)
    words = float(np.mean([len(merge(line).split()) for line in lines]))
    measured = {}
    for name, each in timed.items():
        sizes = {"model_size": each.model_bytes, "memory": memory.get(name)}
        measured[name] = numbers(each.why_not or repeats[name], len(sentences), words, sizes)
    counted = {
        **{key: getattr(latency, key) for key in ("corpus", "group", "seed")},
        "split": TIMED,
        "sentences_of_split": len(sentences),
        "left_out": left_out,
        "source_words_per_sentence": words,
    }
    write_json(job.path, {"measures": measured, **counted, **done})


class _Timed:
    """A decoding that is timed.

    Attributes:
        package: the Python package that runs its model.
        why_not: the reason why it cannot run on the device; None if it can.
    """

    def __init__(self, job: Job[Decoded], sizes: VocabularySizes, setting: Setting) -> None:
        self._job, self._sizes, self._setting = job, sizes, setting
        self._options = job.configuration.decodings[job.artifact.decoding].method.options
        self._converted = job.inputs.converted
        engine = self._converted and self._converted.engine
        self.package = PACKAGES[engine]
        self.why_not: str | None = None
        if setting.device == "cpu":
            self.why_not = ONLY_GPUS if self._options.get("precision") == "float16" else None
        elif engine == "onnx":
            self.why_not = ONLY_PROCESSORS
        elif engine == "ctranslate2":
            self.why_not = None if engine_module(engine).runs_on_gpu() else NO_CUBLAS

    @property
    def model_bytes(self) -> int:
        """Bytes of the files of the model that the engine opens."""
        if self._converted is None:
            return Path(self._job.inputs.model.path).stat().st_size
        precision = self._options["precision"].replace("float16", "float32")
        return sum(
            path.stat().st_size
            for files in WEIGHT_FILES[self._converted.engine]
            for path in Path(self._converted.path).glob(files.format(precision=precision))
        )

    def system(self, threads: Sequence[int]) -> System:
        """Load the model; the fastest of these numbers of threads is measured."""
        job, alone, mapped = self._job, self._setting.batch == 1, self._converted is not None
        model = matching_model(job.inputs.model, job.configuration, self._sizes, mapped=mapped)
        model.to(self._setting.device)
        precision = str(next(model.parameters()).dtype).removeprefix("torch.")
        return System(
            model,
            lambda: Methods(self._sizes, self._setting.device, alone=alone).of(job),
            engine=f"{self.package} {importlib.metadata.version(self.package)}",
            precision=self._options.get("precision", precision),
            threads=threads,
        )

    def translate_first(self, sentences: BinarisedText) -> None:
        """Load all and translate the first sentence that fits, in a process of its own."""
        os.environ["CUDA_VISIBLE_DEVICES"] = ""  # models are loaded to a GPU first, if there is one
        system = self.system([self._setting.threads])
        torch.set_num_threads(self._setting.threads)
        longest = system.model.longest_source
        number = next(n for n, length in enumerate(sentences.lengths) if 0 < length <= longest)
        system.opened()(system.model, source_tensor([sentences[number]]))
