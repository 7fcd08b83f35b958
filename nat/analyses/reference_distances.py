"""Distance of the text that a system learns from several references (MPLE, figure 6).

L_target (Huang et al. 2022) is a mean over all good translations. A distilled target may be none of
them and still be closer to them on average than one reference is to the others. Besides the mean
of the sentence BLEU against all references, that against the nearest and that against the farthest
one is measured.

The model of the system is not read: the text that it learns is raw, or a teacher's translation.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from nat.analyses import analysis
from nat.analyses.analysis import Found
from nat.analyses.requirements import with_references
from nat.artifacts import Analysis
from nat.data.lines import read_lines
from nat.data.references import read_references, references_path
from nat.data.translations import read_in_order
from nat.distillation.pairwise_bleu import sentence_bleu
from nat.job import Job
from nat.measures import bleu

MEASURED = ("reference_bleu_nearest", "reference_bleu_mean", "reference_bleu_farthest")


def analyse(job: Job[Analysis]) -> dict[str, Found]:
    """Measure the sentences that have references, of every split with any."""
    inputs, target = job.inputs, job.corpus.target
    splits = {}
    for number, split in enumerate(with_references(job.corpus, job.artifact.corpus)):
        learned = list(read_lines(Path(inputs.texts[number].path) / f"{split}.{target}"))
        path = references_path(Path(inputs.references[number].path), split, target)
        truth = read_references(path, len(learned))
        if inputs.translations:
            translations = Path(inputs.translations[number].path)
            rows = read_in_order(translations, sentences=len(learned))
            learned = [row["text"] for row in rows]
        scores = {
            sentence: distances(learned[sentence], *several, job.corpus.counted_as)
            for sentence, several in truth.items()
        }
        measures = {
            name: analysis.ratio({sentence: (row[place], 1) for sentence, row in scores.items()})
            for place, name in enumerate(MEASURED)
        }
        splits[split] = {"sentences": len(truth), "measures": measures}
    return splits


def distances(
    text: str, references: Sequence[str], weights: Sequence[float], tokeniser: str = bleu.WORDS
) -> tuple[float, float, float]:
    """Sentence BLEU against the nearest of the references, on average by weight, and the farthest.

    Detokenised text is compared by words of a tokeniser of sacreBLEU.
    """
    scores = sentence_bleu(bleu.split([text, *references], tokeniser))[1:, 0]
    return float(scores.max()), float(np.average(scores, weights=weights)), float(scores.min())
