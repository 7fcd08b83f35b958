"""Translating a text: from the files of a run to the lines of a file of translations."""

from collections.abc import Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch

from nat import registry
from nat.artifacts import Inputs, Model, Shard, step_of
from nat.data.binarised import BinarisedText
from nat.data.splits import sides
from nat.data.translations import shard_of, write_translations
from nat.data.vocabulary import Vocabularies, VocabularySizes
from nat.decoding.corpus import Decode, records, translate
from nat.decoding.engines import Engine, opened
from nat.decoding.known import Known
from nat.errors import UserError
from nat.files import read_json
from nat.job import Job, JobConfiguration
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
        configuration: JobConfiguration | None = None,
        known: Known | None = None,
        *,
        alone: bool = False,
    ) -> None:
        self._sizes, self._device = sizes, torch.device(device)
        self._configuration, self._known = configuration, known
        self._assistant = cache(self._load)
        self._language_model = cache(lambda path: LanguageModel.load(path, sizes.target))
        self._engine = cache(
            lambda path, precision: matching_engine(path, sizes, precision, self._device, alone)
        )

    def _load(self, model: Model) -> Transformer:
        assert self._configuration is not None
        return matching_model(model, self._configuration, self._sizes).to(self._device)

    def of(self, decoding: str, inputs: Inputs, chosen: Mapping[str, Any] | None = None) -> Decode:
        """Build a decoding of the configuration with the models of a job.

        `chosen` are values of options that are tuned; None for those of the validation set.
        """
        assert self._configuration is not None
        described, model = self._configuration.decodings[decoding], Path(inputs.model.path)
        if inputs.tuned is not None:
            chosen = chosen_options(Path(inputs.tuned.path), model)
        if inputs.converted is not None:
            check_weights(Path(inputs.converted.path), model)
        method: Any = self.bind(
            registry.build("decoding", described.method.with_options(chosen or {})),
            inputs.assistant and self._assistant(inputs.assistant),
            inputs.language_model and Path(inputs.language_model.path),
            inputs.converted and Path(inputs.converted.path),
        )
        traits = described.traits
        if self._known is not None and (traits.starts_from_assistant or traits.starts_from_masks):
            return partial(method, known=self._known)
        return method

    def bind(
        self,
        method: Any,
        assistant: Transformer | None = None,
        language_model: Path | None = None,
        converted: Path | None = None,
    ) -> Decode:
        """Give a decoding method what it consults.

        Raises:
            UserError: if something is missing or does not belong to the vocabularies.
        """
        consulted = {
            "assistant": assistant,
            "language_model": language_model and self._language_model(language_model),
            "engine": converted and self._engine(converted, method.precision),
        }
        consulted = {name: each for name, each in consulted.items() if each is not None}
        return partial(method, **consulted) if consulted else method


def matching_engine(
    path: Path, sizes: VocabularySizes, precision: str, device: torch.device, alone: bool = False
) -> Engine:
    """Open a converted model; a `UserError` if it is of other vocabularies."""
    engine = opened(path, precision, device, alone=alone)
    source = None if sizes.source is None else len(engine.source_symbols)
    its = VocabularySizes(len(engine.symbols), source)
    if its != sizes:
        raise UserError(f"{path} has {its} but the corpus has {sizes}; remove it and run again")
    return engine


def chosen_options(path: Path, model: Path) -> dict[str, Any]:
    """Read what `nat.jobs.tune_decoding` has chosen for a model: values by option.

    Raises:
        UserError: if the file is missing, or was made from other weights than those of `model`.
    """
    check_weights(path, model)
    return dict(read_json(path)["chosen"])


class Translator:
    """The model of a job and the text of a split, loaded once for any number of decodings.

    `ids` are the numbers of the sentences, `known` is as for `Methods`.
    """

    def __init__(self, job: Job[Any], split: str, known: Known | None = None) -> None:
        source, target = sides(job.corpus)
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
        self.methods = Methods(sizes, device, job.configuration, known)

    def translate(self, method: Decode, ids: range, name: str) -> Iterator[dict[str, Any]]:
        """Lines of a file of translations, see `nat.data.translations`; `name` is the job's."""
        progress = Progress(name, len(ids), "sentences").update
        translations = translate(self.model, method, self.text, ids, self._batch_tokens, progress)
        return records(translations, self.vocabularies.target, self._target)


def translate_shard(job: Job[Shard]) -> None:
    """Translate a shard of a split."""
    shard = job.artifact
    translator = Translator(job, shard.split)
    ids = shard_of(len(translator.ids), shard.shard, shard.shards)
    part = f" {shard.shard}/{shard.shards}" if shard.shards > 1 else ""
    name = f"translate {shard.split}{part} of {shard.corpus} with {shard.system}, {shard.decoding}"
    method = translator.methods.of(shard.decoding, job.inputs)
    write_translations(job.path, translator.translate(method, ids, name))
