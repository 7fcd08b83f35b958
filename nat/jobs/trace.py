"""Passes of a decoding on the first sentences of a split, for the sentence browser.

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
from typing import Any

from nat.analyses.analysis import Pairs
from nat.artifacts import Trace
from nat.data.vocabulary import Vocabulary
from nat.decoding.corpus import translate
from nat.decoding.passes import Pass, words
from nat.files import atomic_write_text
from nat.job import Job
from nat.jobs.translate import Translator


def trace_decoding(job: Job[Trace]) -> None:
    """Decode the first sentences of a split again and write every pass."""
    trace, scale = job.artifact, job.configuration.scale
    translator = Translator(job, trace.split)
    model, vocabulary = translator.model, translator.vocabularies.target
    method: Any = translator.methods.of(job)
    ids = translator.ids[: scale.browser.sentences]
    shown = [translator.text[number] for number in ids]
    passes = Pairs(model, shown, (), scale.decoding_tokens).passes(method)
    text = ""
    for each in translate(model, method, shown, ids, scale.decoding_tokens):
        if each.id in passes:
            line = {
                "id": each.id,
                "tokens": vocabulary.decode(each.hypothesis.tokens),
                "positions": max((len(one.tokens) for one in passes[each.id]), default=0),
                "passes": [_as_json(one, vocabulary) for one in passes[each.id]],
            }
            text += json.dumps(line, ensure_ascii=False) + "\n"
    atomic_write_text(trace.path, text)


def _as_json(one: Pass, vocabulary: Vocabulary) -> dict[str, Any]:
    tokens, scores = words(one.tokens, vocabulary), one.log_probabilities
    return {
        "chosen": one.chosen,
        "masked": one.masked,
        "tokens": [tokens[place] for place in one.chosen],
        "probabilities": [round(math.exp(scores[place]), 3) for place in one.chosen],
    }
