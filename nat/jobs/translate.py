"""Translating a text: from the files of a run to the lines of a file of translations."""

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from nat import registry
from nat.artifacts import Inputs, Shard, step_of
from nat.checksums import remedy
from nat.data.binarised import BinarisedText
from nat.data.splits import sides
from nat.data.translations import shard_of, write_translations
from nat.data.vocabulary import Vocabularies, VocabularySizes
from nat.decoding.corpus import Method, records, translate
from nat.decoding.engines.ctranslate2 import PROJECTION, EncoderEngine, SearchEngine, runs_on_gpu
from nat.decoding.engines.onnx import OnnxEngine
from nat.decoding.known import Known
from nat.errors import UserError
from nat.files import read_json
from nat.job import Job, JobConfiguration
from nat.jobs.launch import threads
from nat.language_model.scorer import matching_language_model
from nat.program import Progress
from nat.training.model_file import check_weights, matching_model
from nat.transformer.model import Transformer


@dataclass
class Shared:
    """What several decodings of a job have in common.

    Attributes:
        opened: assistants, language models and models of other engines, by path and precision.
        known: what they have made, see `nat.decoding.known`.
    """

    opened: dict[tuple[str, ...], Any] = field(default_factory=dict)
    known: Known = field(default_factory=dict)

    def once(self, *key: str, make: Callable[[], Any]) -> Any:
        """What `make` has opened under a key."""
        if key not in self.opened:
            self.opened[key] = make()
        return self.opened[key]


class Translator:
    """The model of a job and a split that it translates, loaded once for any number of decodings.

    Attributes:
        text: of the split.
        sentences: number of its sentences.
        vocabularies: of the corpus.
        model: that translates.

    Raises:
        UserError: if something is missing or does not belong together.
    """

    def __init__(self, job: Job[Any], split: str) -> None:
        source, self._target = sides(job.corpus)
        self._tokeniser = job.corpus.preprocessing.tokeniser
        folder = Path(step_of(job.artifact.corpus, split, "binarised").path)
        self.text = BinarisedText(folder / f"{split}.{source}")
        self.sentences = len(self.text)
        self.vocabularies = Vocabularies.load(folder)
        self._configuration = job.configuration
        torch.set_num_threads(threads(self._configuration))
        self.model = matching_model(job.inputs.model, self._configuration, self.vocabularies.sizes)

    def method(
        self,
        decoding: str,
        inputs: Inputs,
        shared: Shared | None = None,
        chosen: Mapping[str, Any] | None = None,
    ) -> Method:
        """A decoding by its name; the arguments are those of `method_of`."""
        sizes, device = self.vocabularies.sizes, next(self.model.parameters()).device
        return method_of(self._configuration, decoding, inputs, sizes, device, shared, chosen)

    def translate(self, method: Method, ids: range, name: str) -> Iterator[dict[str, Any]]:
        """Lines of a file of translations, see `nat.data.translations`.

        Args:
            method: of decoding.
            ids: numbers of the sentences.
            name: of the job, for the lines of progress.
        """
        tokens = self._configuration.settings.decoding_tokens
        progress = Progress(name, len(ids), "sentences").update
        found = translate(self.model, method, self.text, ids, tokens, progress)
        return records(found, self.vocabularies.target, self._target, self._tokeniser)


def translate_shard(job: Job[Shard]) -> None:
    """Translate a shard of a split.

    Raises:
        UserError: if something is missing or does not belong together; nothing is written.
    """
    shard = job.artifact
    translator = Translator(job, shard.split)
    ids = shard_of(translator.sentences, shard.shard, shard.shards)
    part = f" {shard.shard}/{shard.shards}" if shard.shards > 1 else ""
    name = f"translate {shard.split}{part} of {shard.corpus} with {shard.system}, {shard.decoding}"
    method = translator.method(shard.decoding, job.inputs)
    write_translations(job.path, translator.translate(method, ids, name))


def method_of(
    configuration: JobConfiguration,
    decoding: str,
    inputs: Inputs,
    sizes: VocabularySizes,
    device: torch.device | str,
    shared: Shared | None = None,
    chosen: Mapping[str, Any] | None = None,
    *,
    alone: bool = False,
) -> Method:
    """A decoding method with the models that it uses, on a device.

    Args:
        configuration: of the job.
        decoding: name of the decoding.
        inputs: the models that it uses.
        sizes: of the vocabularies of the corpus.
        device: of the model.
        shared: what it has in common with other decodings of the job with the same model; what it
            makes is added. Without it nothing is used again, as a decoding that is timed needs it.
        chosen: values of options that are tuned; None for those that the validation set chose.
        alone: sentences come one at a time.

    Raises:
        UserError: if one of them is missing or does not belong to the rest.
    """
    described, common = configuration.decodings[decoding], shared or Shared()
    model = Path(inputs.model.path)
    if inputs.tuned is not None:
        chosen = chosen_options(Path(inputs.tuned.path), model)
    if inputs.converted is not None:
        check_weights(Path(inputs.converted.path), model)
    built = registry.build("decoding", described.method.with_options(chosen or {}))
    second, ngrams, converted = inputs.assistant, inputs.language_model, inputs.converted
    method: Any = consulting(
        built,
        sizes,
        device,
        second
        and common.once(second.path, make=lambda: matching_model(second, configuration, sizes)),
        ngrams and Path(ngrams.path),
        converted and Path(converted.path),
        alone=alone,
        shared=common,
    )
    traits = described.traits
    if shared is not None and (traits.starts_from_assistant or traits.starts_from_masks):
        return functools.partial(method, known=shared.known)
    return method


def chosen_options(path: Path, model: Path) -> dict[str, Any]:
    """What `nat.jobs.tune_decoding` has chosen: values by option, for `Method.with_options`.

    Raises:
        UserError: if the file is missing or damaged, or was made from other weights than those of
            the file `model`.
    """
    check_weights(path, model)
    chosen = read_json(path).get("chosen")
    if not isinstance(chosen, dict) or not chosen:
        raise UserError(f"{path}: key 'chosen': expected values by option; {remedy(path)}")
    return chosen


def consulting(
    built: Any,
    sizes: VocabularySizes,
    device: torch.device | str,
    assistant: Transformer | None = None,
    language_model: Path | None = None,
    converted: Path | None = None,
    *,
    alone: bool = False,
    shared: Shared | None = None,
) -> Method:
    """A decoding method with what it consults besides the model, on a device.

    With `alone`, sentences come one at a time, so that an engine's threads work on each together.

    Raises:
        UserError: if something is missing or does not belong to the rest.
    """
    once = (shared or Shared()).once
    consulted: dict[str, Any] = {}
    if assistant is not None:
        consulted["assistant"] = assistant.to(device)
    if language_model is not None:
        consulted["language_model"] = once(
            str(language_model), make=lambda: matching_language_model(language_model, sizes.target)
        )
    if converted is not None:
        precision, where = built.precision, torch.device(device)
        consulted["engine"] = once(
            str(converted),
            precision,
            make=lambda: matching_engine(converted, sizes, precision, where, alone=alone),
        )
    return functools.partial(built, **consulted) if consulted else built


def matching_engine(
    path: Path,
    sizes: VocabularySizes,
    precision: str,
    device: torch.device,
    *,
    alone: bool = False,
) -> SearchEngine | EncoderEngine | OnnxEngine:
    """Open a converted model, if it is of the same vocabularies; on a processor if it must be.

    ONNX Runtime always runs on a processor, CTranslate2 where it finds no GPU.

    Raises:
        UserError: if it is not.
    """
    engine: SearchEngine | EncoderEngine | OnnxEngine
    where = "cuda" if device.type == "cuda" and runs_on_gpu() else "cpu"
    if path.name == "onnx":
        engine = OnnxEngine(path, precision)
    elif (path / PROJECTION).exists():
        engine = EncoderEngine(path, precision, where)
    else:
        engine = SearchEngine(path, precision, where, alone=alone)
    found = VocabularySizes(
        len(engine.symbols), None if sizes.source is None else len(engine.source_symbols)
    )
    if found != sizes:
        raise UserError(f"{path} has {found} but the corpus has {sizes}; remove it and run again")
    return engine
