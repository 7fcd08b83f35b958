"""Decoding of a text or of a shard of it; every sentence has a translation, in the same order."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from nat.data.batch import batches, source_tensor
from nat.data.binarised import BinarisedText
from nat.data.raw_text import Preparation
from nat.data.translations import EMPTY_SOURCE, NO_SCORE, OK, too_long
from nat.data.vocabulary import Vocabulary
from nat.decoding.hypothesis import NOTHING, Hypothesis
from nat.transformer.model import Transformer

Decode = Callable[[Transformer, Tensor], list[Hypothesis]]
"""A decoding method: source [B, S] to B hypotheses, in order."""


Sentences = Sequence[np.ndarray] | BinarisedText
"""Token sequences without EOS by sentence number."""


@dataclass(frozen=True)
class Translation:
    """The translation of the sentence of a number.

    If it could not be decoded, the status is the reason, in place of `ok`, and the hypothesis is
    empty.
    """

    id: int
    hypothesis: Hypothesis
    status: str = OK


def translate(
    model: Transformer,
    method: Decode,
    sentences: Sentences,
    ids: Sequence[int],
    batch_tokens: int,
    progress: Callable[[int], None] | None = None,
) -> list[Translation]:
    """Translate the sentences of these numbers, in batches of similar length; one result for each.

    The model is in evaluation mode. A batch has at most `batch_tokens` source tokens with EOS and
    padding (a longer sentence is a batch of its own). `progress` is called with the number of
    finished sentences.
    """
    device = next(model.parameters()).device
    made: dict[int, Translation] = {}
    lengths: dict[int, int] = {}
    for number in ids:
        length = len(sentences[number])
        if length == 0:
            made[number] = Translation(number, NOTHING, EMPTY_SOURCE)
        elif length > model.longest_source:
            made[number] = Translation(number, NOTHING, too_long(model.longest_source + 1))
        else:
            lengths[number] = length
    for batch in batches(lengths, batch_tokens):
        source = source_tensor([sentences[number] for number in batch]).to(device)
        for number, hypothesis in zip(batch, method(model, source), strict=True):
            if math.isfinite(hypothesis.score):
                made[number] = Translation(number, hypothesis)
            else:
                made[number] = Translation(number, NOTHING, NO_SCORE)
        if progress is not None:
            progress(len(made))
    return [made[number] for number in ids]


def records(
    translations: Iterable[Translation],
    vocabulary: Vocabulary,
    how: Preparation,
) -> Iterator[dict[str, Any]]:
    """Lines of a file of translations, see `nat.data.translations`, whose text is detokenised.

    The vocabulary and the preparation are those of the target.
    """
    for translation in translations:
        tokens = vocabulary.decode(translation.hypothesis.tokens)
        yield {
            "id": translation.id,
            "tokens": tokens,
            "text": how.text(tokens),
            "score": float(translation.hypothesis.score),
            "steps": translation.hypothesis.steps,
            "status": translation.status,
        }
