"""Sentences of a known law for its analyses, and means over them with an interval."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nat.analyses.analysis import Found
from nat.artifacts import Analysis, CorpusStep, step_of
from nat.configuration.files import file_of
from nat.data.binarised import BinarisedText
from nat.data.invented.language import Language, language_of
from nat.data.invented.law import subword_law
from nat.data.invented.words import clause
from nat.data.subwords import merge, splitter_at, subwords_file
from nat.data.vocabulary import UNK, Vocabularies
from nat.errors import UserError
from nat.job import Job
from nat.measures import statistics

SPLIT = "test"  # whose sources are analysed
SENTENCES = 200  # at most: the first sources that differ from each other
MOST_TARGETS = 1 << 15  # of a source; those with more are left out
STEPS = (1, 2, 4, 8)  # of iterative decodings and schedules

Targets = Mapping[tuple[int, ...], float]
"""All targets of a source, as ids, and their probabilities."""


@dataclass
class Known:
    """Sources, ids without EOS, and the laws of their targets.

    Sources are left out that have too many targets, or an unknown subword.
    """

    sources: list[np.ndarray]
    laws: list[Targets]
    left_out: int

    def result(
        self, errors: Mapping[tuple[str, int | str], np.ndarray], **facts: Any
    ) -> dict[str, Found]:
        """Means over sources, with intervals as those of scores, as an analysis returns them.

        Names and steps have rows of learning and factorisation error, nats, and passes, [N, 3].
        """
        measures = {}
        for (name, steps), rows in errors.items():
            learning, factorisation = rows[:, :2].T / np.log(2)
            for part, each in {
                "kl": learning + factorisation,
                "learning": learning,
                "factorisation": factorisation,
                "passes": rows[:, 2],
            }.items():
                terms, lowest = np.stack((each, np.ones(len(each))), 1), float(part == "passes")
                number = statistics.number(terms, statistics.ratio, lowest=lowest)
                measures[f"{name}_{part}_{steps}"] = number
        counts = {"sentences": len(self.laws), "left_out": self.left_out}
        return {SPLIT: {**counts, **facts, "measures": measures}}


def sentences(job: Job[Analysis]) -> Known:
    """The sources that are analysed, and the laws of their targets in ids.

    Targets that differ only in subwords that the vocabulary does not have are one. Raises a
    `UserError` if none of the sources can be analysed.
    """
    folder = Path(job.inputs.subwords.path)
    corpus, description = job.artifact.corpus, job.corpus
    assert description.generator is not None
    language = language_of(description.generator)
    segment = splitter_at(subwords_file(folder, "target"))
    vocabularies = Vocabularies.load(Path(CorpusStep(corpus, "binarised").path))
    text = BinarisedText(f"{step_of(corpus, SPLIT, 'binarised').path}/{SPLIT}.{description.source}")
    different: dict[str, np.ndarray] = {}
    for number in range(len(text)):
        ids = text[number]
        different.setdefault(merge(vocabularies.source.decode(ids.tolist())), ids)
    known = Known([], [], left_out=0)
    for sentence, ids in different.items():
        if len(known.laws) == SENTENCES:
            break
        if UNK in ids or number_of_targets(language, sentence) > MOST_TARGETS:
            known.left_out += 1
            continue
        law: defaultdict[tuple[int, ...], float] = defaultdict(float)
        for subwords, p in subword_law(language, segment, sentence).items():
            law[tuple(vocabularies.target.encode(" ".join(subwords)))] += p
        known.sources.append(ids)
        known.laws.append(dict(law))
    if not known.laws:
        raise UserError(
            f"each source of {SPLIT} of '{corpus}' has more than {MOST_TARGETS} possible targets; "
            f"analyse a corpus with shorter sentences ({file_of('corpora', corpus)})"
        )
    return known


def number_of_targets(language: Language, source: str) -> int:
    """The number of targets of a source, at most: layouts, registers, and slips of its words."""
    words = clause(language, source).layout(front=False, dropped=False)
    registers = sum(p > 0 for p in language.register_probabilities)
    slips = sum(word.slip is not None for word in words) if language.slip_probability else 0
    return int(len(list(language.layouts())) * registers * 2**slips)
