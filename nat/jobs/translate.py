"""Translating a shard of a text: from the files of a run to a file of translations."""

import functools
import os
from pathlib import Path
from typing import Any

import torch

from nat import registry
from nat.artifacts import InputsOfDecoding, Shard
from nat.configuration import Configuration
from nat.data.binarised import BinarisedText
from nat.data.splits import sides, split_names
from nat.data.translations import shard_of, write_translations
from nat.data.vocabulary import Vocabulary
from nat.decoding.corpus import Method, records, translate
from nat.errors import UserError
from nat.language_model.ngram import NgramModel
from nat.language_model.scorer import LanguageModel
from nat.program import Progress
from nat.spelling import hint
from nat.training.trained_model import matching_model


def translate_shard(configuration: Configuration, shard: Shard) -> None:
    """Translate a shard of a split.

    Raises:
        UserError: if something is missing or does not belong together; nothing is written.
    """
    corpus, system, split = shard.corpus, shard.system, shard.split
    description = configuration.corpus(corpus)
    if split not in split_names(description):
        raise UserError(
            f"the corpus '{corpus}' has no split '{split}'; {hint(split, split_names(description))}"
        )
    inputs = shard.inputs(configuration)
    source, target = sides(description)
    folder = Path(inputs.corpus.path)
    sentences = BinarisedText(folder / f"{split}.{source}")
    ids = shard_of(len(sentences), shard.shard, shard.shards)
    vocabulary = Vocabulary.load(folder / "vocabulary.txt")
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", configuration.threads)))
    model = matching_model(inputs.model, configuration, len(vocabulary))
    device = next(model.parameters()).device
    method = method_of(configuration, shard.decoding, inputs, len(vocabulary), device)
    part = f" {shard.shard}/{shard.shards}" if shard.shards > 1 else ""
    progress = Progress(
        f"translate {split}{part} of {corpus} with {system}, {shard.decoding}",
        len(ids),
        "sentences",
    )
    translations = translate(
        model,
        method,
        sentences,
        ids,
        configuration.decoding_tokens,
        progress.update,
    )
    tokeniser = description["preprocessing"]["tokeniser"]
    write_translations(Path(shard.path), records(translations, vocabulary, target, tokeniser))


def method_of(
    configuration: Configuration,
    decoding: str,
    inputs: InputsOfDecoding,
    vocabulary_size: int,
    device: torch.device | str,
) -> Method:
    """A decoding method with the models that it uses, on a device.

    Raises:
        UserError: if one of them is missing or does not belong to the rest.
    """
    consulted: dict[str, Any] = {}
    if inputs.assistant is not None:
        other = matching_model(inputs.assistant, configuration, vocabulary_size)
        consulted["assistant"] = other.to(device)
    if inputs.language_model is not None:
        consulted["language_model"] = matching_language_model(
            Path(inputs.language_model.path), vocabulary_size, torch.device(device)
        )
    resolved = configuration.on(inputs.model.corpus)
    built = registry.build("decoding", resolved.decoding(decoding))
    return functools.partial(built, **consulted) if consulted else built


def matching_language_model(
    path: Path, vocabulary_size: int, device: torch.device
) -> LanguageModel:
    """Load a language model, if it is of the same vocabulary.

    Raises:
        UserError: if it is not.
    """
    ngrams = NgramModel.load(path)
    if ngrams.vocabulary_size != vocabulary_size:
        raise UserError(
            f"{path} has {ngrams.vocabulary_size} symbols but the vocabulary has {vocabulary_size}"
            "; remove the language model and estimate it again"
        )
    return LanguageModel(ngrams, device)
