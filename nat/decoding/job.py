"""Translating a shard of a text: from the files of a run to a file of translations."""

import functools
import os
from pathlib import Path
from typing import Any

import torch

from nat import methods
from nat.artifacts import InputsOfDecoding, Model, Shard
from nat.configuration import Configuration
from nat.data.binarised import BinarisedText
from nat.data.ngram import NgramModel
from nat.data.splits import sides, split_names
from nat.data.translations import shard_of, write_translations
from nat.data.vocabulary import Vocabulary
from nat.decoding.corpus import Method, records, translate
from nat.decoding.language_model import LanguageModel
from nat.errors import UserError
from nat.program import Progress
from nat.spelling import hint
from nat.training.model_file import load_model
from nat.transformer.model import Transformer

SHOWN = 5
"""Differences of configuration that a message lists."""


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
    """A decoding method with the models that it consults, on a device.

    Raises:
        UserError: if one of them is missing or does not belong to the rest.
    """
    consulted: dict[str, Any] = {}
    if inputs.partner is not None:
        other = matching_model(inputs.partner, configuration, vocabulary_size)
        consulted["partner"] = other.to(device)
    if inputs.language_model is not None:
        consulted["language_model"] = matching_language_model(
            Path(inputs.language_model.path), vocabulary_size, torch.device(device)
        )
    resolved = configuration.on(inputs.model.corpus)
    built = methods.build("decoding", resolved.decoding(decoding))
    return functools.partial(built, **consulted) if consulted else built


def matching_model(model: Model, configuration: Configuration, vocabulary_size: int) -> Transformer:
    """Load a model, if it is the one that the configuration asks for.

    Raises:
        UserError: if it was trained with another configuration or vocabulary.
    """
    path = Path(model.path)
    trained = load_model(path, "cuda" if torch.cuda.is_available() else "cpu")
    training = configuration.training(model.corpus, model.system)
    different = configuration.differences(trained.training, training)
    if different:
        more = f"; and {len(different) - SHOWN} more" if len(different) > SHOWN else ""
        raise UserError(
            f"{path} was trained with another configuration ({'; '.join(different[:SHOWN])}{more})"
            "; train it again, or put the configuration back"
        )
    symbols = trained.model.embedding.num_embeddings
    if symbols != vocabulary_size:
        raise UserError(
            f"{path} has {symbols} symbols but the vocabulary of {model.corpus} has "
            f"{vocabulary_size}; the corpus was made again since, so train the model again"
        )
    return trained.model


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
