"""Translating a text: from the files of a run to the lines of a file of translations."""

import inspect
from collections.abc import Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch

from nat import registry
from nat.artifacts import Model, Shard, step_of
from nat.data.binarised import BinarisedText
from nat.data.translations import shard_of, write_translations
from nat.data.vocabulary import Vocabularies, VocabularySizes
from nat.decoding.corpus import Decode, records, translate
from nat.decoding.engines import engine_module
from nat.decoding.known import Known
from nat.files import read_json
from nat.job import Job
from nat.jobs.launch import threads
from nat.language_model.ngram import LanguageModel
from nat.program import Progress
from nat.training.model_file import check_weights, matching_model
from nat.transformer.model import Transformer


class Methods:
    """Decodings with what they consult besides the model that translates, each opened once.

    `known` is what decodings with the same model have in common, see `nat.decoding.known`; without
    it, as where it is timed, a decoding does all work itself. If sentences come `alone`, one at a
    time, an engine's threads work on each together.
    """

    def __init__(
        self,
        sizes: VocabularySizes,
        device: torch.device | str,
        known: Known | None = None,
        *,
        alone: bool = False,
    ) -> None:
        self._sizes, self._device, self._known = sizes, torch.device(device), known
        self._assistants: dict[Model, Transformer] = {}
        self._language_model = cache(lambda path: LanguageModel.load(path, sizes.target))
        self._engine = cache(
            lambda path, *how: engine_module(path.name).ENGINE(path, *how, self._device, alone)
        )

    def of(self, job: Job[Any], chosen: Mapping[str, Any] | None = None) -> Decode:
        """Build the decoding of a job with all that it reads.

        `chosen` are values of options that are tuned; None for those of the validation set.
        """
        inputs, described = job.inputs, job.configuration.decodings[job.artifact.decoding]
        model, assistant = Path(inputs.model.path), inputs.assistant
        if inputs.tuned is not None:
            chosen = chosen_options(Path(inputs.tuned.path), model)
        if inputs.converted is not None:
            check_weights(Path(inputs.converted.path), model)
        if assistant is not None and assistant not in self._assistants:
            model_of_it = matching_model(assistant, job.configuration, self._sizes)
            self._assistants[assistant] = model_of_it.to(self._device)
        method: Any = self.bind(
            registry.build("decoding", described.method.with_options(chosen or {})),
            assistant and self._assistants[assistant],
            inputs.language_model and Path(inputs.language_model.path),
            inputs.converted and Path(inputs.converted.path),
        )
        if self._known is not None and "known" in inspect.signature(method).parameters:
            return partial(method, known=self._known)
        return method

    def bind(
        self,
        method: Any,
        assistant: Transformer | None = None,
        language_model: Path | None = None,
        converted: Path | None = None,
    ) -> Decode:
        """Give a decoding method what it consults; it must belong to the vocabularies."""
        consulted = {
            "assistant": assistant,
            "language_model": language_model and self._language_model(language_model),
            "engine": converted and self._engine(converted, method.precision),
        }
        consulted = {name: each for name, each in consulted.items() if each is not None}
        return partial(method, **consulted) if consulted else method


def chosen_options(path: Path, model: Path) -> dict[str, Any]:
    """Read what `nat.jobs.tune_decoding` has chosen for a model: values by option.

    Raises a `UserError` if the file is missing, or was made from other weights than the model's.
    """
    check_weights(path, model)
    return dict(read_json(path)["chosen"])


class Translator:
    """The model of a job and the text of a split, loaded once for any number of decodings.

    `ids` are the numbers of the sentences, `known` is as for `Methods`.
    """

    def __init__(self, job: Job[Any], split: str, known: Known | None = None) -> None:
        source, target = job.corpus.sides
        self.split = split
        self._target = job.corpus.preparation(target)
        self._batch_tokens = job.configuration.scale.decoding_tokens
        folder = Path(step_of(job.artifact.corpus, split, "binarised").path)
        self.text = BinarisedText(folder / f"{split}.{source}")
        self.ids = range(len(self.text))
        self.vocabularies = Vocabularies.load(folder)
        torch.set_num_threads(threads(job.configuration))
        sizes = self.vocabularies.sizes
        self.model = matching_model(job.inputs.model, job.configuration, sizes)
        device = next(self.model.parameters()).device
        self.methods = Methods(sizes, device, known)

    def translate(
        self,
        job: Job[Any],
        ids: range | None = None,
        part: str = "",
        chosen: Mapping[str, Any] | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Lines of a file of translations by the decoding of a job, see `nat.data.translations`.

        They are of all sentences unless `ids` are given, the `part` that messages name; `chosen` is
        as for `Methods.of`.
        """
        made, ids = job.artifact, self.ids if ids is None else ids
        name = f"translate {self.split}{part} of {made.corpus} with {made.system}, {made.decoding}"
        progress = Progress(name, len(ids), "sentences").update
        method = self.methods.of(job, chosen)
        translations = translate(self.model, method, self.text, ids, self._batch_tokens, progress)
        return records(translations, self.vocabularies.target, self._target)


def translate_shard(job: Job[Shard]) -> None:
    """Translate a shard of a split."""
    shard = job.artifact
    translator = Translator(job, shard.split)
    ids = shard_of(len(translator.ids), shard.shard, shard.shards)
    part = f" {shard.shard}/{shard.shards}" if shard.shards > 1 else ""
    write_translations(job.path, translator.translate(job, ids, part))
