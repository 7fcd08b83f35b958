"""What each pass of a decoding does to the first sentences of a split: for the sentence browser.

One JSON object per line and sentence that could be decoded:

    {"id": 0, "tokens": "sub@@ word", "positions": 2, "passes": [
        {"chosen": [0, 1], "masked": [0, 1], "tokens": ["sub@@", "a"], "probabilities": [0.9, 0.4]},
        {"chosen": [1], "masked": [1], "tokens": ["word"], "probabilities": [0.7]}]}

`tokens` of the sentence is the translation; `positions` is the number of tokens that the decoder
writes, with EOS, or frames, before empty tokens and repetitions are dropped. A pass says which
positions it chose, which ones held MASK before it, and the tokens and probabilities that it chose;
an empty token is "". A position that no pass has chosen yet holds MASK.
"""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from nat.analyses.decoding_steps import text_passes
from nat.artifacts import Trace
from nat.data.binarised import BinarisedText
from nat.data.splits import sides
from nat.data.vocabulary import Vocabularies, Vocabulary
from nat.decoding.corpus import translate
from nat.decoding.passes import Pass, words
from nat.files import atomic_write_text
from nat.job import Job
from nat.jobs.threads import threads
from nat.jobs.translate import method_of
from nat.training.trained_model import matching_model

DIGITS = 3
"""Decimal places of probabilities."""


def trace_decoding(job: Job[Trace]) -> None:
    """Decode the first sentences of a split again and write every pass.

    Raises:
        UserError: if something is missing or does not belong together; nothing is written.
    """
    trace, inputs, configuration = job.artifact, job.inputs, job.configuration
    folder = Path(inputs.corpus.path)
    source, _ = sides(job.corpus)
    text = BinarisedText(folder / f"{trace.split}.{source}")
    vocabularies = Vocabularies.load(folder)
    vocabulary = vocabularies.target
    torch.set_num_threads(threads(configuration))
    model = matching_model(inputs.model, configuration, vocabularies.sizes)
    device = next(model.parameters()).device
    method: Any = method_of(configuration, trace.decoding, inputs, vocabularies.sizes, device)
    shown = [text[number] for number in range(min(configuration.settings.traced, len(text)))]
    tokens = configuration.settings.decoding_tokens
    passes = text_passes(method, model, shown, tokens)
    translations = translate(model, method, shown, range(len(shown)), tokens)
    lines = [
        {
            "id": each.id,
            "tokens": vocabulary.decode(each.hypothesis.tokens),
            "positions": max((len(one.tokens) for one in passes[each.id]), default=0),
            "passes": [_described(one, vocabulary) for one in passes[each.id]],
        }
        for each in translations
        if each.id in passes
    ]
    atomic_write_text(
        trace.path, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    )


def _described(one: Pass, vocabulary: Vocabulary) -> dict[str, Any]:
    def of_chosen(values: Sequence[Any]) -> list[Any]:
        return [values[place] for place in one.chosen]

    return {
        "chosen": one.chosen,
        "masked": one.masked,
        "tokens": of_chosen(words(one.tokens, vocabulary)),
        "probabilities": [
            round(math.exp(score), DIGITS) for score in of_chosen(one.log_probabilities)
        ],
    }
